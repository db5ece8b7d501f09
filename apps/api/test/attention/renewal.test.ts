import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, registerDevice, startRelay } from '@relay/testing';
import { closedWith, sayer } from './app-door.ts';
import { expectFrame } from './frames.ts';
import { until } from '../until.ts';

const expOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8')) as { exp: number }).exp * 1000;

describe('the credential of a live socket', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    // Room for the steps of a test before its token is over, and for a close that comes a little early: a timer counts
    // from the start of its turn of the event loop, which a busy machine can stretch.
    relay = await startRelay({ apis: 2, config: { expiryToleranceMs: 2000 } });
  });
  afterAll(() => relay.stop());

  it('closes it with 4401 on expiry, and not before', async () => {
    const token = relay.token('alice', { expiresInSeconds: 1 });
    const app = await connectApp(relay, { token });
    const { code, reason } = await app.closed;
    expect(Date.now()).toBeGreaterThanOrEqual(expOf(token) + 200);
    expect({ code, reason }).toEqual({ code: 4401, reason: 'credential invalid, expired or revoked' });
  });

  it('can be replaced by {type: "auth", token}, and the socket lives as long as the new one', async () => {
    const short = relay.token('bob', { expiresInSeconds: 3 });
    const renewed = relay.token('bob', { expiresInSeconds: 3600 });
    const [app, witness] = [await connectApp(relay, { token: short }), await connectApp(relay, { token: short })];
    app.send({ type: 'auth', token: renewed });
    const answer = expectFrame('auth_ok', await app.next('auth_ok'));
    expect(answer).toEqual({ type: 'auth_ok', expiresAt: new Date(expOf(renewed)).toISOString() });
    expect((await witness.closed).code).toBe(4401);
    await sayer(relay, 'bob').append(1);
    expect(await app.next('numbered')).toMatchObject({ n: 1 });
    await app.close();
  });

  it('can be replaced by a credential that expires earlier', async () => {
    const app = await connectApp(relay);
    const shorter = relay.token('alice', { expiresInSeconds: 1 });
    app.send({ type: 'auth', token: shorter });
    expect((await app.next('auth_ok')).expiresAt).toBe(new Date(expOf(shorter)).toISOString());
    expect((await app.closed).code).toBe(4401);
  });

  it('gets an answer without an offset, also on clients that understand offsets', async () => {
    const app = await connectApp(relay, { since: '' });
    app.send({ type: 'auth', token: relay.token() });
    expectFrame('auth_ok', await app.next('auth_ok'));
    await app.close();
  });

  it.each<[string, (relay: TestRelay) => string | Promise<string>]>([
    ['garbage', () => 'garbage'],
    ['nothing', () => ''],
    ['an expired credential', (of) => of.token('alice', { expiresInSeconds: -60 })],
    ['a credential for another audience', (of) => of.token('alice', { audience: 'https://elsewhere' })],
    ['a device credential', async (of) => (await registerDevice(of)).refreshToken],
  ])('replaced by %s closes the socket with 4401', async (_what, tokenOf) => {
    const app = await connectApp(relay);
    app.send({ type: 'auth', token: await tokenOf(relay) });
    expect((await app.closed).code).toBe(4401);
    expect(app.inbox.count('auth_ok')).toBe(0);
  });

  it.each<[string, (relay: TestRelay) => string]>([
    ['a credential of another user', (of) => of.token('mallory')],
    ['a credential without the scope', (of) => of.token('alice', { scopes: ['sessions:write'] })],
  ])('replaced by %s closes the socket with 4403', async (_what, tokenOf) => {
    const app = await connectApp(relay);
    app.send({ type: 'auth', token: tokenOf(relay) });
    expect((await app.closed).code).toBe(4403);
    expect(app.inbox.count('auth_ok')).toBe(0);
  });

  it('is not rejected while it cannot be checked: the socket closes with 1013, to be opened again', async () => {
    // The second api has never fetched the keys: it has only seen tickets.
    const { body } = await relay.call('createTicket');
    const app = await connectApp(relay, { credential: 'ticket', token: body.ticket, api: 1 });
    relay.issuer.setDown(true);
    app.send({ type: 'auth', token: relay.token() });
    expect((await app.closed).code).toBe(1013);
    relay.issuer.setDown(false);
  });

  it('can be revoked after each replacement', async () => {
    const phone = relay.token('carol', { login: 'phone' });
    const app = await connectApp(relay, { token: relay.token('carol', { login: 'laptop' }) });
    const witness = await connectApp(relay, { token: relay.token('carol', { login: 'laptop' }) });
    app.send({ type: 'auth', token: phone });
    await app.next('auth_ok');
    const revoke = (login: string) =>
      relay.gateways[0]!.backplane.publishControl(JSON.stringify({ v: 1, kind: 'user_revoked', login }));
    await revoke('laptop');
    expect((await witness.closed).code).toBe(4401);
    await sayer(relay, 'carol').append(1);
    await app.next('numbered');
    await revoke('phone');
    expect((await app.closed).code).toBe(4401);
    await until('both ends are counted', async () => (await closedWith(relay, 4401)) >= 2);
  });
});
