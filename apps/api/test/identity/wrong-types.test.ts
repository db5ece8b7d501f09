import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Browser,
  type TestRelay,
  callWith,
  password,
  pkce,
  redeem,
  refresh,
  signedInCli,
  startRelay,
} from '@relay/testing';
import { until } from '../until.ts';

const typed = 'zanzibar';
/** Values of every type other than the expected strings and booleans; each contains the typed text where possible. */
const wrong: unknown[] = [false, 0, { toString: typed }, { [typed]: typed }, [typed], []];

describe('the sign-in', () => {
  let relay: TestRelay;
  const lines: string[] = [];

  beforeAll(async () => {
    relay = await startRelay({
      identity: true,
      config: { publicUrl: 'https://relay.test', authSignup: 'open' },
      log: { write: (line) => void lines.push(line) },
    });
  });
  afterAll(() => relay.stop());

  const signedUp = async (email: string) => {
    const browser = new Browser(relay);
    await browser.signUp(email);
    return browser;
  };
  const wholly = { email: 'x@example.com', password, name: 'X', callbackURL: '/', oauth_query: 'client_id=relay-web' };
  const bodies: Record<string, Record<string, unknown>> = {
    '/sign-up/email': { ...wholly, password: 'short', invitation: 'x', image: 'x' },
    '/sign-in/email': { ...wholly, rememberMe: true },
    '/sign-in/social': { ...wholly, provider: 'github', disableRedirect: true, scopes: ['x'], idToken: { token: 'x' } },
    '/update-user': { name: 'X', image: 'x', emailVerified: true },
    '/change-password': { currentPassword: password, newPassword: 'another long one', revokeOtherSessions: true },
    '/passkey/verify-registration': { response: { id: 'x' }, name: 'x', createSession: true },
    '/passkey/verify-authentication': { response: { id: 'x' }, oauth_query: 'client_id=relay-web' },
    '/passkey/update-passkey': { id: 'x', name: 'x' },
    '/passkey/delete-passkey': { id: 'x' },
    '/oauth2/consent': { accept: true, scope: 'x', oauth_query: 'client_id=relay-cli' },
    '/oauth2/token': {
      grant_type: 'authorization_code',
      code: 'x',
      client_id: 'relay-cli',
      code_verifier: 'x',
      redirect_uri: 'http://127.0.0.1/callback',
      refresh_token: 'x',
      resource: 'x',
    },
    '/oauth2/revoke': { token: 'x', token_type_hint: 'refresh_token', client_id: 'relay-cli' },
    '/oauth2/userinfo': { access_token: 'x' },
    '/oauth2/end-session': { id_token_hint: 'x', client_id: 'relay-web', post_logout_redirect_uri: 'x', state: 'x' },
    '/oauth2/end-session/confirm': { id_token_hint: 'x', client_id: 'relay-web' },
    '/relay/invitations': { token: 'x' },
    '/relay/invitations/check': { token: 'x' },
    '/relay/applications/revoke': { clientId: 'x' },
    '/relay/browsers/end': { id: 'x' },
  };

  it('S9: answers wrong types with a refusal and a code, and logs no typed text', async () => {
    const browser = await signedUp('alice@example.com');
    const named = await browser.send('POST', '/auth/update-user', { body: { name: false } });
    expect(named).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    for (const [path, whole] of Object.entries(bodies)) {
      const broken: unknown[] = [typed, [typed], 7];
      for (const field of Object.keys(whole)) for (const value of wrong) broken.push({ ...whole, [field]: value });
      for (const body of broken) {
        const { status, text } = await browser.send('POST', `/auth${path}`, { body });
        expect([path, body, status < 500, status, text]).toEqual([path, body, true, status, text]);
      }
    }
    const params = [
      'client_id',
      'redirect_uri',
      'scope',
      'state',
      'prompt',
      'max_age',
      'claims',
      'resource',
      'request',
    ];
    for (const path of ['/oauth2/authorize', '/oauth2/public-client', '/oauth2/userinfo', '/oauth2/end-session'])
      for (const name of params)
        for (const query of [
          `${name}=${typed}&${name}=${typed}`,
          `${name}[]=${typed}`,
          `${name}[a]=${typed}`,
          `${name}=%7B`,
        ]) {
          const { status } = await browser.send('GET', `/auth${path}?client_id=relay-cli&response_type=code&${query}`);
          expect([path, query, status < 500]).toEqual([path, query, true]);
        }
    expect((await browser.send('GET', '/auth/relay/me')).status).toBe(200);
    expect((await browser.send('GET', '/auth/relay/me')).body).toMatchObject({ name: 'X' });
    const loud = lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 40 || line.includes(typed));
    expect(loud).toEqual([]);
  }, 240_000);

  it('S15: a new password revokes every other sign-in, requested or not', async () => {
    const here = await signedUp('bob@example.com');
    const there = new Browser(relay);
    await there.signIn('bob@example.com');
    const program = await signedInCli(there);
    const body = { currentPassword: password, newPassword: 'a horse of another colour', revokeOtherSessions: false };
    expect((await here.send('POST', '/auth/change-password', { body })).status).toBe(200);
    expect((await here.send('GET', '/auth/relay/me')).status).toBe(200);
    expect((await there.send('GET', '/auth/relay/me')).status).toBe(401);
    expect((await refresh(relay, program.refresh_token!)).status).toBe(400);
    expect((await callWith(relay, program.access_token)).status).toBe(401);
  });

  it('S19: a second use of a code revokes the tokens of its first use', async () => {
    const browser = await signedUp('carol@example.com');
    const { verifier, challenge } = pkce();
    const code = await browser.code('relay-cli', challenge);
    const first = await redeem(relay, 'relay-cli', code, verifier);
    expect((await callWith(relay, first.body.access_token as string)).status).toBe(200);
    expect((await redeem(relay, 'relay-cli', code, verifier)).body.error).toBe('invalid_grant');
    expect((await refresh(relay, first.body.refresh_token as string)).body.error).toBe('invalid_grant');
    await until('the access token is refused', async () => {
      const { status, body } = await callWith(relay, first.body.access_token as string);
      return status === 401 && body.code === 'TOKEN_REVOKED';
    });
    // The browser itself stays signed in.
    expect((await browser.send('GET', '/auth/relay/me')).status).toBe(200);
  });

  it('S19: keeps the sign-in in a cookie that no other host of the domain can set', async () => {
    const answer = await new Browser(relay).send('POST', '/auth/sign-in/email', {
      body: { email: 'carol@example.com', password },
    });
    const cookies = answer.headers['set-cookie'] as unknown as string[];
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-relay\./);
      expect(cookie).toMatch(/; Path=\/(;|$)/i);
      expect(cookie).toMatch(/; Secure/i);
      expect(cookie).not.toMatch(/domain=/i);
    }
  });

  it('S11: an account allows twenty wrong passwords in a quarter of an hour, and so does an unknown one', async () => {
    await signedUp('dave@example.com');
    for (const email of ['dave@example.com', 'unknown@example.com']) {
      const statuses: number[] = [];
      for (let count = 0; count < 22; count += 1)
        statuses.push(
          (await new Browser(relay).signIn(count % 2 ? email : email.toUpperCase(), 'wrong password')).status,
        );
      expect(statuses).toEqual([...Array<number>(20).fill(401), 429, 429]);
    }
    const refused = await new Browser(relay).signIn('dave@example.com');
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    for (let count = 0; count < 25; count += 1)
      expect((await new Browser(relay).signIn('carol@example.com')).status).toBe(200);
  }, 240_000);

  it('S11: an unknown account and a wrong password get the same answer', async () => {
    await signedUp('same@example.com');
    const answerFor = async (email: string) => {
      const { status, text, headers } = await new Browser(relay).signIn(email, 'wrong password');
      return { status, text, headers: Object.keys(headers).sort() };
    };
    const known = await answerFor('same@example.com');
    expect(known.status).toBe(401);
    expect(await answerFor('unknown-too@example.com')).toEqual(known);
  });

  it.each([
    '1234567890',
    'Password123',
    'p4ssw0rd!!',
    'qwertyuiop',
    '1q2w3e4r5t',
    'aaaaaaaaaa',
    'letmein2024',
    '19870412',
    'erin@example.com',
  ])('S11: %s is not accepted as a password', async (common) => {
    const answer = await new Browser(relay).send('POST', '/auth/sign-up/email', {
      body: { email: 'erin@example.com', name: 'Erin', password: common },
    });
    expect(answer.status).toBe(400);
    expect(['PASSWORD_TOO_COMMON', 'PASSWORD_TOO_SHORT']).toContain((answer.body as { code: string }).code);
  });
});

it('S11: refuses sign-ins with 503 while it checks too many passwords', async () => {
  const busy = await startRelay({ identity: true, dearPasswords: true, config: { authSignup: 'open' } });
  await new Browser(busy).signUp('frank@example.com');
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) => new Browser(busy).signIn(`${n}@example.com`, 'wrong password')),
  );
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([401, 503]));
  expect(answers.find(({ status }) => status === 503)!.headers['retry-after']).toBeDefined();
  expect((await new Browser(busy).signIn('frank@example.com')).status).toBe(200);
  await busy.stop();
}, 240_000);
