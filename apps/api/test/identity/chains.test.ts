/** One sign-in of a program is a chain of refresh tokens: the causes that revoke it, and only it (rules, 8.26). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Browser,
  type TestRelay,
  type Tokens,
  callWith,
  connectApp,
  openPushKeys,
  pkce,
  redeem,
  refresh,
  send,
  signedInCli,
  signedInWeb,
  startRelay,
} from '@relay/testing';

let relay: TestRelay;
let people = 0;

beforeAll(async () => {
  relay = await startRelay({ identity: true, apis: 2, transports: [], config: { pushSecret: ['p'.repeat(32)] } });
});
afterAll(() => relay.stop());

async function person(): Promise<Browser> {
  const browser = new Browser(relay);
  people += 1;
  await browser.signUp(`person${people}@example.com`);
  return browser;
}
const renewed = async (tokens: Tokens) => (await refresh(relay, tokens.refresh_token!)).body as unknown as Tokens;
const codeOf = async (tokens: Tokens, api: number) =>
  (await callWith(relay, tokens.access_token, '/api/me', api)).body.code as string | undefined;
const revoke = (tokens: Tokens) =>
  send('POST', `${relay.apis[0]!.url}/auth/oauth2/revoke`, {
    raw: new URLSearchParams({ client_id: 'relay-cli', token: tokens.refresh_token! }).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
const afterTheInterval = () =>
  relay.database.models.oauthRefreshToken.updateMany({
    where: { rotatedAt: { not: null } },
    data: { rotationReplayExpiresAt: new Date(Date.now() - 1) },
  });
const of = (tokens: Tokens) => ({ user: null, headers: { Authorization: `Bearer ${tokens.access_token}` } }) as const;
async function addApp(tokens: Tokens): Promise<string> {
  const { keys } = openPushKeys();
  const endpoint = `https://push.example.com/${Math.random()}`;
  const { body } = await relay.call('addSubscription', {
    ...of(tokens),
    body: { kind: 'unifiedpush', endpoint, keys },
  });
  return body.subscription.id;
}
const addTopic = async (tokens: Tokens, topic: string) =>
  (await relay.call('addSubscription', { ...of(tokens), body: { kind: 'ntfy', topic } })).body.subscription.id;
const addresses = async (tokens: Tokens) =>
  (await relay.call('listSubscriptions', of(tokens))).body.subscriptions.map(({ id }) => id).sort();
const audit = async (tokens: Tokens) =>
  (await relay.call('listAudit', of(tokens))).body.entries.map(
    ({ action, outcome, program }) => `${program ?? ''} ${action} ${outcome}`,
  );

/** Two sign-ins of one program from one browser, each with an address and a socket. */
async function twoChains() {
  const browser = await person();
  const [one, other] = [await signedInCli(browser), await signedInCli(browser)];
  const [address, kept] = [await addApp(one), await addApp(other)];
  const [app, keptApp] = [
    await connectApp(relay, { token: one.access_token, api: 1 }),
    await connectApp(relay, { token: other.access_token, api: 1 }),
  ];
  const onlyOneIsOver = async () => {
    expect(await app.closed).toMatchObject({ code: 4401 });
    for (const api of [0, 1]) {
      expect(await codeOf(one, api)).toBe('TOKEN_REVOKED');
      expect(await codeOf(other, api)).toBeUndefined();
    }
    expect(keptApp.socket.readyState).toBe(keptApp.socket.OPEN);
    expect(await addresses(other)).toEqual([kept]);
    expect((await refresh(relay, other.refresh_token!)).status).toBe(200);
    await keptApp.close();
  };
  return { browser, one, other, address, onlyOneIsOver };
}

describe('a sign-in of a program', () => {
  it('is revoked alone when a used refresh token is sent again late', async () => {
    const { one, other, onlyOneIsOver } = await twoChains();
    const next = await renewed(one);
    await afterTheInterval();
    expect((await refresh(relay, one.refresh_token!)).body.error).toBe('invalid_grant');
    expect((await refresh(relay, next.refresh_token!)).body.error).toBe('invalid_grant');
    for (const api of [0, 1]) expect(await codeOf(next, api)).toBe('TOKEN_REVOKED');
    await onlyOneIsOver();
    expect(await audit(other)).toContain('relay-cli signOut REFRESH_TOKEN_REUSED');
    const { entries } = (await relay.call('listAudit', of(other))).body;
    expect(entries.find(({ outcome }) => outcome === 'REFRESH_TOKEN_REUSED')?.address).toBe('127.0.0.1');
  });

  it('is revoked alone when the program revokes its token, once or again', async () => {
    const { one, other, onlyOneIsOver } = await twoChains();
    expect((await revoke(one)).status).toBe(200);
    await revoke(one);
    await onlyOneIsOver();
    expect((await audit(other)).filter((entry) => entry.includes('signOut'))).toEqual(['relay-cli signOut done']);
  });

  it('is revoked alone when the program revokes a refresh token that it had used', async () => {
    const { one, onlyOneIsOver } = await twoChains();
    await renewed(one);
    await revoke(one);
    await onlyOneIsOver();
  });

  it('stays bound to its refresh token, also when a renewal names a code', async () => {
    const browser = await person();
    const one = await signedInCli(browser);
    const answer = await send('POST', `${relay.apis[0]!.url}/auth/oauth2/token`, {
      raw: new URLSearchParams({
        ...{ grant_type: 'refresh_token', client_id: 'relay-cli', refresh_token: one.refresh_token!, code: 'x' },
      }).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.status).toBe(200);
    const next = answer.body as unknown as Tokens;
    await revoke(next);
    for (const api of [0, 1]) expect(await codeOf(next, api)).toBe('TOKEN_REVOKED');
  });

  it('survives another program that has its refresh token', async () => {
    const one = await signedInCli(await person());
    await send('POST', `${relay.apis[0]!.url}/auth/oauth2/revoke`, {
      raw: new URLSearchParams({ client_id: 'relay-web', token: one.refresh_token! }).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    expect(await codeOf(one, 0)).toBeUndefined();
    expect((await refresh(relay, one.refresh_token!)).status).toBe(200);
  });

  it('is revoked alone when its code is used twice', async () => {
    const browser = await person();
    const other = await signedInCli(browser);
    const { verifier, challenge } = pkce();
    const code = await browser.code('relay-cli', challenge);
    const one = (await redeem(relay, 'relay-cli', code, verifier)).body as unknown as Tokens;
    const address = await addApp(one);
    expect(await addresses(other)).toEqual([address]);
    expect((await redeem(relay, 'relay-cli', code, verifier)).body.error).toBe('invalid_grant');
    for (const api of [0, 1]) expect(await codeOf(one, api)).toBe('TOKEN_REVOKED');
    expect(await addresses(other)).toEqual([]);
    expect((await refresh(relay, other.refresh_token!)).status).toBe(200);
  });

  it('survives a repeated renewal: after a lost answer, or twice at the same moment', async () => {
    const browser = await person();
    const first = await signedInCli(browser);
    const answers = await Promise.all([0, 1, 0, 1].map((api) => refresh(relay, first.refresh_token!, api)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const tokens = new Set(
      [...answers, await refresh(relay, first.refresh_token!)].map(({ body }) => body.refresh_token as string),
    );
    expect(tokens.size).toBe(1);
    expect((await refresh(relay, [...tokens][0]!)).status).toBe(200);
  });
});

describe('a program that is removed', () => {
  const remove = (browser: Browser) =>
    browser.send('POST', '/auth/relay/applications/revoke', { body: { clientId: 'relay-cli' } });

  it('cannot redeem a code that it has', async () => {
    const [browser, stranger] = [await person(), await person()];
    const [cli, theirs] = [pkce(), pkce()];
    const code = await browser.code('relay-cli', cli.challenge);
    const spared = await stranger.code('relay-cli', theirs.challenge);
    expect((await remove(browser)).status).toBe(200);
    expect((await redeem(relay, 'relay-cli', code, cli.verifier)).body.error).toBe('invalid_grant');
    expect((await redeem(relay, 'relay-cli', spared, theirs.verifier)).status).toBe(200);
  });

  it('loses every address that it added, including addresses that a user typed there', async () => {
    const browser = await person();
    const cli = await signedInCli(browser);
    await addApp(cli);
    await addTopic(cli, 'garden');
    expect((await remove(browser)).status).toBe(200);
    expect(await addresses(await signedInWeb(browser))).toEqual([]);
  });

  it('keeps typed addresses if it only signs out', async () => {
    const browser = await person();
    const cli = await signedInCli(browser);
    await addApp(cli);
    const topic = await addTopic(cli, 'garden');
    await revoke(cli);
    expect(await addresses(await signedInWeb(browser))).toEqual([topic]);
  });
});
