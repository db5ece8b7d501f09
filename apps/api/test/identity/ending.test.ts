import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { recordRevocations } from '@relay/database';
import type { AddSubscription } from '@relay/protocol';
import {
  type TestRelay,
  connectApp,
  openPushKeys,
  openTestDatabase,
  startRelay,
  Browser,
  callWith,
  password,
  pkce,
  redeem,
  refresh,
  signedInCli,
  signedInWeb,
} from '@relay/testing';
import { createAnswerTokens } from '../../src/push/answer-tokens.ts';
import { createSeal } from '../../src/push/sealed.ts';

describe('revoking a sign-in', () => {
  let relay: TestRelay;
  let people = 0;

  beforeAll(async () => {
    relay = await startRelay({ identity: true, apis: 2 });
  });
  afterAll(() => relay.stop());

  async function person(): Promise<Browser> {
    const browser = new Browser(relay);
    people += 1;
    await browser.signUp(`person${people}@example.com`);
    return browser;
  }
  const codeOf = async (accessToken: string, api = 0) =>
    (await callWith(relay, accessToken, '/api/me', api)).body.code as string | undefined;

  it('by signing out revokes its tokens and refresh tokens, and closes its sockets on every instance', async () => {
    const browser = await person();
    const [web, cli] = [await signedInWeb(browser), await signedInCli(browser)];
    const apps = await Promise.all([
      connectApp(relay, { token: web.access_token, api: 0 }),
      connectApp(relay, { token: cli.access_token, api: 1 }),
    ]);
    expect((await browser.send('POST', '/auth/sign-out', { body: {} })).status).toBe(200);
    for (const app of apps) expect(await app.closed).toMatchObject({ code: 4401 });
    for (const api of [0, 1]) expect(await codeOf(web.access_token, api)).toBe('TOKEN_REVOKED');
    expect((await refresh(relay, cli.refresh_token!)).body.error).toBe('invalid_grant');
    expect((await browser.send('GET', '/auth/relay/me')).status).toBe(401);
  });

  it("of one browser from another revokes that browser's tokens only; a stranger cannot revoke it", async () => {
    const browser = await person();
    const stranger = await person();
    const other = new Browser(relay);
    await other.signIn(`person${people - 1}@example.com`);
    const cli = await signedInCli(other);
    const app = await connectApp(relay, { token: cli.access_token, api: 1 });
    const { access_token: kept } = await signedInWeb(browser);
    interface Listed {
      id: string;
      isThis: boolean;
      lastUsedAt: string;
    }
    const list = async (from: Browser) =>
      (await from.send('GET', '/auth/relay/browsers')).body.browsers as unknown as Listed[];
    const end = (from: Browser, id: string) => from.send('POST', '/auth/relay/browsers/end', { body: { id } });
    const listed = await list(browser);
    expect(listed).toHaveLength(2);
    expect(listed.filter(({ isThis }) => isThis)).toHaveLength(1);
    const { id } = listed.find(({ isThis }) => !isThis)!;
    expect((await end(stranger, id)).status).toBe(404);
    expect((await other.send('GET', '/auth/relay/me')).status).toBe(200);

    expect((await end(browser, id)).status).toBe(200);
    expect(await app.closed).toMatchObject({ code: 4401 });
    expect((await other.send('GET', '/auth/relay/me')).status).toBe(401);
    expect((await refresh(relay, cli.refresh_token!)).body.error).toBe('invalid_grant');
    expect(await codeOf(kept)).toBeUndefined();
    expect(await list(browser)).toMatchObject([{ isThis: true, lastUsedAt: expect.stringMatching(/^\d{4}-/) }]);
    expect((await end(browser, id)).status).toBe(404);
  });

  it.each(['a page', 'a renewal of the pages'])(
    "uses a list with each browser's last use, by %s, saved from time to time",
    async (how) => {
      const browser = await person();
      const { id } = (await browser.send('GET', '/auth/relay/me')).body.login as { id: string };
      const readUse = async () =>
        (await relay.database.models.login.findUniqueOrThrow({ where: { id } })).updatedAt.getTime();
      const use = async () => {
        if (how === 'a page') expect((await browser.send('GET', '/auth/relay/me')).status).toBe(200);
        else await browser.code('relay-web', pkce().challenge, { prompt: 'none' });
      };
      const signedIn = await readUse();
      await use();
      expect(await readUse()).toBe(signedIn);
      const back = (at: Date) => new Date(at.getTime() - 10 * 60_000);
      const { updatedAt, expiresAt } = await relay.database.models.login.findUniqueOrThrow({ where: { id } });
      await relay.database.models.login.update({
        where: { id },
        data: { updatedAt: back(updatedAt), expiresAt: back(expiresAt) },
      });
      await use();
      expect(await readUse()).toBeGreaterThan(back(updatedAt).getTime());
      const used = await readUse();
      await use();
      expect(await readUse()).toBe(used);
    },
  );

  it('reaches an instance that missed it, within the time between two checks', async () => {
    const deaf = await startRelay({ identity: true, config: { credentialRecheckMs: 200 } });
    try {
      const browser = new Browser(deaf);
      await browser.signUp('ada@example.com');
      const { access_token: token } = await signedInCli(browser);
      const app = await connectApp(deaf, { token });
      const { sub } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sub: string };
      await recordRevocations(deaf.database, [{ subject: sub }]);
      expect(await app.closed).toMatchObject({ code: 4401 });
      expect((await callWith(deaf, token, '/api/me')).body).toMatchObject({ code: 'TOKEN_REVOKED' });
    } finally {
      await deaf.stop();
    }
  });

  it("by signing out leaves the user's other browsers alone", async () => {
    const browser = await person();
    const other = new Browser(relay);
    await other.signIn(`person${people}@example.com`);
    const [mine, theirs] = [await signedInCli(browser), await signedInCli(other)];
    await browser.send('POST', '/auth/sign-out', { body: {} });
    expect((await refresh(relay, mine.refresh_token!)).status).toBe(400);
    expect((await refresh(relay, theirs.refresh_token!)).status).toBe(200);
    expect(await codeOf(theirs.access_token)).toBeUndefined();
  });

  it('everywhere revokes every browser, program and socket of the user, and of no other user', async () => {
    const [browser, stranger] = [await person(), await person()];
    const second = new Browser(relay);
    await second.signIn(`person${people - 1}@example.com`);
    const tokens = [await signedInWeb(browser), await signedInCli(browser), await signedInWeb(second)];
    const spared = await signedInCli(stranger);
    const apps = await Promise.all(
      tokens.map(({ access_token: token }, index) => connectApp(relay, { token, api: index % 2 })),
    );
    const sparedApp = await connectApp(relay, { token: spared.access_token });
    const ticket = await relay.call('createTicket', {
      user: null,
      headers: { Authorization: `Bearer ${tokens[0]!.access_token}` },
    });
    expect((await browser.send('POST', '/auth/relay/sign-out-everywhere', { body: {} })).body).toEqual({
      success: true,
    });
    for (const app of apps) expect(await app.closed).toMatchObject({ code: 4401 });
    for (const { access_token: token } of tokens)
      for (const api of [0, 1]) expect(await codeOf(token, api)).toBe('TOKEN_REVOKED');
    expect((await refresh(relay, tokens[1]!.refresh_token!)).status).toBe(400);
    expect((await browser.send('GET', '/auth/relay/me')).status).toBe(401);
    expect((await second.send('GET', '/auth/relay/me')).status).toBe(401);
    await expect(connectApp(relay, { token: ticket.body.ticket, credential: 'ticket' })).rejects.toMatchObject({
      status: 401,
      body: { code: 'TOKEN_REVOKED' },
    });
    expect(await codeOf(spared.access_token)).toBeUndefined();
    expect((await refresh(relay, spared.refresh_token!)).status).toBe(200);
    expect(sparedApp.socket.readyState).toBe(sparedApp.socket.OPEN);
    await sparedApp.close();
  });

  it('everywhere removes the address of a program whose own sign-in is gone; the program can no longer answer', async () => {
    const pushSecret = ['p'.repeat(32)];
    const other = await startRelay({ identity: true, transports: [], config: { pushSecret } });
    try {
      const [phone, desk] = [new Browser(other), new Browser(other)];
      await phone.signUp('ada@example.com');
      const { refresh_token: refreshToken } = await signedInCli(phone);
      const { id: login } = (await phone.send('GET', '/auth/relay/me')).body.login as { id: string };
      await other.database.models.login.delete({ where: { id: login } });
      const { access_token: token } = (await refresh(other, refreshToken!)).body as { access_token: string };
      const { sub, sid } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, string>; // prettier-ignore
      expect(sid ?? null).toBeNull();
      const add = async (body: AddSubscription) =>
        (await other.call('addSubscription', { user: null, headers: { Authorization: `Bearer ${token}` }, body })).body
          .subscription.id;
      const { keys } = openPushKeys();
      const address = await add({ kind: 'unifiedpush', endpoint: 'https://push.example.com/phone', keys });
      const topic = await add({ kind: 'ntfy', topic: 'garden' });
      const tokens = createAnswerTokens({
        database: other.database,
        seal: createSeal(pushSecret),
        publicUrl: other.config.publicUrl,
      });
      const claims = { sub: sub!, address, jti: 'one', session: 'd:a:n', prompt: 'asked', option: 'no' };
      const [answer] = (await tokens.sign([claims], Date.now() + 60_000))!;
      const give = async () =>
        (await other.call('giveAnswer', { user: null, headers: { Authorization: `Bearer ${answer}` }, body: {} })).body;
      expect(await give()).toMatchObject({ code: 'SESSION_NOT_FOUND' });

      await desk.signIn('ada@example.com');
      await desk.send('POST', '/auth/relay/sign-out-everywhere', { body: {} });
      expect(await give()).toMatchObject({ code: 'TOKEN_REVOKED' });
      expect(await other.database.sql.query`SELECT id FROM subscriptions`).toEqual([{ id: topic }]);
    } finally {
      await other.stop();
    }
  });

  it("of one program revokes that program's tokens only", async () => {
    const browser = await person();
    const [web, cli] = [await signedInWeb(browser), await signedInCli(browser)];
    const list = await browser.send('GET', '/auth/relay/applications');
    expect(list.body.applications).toEqual([
      {
        clientId: 'relay-cli',
        name: 'Command line',
        scopes: expect.arrayContaining(['sessions:write', 'offline_access']),
        authorizedAt: expect.any(String),
        lastUsedAt: expect.any(String),
        offline: true,
      },
    ]);
    const [webApp, cliApp] = await Promise.all([
      connectApp(relay, { token: web.access_token }),
      connectApp(relay, { token: cli.access_token, api: 1 }),
    ]);
    const revoke = () => browser.send('POST', '/auth/relay/applications/revoke', { body: { clientId: 'relay-cli' } });
    expect((await revoke()).body).toEqual({ revoked: true });
    expect(await cliApp.closed).toMatchObject({ code: 4401 });
    expect(await codeOf(cli.access_token, 1)).toBe('TOKEN_REVOKED');
    expect((await refresh(relay, cli.refresh_token!)).status).toBe(400);
    expect(await codeOf(web.access_token)).toBeUndefined();
    expect(webApp.socket.readyState).toBe(webApp.socket.OPEN);
    await webApp.close();
    expect((await browser.send('GET', '/auth/relay/applications')).body).toEqual({ applications: [] });
    expect(await revoke()).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect((await browser.authorize('relay-cli', 'x'.repeat(43))).pathname).toBe('/consent');
  });

  it('of another user is impossible', async () => {
    const [browser, stranger] = [await person(), await person()];
    const cli = await signedInCli(browser);
    const answer = await stranger.send('POST', '/auth/relay/applications/revoke', { body: { clientId: 'relay-cli' } });
    expect(answer.status).toBe(404);
    expect((await stranger.send('GET', '/auth/relay/applications')).body).toEqual({ applications: [] });
    expect((await refresh(relay, cli.refresh_token!)).status).toBe(200);
    for (const path of ['applications', 'me'])
      expect((await new Browser(relay).send('GET', `/auth/relay/${path}`)).status).toBe(401);
  });

  it('by a new password can revoke every other browser', async () => {
    const browser = await person();
    const other = new Browser(relay);
    const email = `person${people}@example.com`;
    await other.signIn(email);
    const stolen = await signedInCli(other);
    const change = await browser.send('POST', '/auth/change-password', {
      body: { currentPassword: password, newPassword: 'another long password', revokeOtherSessions: true },
    });
    expect(change.status).toBe(200);
    expect((await other.send('GET', '/auth/relay/me')).status).toBe(401);
    expect(await codeOf(stolen.access_token)).toBe('TOKEN_REVOKED');
    expect((await refresh(relay, stolen.refresh_token!)).status).toBe(400);
    expect((await new Browser(relay).signIn(email)).status).toBe(401);
    expect((await new Browser(relay).signIn(email, 'another long password')).status).toBe(200);
  });

  it.each(['has expired', 'is forgotten'])('by a new password also revokes a program whose sign-in %s', async (how) => {
    const browser = await person();
    const email = `person${people}@example.com`;
    const cli = await signedInCli(browser);
    const { id } = (await browser.send('GET', '/auth/relay/me')).body.login as { id: string };
    if (how === 'is forgotten') await relay.database.models.login.delete({ where: { id } });
    else await relay.database.models.login.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1) } });
    const other = new Browser(relay);
    await other.signIn(email);
    const change = await other.send('POST', '/auth/change-password', {
      body: { currentPassword: password, newPassword: 'another long password' },
    });
    expect(change.status).toBe(200);
    expect((await refresh(relay, cli.refresh_token!)).status).toBe(400);
    expect(await codeOf(cli.access_token)).toBe('TOKEN_REVOKED');
    expect((await other.send('GET', '/auth/relay/me')).status).toBe(200);
  });

  it('by age leaves a program its own thirty days', async () => {
    const browser = await person();
    const cli = await signedInCli(browser);
    const { id } = (await browser.send('GET', '/auth/relay/me')).body.login as { id: string };
    await relay.database.models.login.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1) } });
    expect((await browser.send('GET', '/auth/relay/me')).status).toBe(401);
    expect((await refresh(relay, cli.refresh_token!)).status).toBe(200);
  });
});

describe('a revocation', () => {
  it('still holds on an instance that starts later', async () => {
    const database = await openTestDatabase();
    const authSecret = ['s'.repeat(20) + Math.random().toString(36).padEnd(20, '0')];
    const before = await startRelay({ identity: true, database, config: { authSecret } });
    const browser = new Browser(before);
    await browser.signUp('alice@example.com');
    const [web, cli] = [await signedInWeb(browser), await signedInCli(browser)];
    await browser.send('POST', '/auth/relay/applications/revoke', { body: { clientId: 'relay-cli' } });
    await before.stop();
    const after = await startRelay({ identity: true, database, config: { authSecret } });
    expect((await callWith(after, cli.access_token)).body.code).toBe('TOKEN_REVOKED');
    expect((await callWith(after, web.access_token)).status).toBe(200);
    await after.stop();
    await database.close();
  });
});

describe('a secret', () => {
  it('still works in second place after a rotation; without it, users sign in again', async () => {
    const database = await openTestDatabase();
    const [old, next] = ['o'.repeat(40), 'n'.repeat(40)];
    const begin = (authSecret: string[]) => startRelay({ identity: true, database, config: { authSecret } });
    const first = await begin([old]);
    const browser = new Browser(first);
    await browser.signUp('alice@example.com');
    const early = await signedInWeb(browser);
    await first.stop();

    const rotated = await begin([next, old]);
    expect((await callWith(rotated, early.access_token)).status).toBe(200);
    const again = new Browser(rotated);
    await again.signIn('alice@example.com');
    const later = await signedInWeb(again);
    await rotated.stop();

    const lost = await begin([next]);
    expect((await callWith(lost, later.access_token)).body.code).toBe('INVALID_TOKEN');
    const second = new Browser(lost);
    expect((await second.signIn('alice@example.com')).status).toBe(200);
    expect((await callWith(lost, (await signedInWeb(second)).access_token)).status).toBe(200);
    await lost.stop();
    await database.close();
  });

  it('in first place signs no browser out, not even in the middle of a sign-in', async () => {
    const database = await openTestDatabase();
    const [old, next] = ['o'.repeat(40), 'n'.repeat(40)];
    const begin = (authSecret: string[]) => startRelay({ identity: true, database, config: { authSecret } });
    let relay = await begin([old]);
    const browser = new Browser(relay);
    await browser.signUp('alice@example.com');
    const [returns, away] = [new Browser(relay), new Browser(relay)];
    for (const one of [returns, away]) await one.signIn('alice@example.com');
    const stays = new Browser(relay);
    for (const [name, value] of browser.cookies) stays.cookies.set(name, value);
    const { verifier, challenge } = pkce();
    const page = await new Browser(relay).authorize('relay-web', challenge);
    const question = await browser.authorize('relay-cli', challenge);
    await relay.stop();

    relay = await begin([next, old]);
    try {
      const here = (one: Browser) => Object.assign(new Browser(relay), { cookies: one.cookies });
      const before = browser.cookies.get('relay.session_token');
      expect((await here(browser).send('GET', '/auth/relay/me')).body).toMatchObject({ email: 'alice@example.com' });
      const after = browser.cookies.get('relay.session_token')!;
      expect(after).not.toBe(before);
      const answer = await here(stays).send('GET', '/auth/relay/me');
      const [line] = answer.headers['set-cookie'] as unknown as string[];
      expect(line).toBe(`relay.session_token=${after}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax`);
      expect((await here(browser).send('GET', '/auth/relay/me')).headers['set-cookie']).toBeUndefined();
      // Both requests started before the rotation: to sign in, and to allow a program.
      const body = { email: 'alice@example.com', password, oauth_query: page.search.slice(1) };
      const signedIn = await new Browser(relay).send('POST', '/auth/sign-in/email', { body });
      const web = new URL(signedIn.body.url as string).searchParams.get('code')!;
      const callback = `${relay.config.publicUrl}/callback`;
      expect((await redeem(relay, 'relay-web', web, verifier, callback)).status).toBe(200);
      const allowed = await here(browser).consent(question);
      expect((await redeem(relay, 'relay-cli', allowed.searchParams.get('code')!, verifier)).status).toBe(200);
      expect((await here(returns).send('GET', '/auth/relay/me')).status).toBe(200);
      // A signature by an unknown secret is invalid.
      const forged = new Browser(relay);
      forged.cookies.set(
        'relay.session_token',
        before!.replace(/.%3D$/, (end) => (end === 'A%3D' ? 'E' : 'A') + '%3D'),
      );
      expect((await forged.send('GET', '/auth/relay/me')).status).toBe(401);
      expect((await here(stays).send('POST', '/auth/sign-out', { body: {} })).status).toBe(200);
      expect(stays.cookies.has('relay.session_token')).toBe(false);
    } finally {
      await relay.stop();
    }

    // Without the old secret its signatures are invalid; a browser that returned during the rotation has a new one.
    relay = await begin([next]);
    try {
      for (const [one, status] of [
        [returns, 200],
        [away, 401],
      ] as const)
        // prettier-ignore
        expect((await Object.assign(new Browser(relay), { cookies: one.cookies }).send('GET', '/auth/relay/me')).status).toBe(status);
    } finally {
      await relay.stop();
      await database.close();
    }
  });
});
