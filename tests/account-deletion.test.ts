/** A deleted account leaves no trace in any table or in Redis (rules, 8.14), wherever the process dies in between. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { beginAccountDeletion } from '@relay/database';
import {
  Authenticator,
  Browser,
  type TestRelay,
  callWith,
  connectDaemon,
  dumpTestBus,
  password,
  quickSweeps,
  refresh,
  setUpSecondFactor,
  signedInCli,
  signedInWeb,
  startRelay,
} from '@relay/testing';
import { until } from './cluster/until.ts';
import { dumpDatabase, found, personWith } from './erasure-scene.ts';

const confirm = 'delete my account';

describe('DELETE /api/me', () => {
  let relay: TestRelay;
  const told: string[] = [];
  const everything = async () => (await dumpDatabase(relay)) + (await dumpTestBus());

  beforeAll(async () => {
    relay = await startRelay({ identity: true, announce: (line) => told.push(line), config: quickSweeps });
  });
  afterAll(() => relay.stop());

  it('S4: leaves nothing of an account of this relay in any table or in Redis, and keeps all data of other people', async () => {
    const browser = new Browser(relay);
    const id = await browser.signUp('mailibex@example.com');
    await browser.send('POST', '/auth/update-user', { body: { name: 'nameibex' } });
    await setUpSecondFactor(browser);
    expect((await new Authenticator().register(browser, 'passkeyibex')).status).toBe(200);
    // A sign-in with the correct password waits for the second step.
    expect((await new Browser(relay).signIn('mailibex@example.com')).status).toBe(200);
    const cli = await signedInCli(browser);
    expect((await browser.send('POST', '/auth/relay/invitations', { body: {} })).status).toBe(201);
    const ibex = await personWith(relay, 'ibex', (await signedInWeb(browser)).access_token);
    const stranger = await personWith(relay, 'gnu', relay.token('gnu'));
    const waiting = await ibex.relay.call('requestCode', { body: { hostname: 'waitingibex', agent_type: 'scripted' } });
    expect(waiting.status).toBe(200);
    const words = [...ibex.words, 'mailibex', 'nameibex', 'passkeyibex', 'waitingibex', id];
    const before = await everything();
    // Proves that the test can fail: all markers were stored, except a few that later values replaced.
    expect(found(before, words).length).toBeGreaterThanOrEqual(words.length - 3);
    const keptBefore = found(before, stranger.words);

    const answer = await ibex.relay.call('deleteMe', { body: { confirm } });
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(await ibex.app.closed).toMatchObject({ code: 4401 });
    expect(await ibex.daemon.closed).toMatchObject({ code: 4404 });
    const after = await everything();
    expect(found(after, words.slice(0, -1))).toEqual([]);
    // The id stays for an hour, because the relay needs it to refuse tokens that have not expired yet.
    const withId = (await dumpDatabase(relay)).split('\n').filter((line) => line.includes(id));
    expect(withId.filter((line) => !/^(revocations|account_deletions) /.test(line))).toEqual([]);
    expect(found(after, stranger.words)).toEqual(keptBefore);

    for (const token of [ibex.token, cli.access_token])
      expect((await callWith(relay, token)).body).toMatchObject({ code: 'TOKEN_REVOKED' });
    expect((await refresh(relay, cli.refresh_token!)).status).toBe(400);
    expect((await browser.signIn('mailibex@example.com')).status).toBe(401);
    await expect(connectDaemon(relay, { registration: ibex.daemon.registration })).rejects.toMatchObject({
      body: { code: 'TOKEN_REVOKED' },
    });
    expect((await stranger.relay.call('listSessions')).body.sessions).toHaveLength(1);
    expect(stranger.daemon.socket.readyState).toBe(stranger.daemon.socket.OPEN);
    await stranger.relay.call('deleteMe', { body: { confirm } });
  });

  it('S4: leaves nothing of a person of another sign-in service', async () => {
    const kudu = await personWith(relay, 'kudu', relay.token('kudu', { email: 'mailkudu@example.com' }));
    expect(found(await everything(), kudu.words).length).toBeGreaterThan(9);
    expect((await kudu.relay.call('deleteMe', { body: { confirm } })).status).toBe(204);
    await kudu.daemon.closed;
    expect(found(await everything(), [...kudu.words, 'mailkudu'])).toEqual([]);
    expect((await kudu.relay.call('me')).body).toMatchObject({ code: 'TOKEN_REVOKED' });
    await relay.database.models.accountDeletion.findUniqueOrThrow({ where: { userId: kudu.userId } });
    await backdate();
    await swept();
    expect(await relay.database.models.device.count({ where: { ownerId: kudu.userId } })).toBe(0);
  });

  const backdate = () =>
    relay.database.models.accountDeletion.updateMany({ data: { requestedAt: new Date(Date.now() - 120_000) } });
  /** Waits until the sweep has completed every deletion. */
  const swept = () =>
    until('no deletion is left', async () => (await relay.database.models.accountDeletion.count()) === 0, 30_000);

  it('S4: the sweep completes a deletion whose process died after the first step', async () => {
    const browser = new Browser(relay);
    const id = await browser.signUp('mailoryx@example.com');
    const oryx = await personWith(relay, 'oryx', (await signedInWeb(browser)).access_token);
    await beginAccountDeletion(relay.database, id);
    expect(found(await everything(), oryx.words).length).toBeGreaterThan(9);
    expect(found(await everything(), ['mailoryx'])).toEqual([]);
    await backdate();
    expect(await oryx.daemon.closed).toMatchObject({ code: 4404 });
    expect(await oryx.app.closed).toMatchObject({ code: 4401 });
    await swept();
    expect(found(await everything(), oryx.words)).toEqual([]);
    expect(found(await dumpDatabase(relay), [id]).length).toBeLessThanOrEqual(1);
  });

  it('S4: needs a confirmation, both scopes and a recent sign-in', async () => {
    const call = (token: string, body: object = { confirm }) =>
      relay.call('DELETE', '/api/me', { user: null, body, headers: { Authorization: `Bearer ${token}` } });
    expect((await call(relay.token('eland'), { confirm: 'yes' })).body).toMatchObject({ code: 'INVALID_REQUEST' });
    expect((await call(relay.token('eland'), {})).body).toMatchObject({ code: 'INVALID_REQUEST' });
    for (const scope of ['sessions:write', 'devices:write'])
      expect((await call(relay.token('eland', { scopes: [scope] }))).body).toMatchObject({
        code: 'INSUFFICIENT_SCOPE',
      });
    const old = { status: 403, body: { code: 'SIGN_IN_NOT_RECENT' } };
    expect(await call(relay.token('eland', { issuedSecondsAgo: 901 }))).toMatchObject(old);
    const refused = await call(relay.token('eland', { signedInSecondsAgo: 901 }));
    expect(refused).toMatchObject(old);
    expect(refused.headers['www-authenticate']).toContain('insufficient_user_authentication');
    expect((await call(relay.token('eland', { issuedSecondsAgo: 2000, signedInSecondsAgo: 800 }))).status).toBe(204);

    const browser = new Browser(relay);
    const userId = await browser.signUp('eland@example.com');
    const { access_token: token } = await signedInWeb(browser);
    await relay.database.models.login.updateMany({
      where: { userId },
      data: { createdAt: new Date(Date.now() - 901_000) },
    });
    expect(await call(token)).toMatchObject(old);
    expect((await browser.send('POST', '/auth/relay/confirm', { body: { password: 'something else' } })).status).toBe(
      400,
    );
    expect(await call(token)).toMatchObject(old);
    expect((await browser.send('POST', '/auth/relay/confirm', { body: { password } })).status).toBe(200);
    expect((await call(token)).status).toBe(204);
  });

  it('S4: deleting the last account prints a link to create the first one again', async () => {
    const lone = await startRelay({ identity: true, announce: (line) => told.push(line) });
    try {
      const browser = new Browser(lone);
      await browser.signUp('first@example.com');
      const { access_token: token } = await signedInWeb(browser);
      const headers = { Authorization: `Bearer ${token}` };
      expect((await lone.call('deleteMe', { user: null, headers, body: { confirm } })).status).toBe(204);
      const invitation = /setup#token=([\w-]+)/.exec(told.at(-1)!)![1]!;
      const next = new Browser(lone);
      expect((await next.send('GET', '/auth/relay/status')).body).toMatchObject({ hasAccounts: false });
      const body = { email: 'first@example.com', password, name: 'First', invitation };
      expect((await next.send('POST', '/auth/sign-up/email', { body })).status).toBe(200);
    } finally {
      await lone.stop();
    }
  });
});
