import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RelayConfig, UpstreamSettings } from '@relay/config';
import { Browser, type TestRelay, callWith, invitation, pkce, redeem, signedInWeb, startRelay } from '@relay/testing';
import { type OpenIdProvider, startOpenIdProvider } from './openid-provider.ts';

const publicUrl = 'http://localhost:4000';
const secret = 'a secret of the relay at the provider';

let corp: OpenIdProvider;
let relay: TestRelay;
let closers: (() => Promise<void>)[] = [];

async function startCorp(clientSecret: string, port?: number): Promise<OpenIdProvider> {
  const provider = await startOpenIdProvider({
    configuration: {
      clients: [
        {
          client_id: 'relay',
          client_secret: clientSecret,
          token_endpoint_auth_method: 'client_secret_post',
          redirect_uris: [`${publicUrl}/auth/callback/corp`],
        },
      ],
      pkce: { required: () => true },
    },
    ...(port === undefined ? {} : { port }),
  });
  provider.people.set('alice', { email: 'Alice@Example.com', name: 'Alice' });
  return provider;
}

beforeEach(async () => {
  corp = await startCorp(secret);
  closers = [() => corp.close()];
});
afterEach(async () => {
  for (const close of closers.reverse()) await close();
});

const upstream = (more: Partial<UpstreamSettings> = {}): UpstreamSettings[] => [
  {
    kind: 'oidc',
    id: 'corp',
    name: 'Example Corp',
    clientId: 'relay',
    clientSecret: secret,
    issuer: corp.issuer,
    ...more,
  } as UpstreamSettings,
];

async function begin(config: Partial<RelayConfig> = {}): Promise<TestRelay> {
  relay = await startRelay({
    identity: true,
    config: { publicUrl, authSignup: 'open', authUpstream: upstream(), ...config },
  });
  closers.push(() => relay.stop());
  return relay;
}

interface Going {
  invitation?: string;
  oauth_query?: string;
  callbackURL?: string;
}

/** Starts a sign-in, up to the address of the provider. */
async function leave(browser: Browser, going: Going = {}, provider = 'corp'): Promise<URL> {
  const answer = await browser.send('POST', '/auth/sign-in/social', {
    body: { provider, callbackURL: `${publicUrl}/devices`, ...going },
  });
  if (answer.status !== 200) throw new Error(`sign-in: ${answer.status} ${answer.text}`);
  return new URL(answer.body.url as string);
}

/** Continues at the provider, and returns the address to which the relay finally redirects the browser. */
async function comeBack(browser: Browser, door: URL): Promise<URL> {
  const back = await corp.follow(door.href);
  const answer = await browser.send('GET', back.pathname + back.search, { headers: { Accept: 'text/html' } });
  return new URL(answer.headers.location!, publicUrl);
}

const signIn = async (browser: Browser, going: Going = {}) => comeBack(browser, await leave(browser, going));
const me = async (browser: Browser) => (await browser.send('GET', '/auth/relay/me')).body as Record<string, unknown>;
const errorOf = (where: URL) => [where.pathname, where.searchParams.get('error')];

describe('an upstream provider', () => {
  it('45: gets another client secret at the next start, and keeps accounts and sign-ins', async () => {
    const successor = 'the successor of that secret';
    const {
      database,
      config: { authSecret },
    } = await begin();
    const before = new Browser(relay);
    await signIn(before);
    const alice = await me(before);

    const port = Number(new URL(corp.issuer).port);
    await corp.close();
    corp = await startCorp(successor, port);
    const refused = await signIn(new Browser(relay));
    expect(errorOf(refused)).toEqual(['/error', 'invalid_code']);

    relay = await startRelay({
      identity: true,
      database,
      config: { publicUrl, authSecret, authUpstream: upstream({ clientSecret: successor }) },
    });
    closers.push(() => relay.stop());
    before.relay = relay;
    expect(await me(before)).toEqual(alice);
    const after = new Browser(relay);
    expect((await signIn(after)).pathname).toBe('/devices');
    expect((await me(after)).id).toBe(alice.id);
  });

  it('is offered on the sign-in page, without any secret', async () => {
    await begin();
    const { body } = await new Browser(relay).send('GET', '/auth/relay/status');
    expect(body.providers).toEqual([{ id: 'corp', name: 'Example Corp' }]);
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  it('signs a person in, to the same account after a change of their name or e-mail', async () => {
    await begin();
    const first = new Browser(relay);
    expect((await signIn(first)).href).toBe(`${publicUrl}/devices`);
    const alice = await me(first);
    expect(alice).toMatchObject({ email: 'alice@example.com', name: 'Alice' });
    corp.people.set('alice', { email: 'alice@married.example.com', name: 'Alice M.' });
    const second = new Browser(relay);
    await signIn(second);
    expect((await me(second)).id).toBe(alice.id);
    expect(await relay.database.models.user.count()).toBe(1);
    const { access_token: token } = await signedInWeb(second);
    expect((await callWith(relay, token)).body.id).toBe(alice.id);
  });

  it('does not bypass the second step of an account', async () => {
    await begin();
    await signIn(new Browser(relay));
    expect(await relay.database.models.login.count()).toBe(1);
    // No account has both today; if one had, its second step would still apply.
    await relay.database.models.user.updateMany({ data: { twoFactorEnabled: true } });
    const browser = new Browser(relay);
    const back = await corp.follow((await leave(browser)).href);
    await browser.send('GET', back.pathname + back.search, { headers: { Accept: 'text/html' } });
    expect(await me(browser)).not.toHaveProperty('id');
    expect(await relay.database.models.login.count()).toBe(1);
  });

  it('returns the person to the program that asked, with a code', async () => {
    await begin();
    const browser = new Browser(relay);
    const { verifier, challenge } = pkce();
    const page = await browser.authorize('relay-web', challenge);
    expect(page.pathname).toBe('/sign-in');
    const back = await signIn(browser, { oauth_query: page.search.slice(1) });
    expect(`${back.origin}${back.pathname}`).toBe(`${publicUrl}/callback`);
    const tokens = await redeem(relay, 'relay-web', back.searchParams.get('code')!, verifier, `${publicUrl}/callback`);
    expect((await callWith(relay, tokens.body.access_token as string)).body.email).toBe('alice@example.com');
  });

  it('leaves no token of its own in the database, and no endpoint returns one', async () => {
    await begin();
    const browser = new Browser(relay);
    await signIn(browser);
    const [credential] = await relay.database.models.credential.findMany();
    expect(credential).toMatchObject({
      providerId: 'corp',
      accountId: 'alice',
      accessToken: null,
      refreshToken: null,
      idToken: null,
    });
    for (const [method, path] of [
      ['POST', 'get-access-token'],
      ['POST', 'refresh-token'],
      ['GET', 'account-info'],
      ['GET', 'list-accounts'],
      ['POST', 'link-social'],
      ['POST', 'unlink-account'],
    ] as const)
      expect(
        (await browser.send(method, `/auth/${path}`, method === 'POST' ? { body: { provider: 'corp' } } : {})).status,
      ).toBe(404);
  });
});

describe('an e-mail address', () => {
  it('does not identify an account: signing in upstream with one that is taken does not open that account', async () => {
    await begin();
    const owner = new Browser(relay);
    await owner.signUp('alice@example.com');
    const stranger = new Browser(relay);
    expect(errorOf(await signIn(stranger))).toEqual(['/error', 'account_not_linked']);
    expect((await stranger.send('GET', '/auth/relay/me')).status).toBe(401);
    expect(await relay.database.models.credential.count()).toBe(1);
    // Not even if both have verified it.
    await relay.database.models.user.updateMany({ data: { emailVerified: true } });
    expect(errorOf(await signIn(new Browser(relay)))).toEqual(['/error', 'account_not_linked']);
  });

  it('of an upstream account cannot be used with a password', async () => {
    await begin();
    await signIn(new Browser(relay));
    const answer = await new Browser(relay).signIn('alice@example.com', 'any password at all');
    expect(answer).toMatchObject({ status: 401, body: { code: 'INVALID_EMAIL_OR_PASSWORD' } });
    const create = await new Browser(relay).send('POST', '/auth/sign-up/email', {
      body: { email: 'alice@example.com', password: 'any password at all', name: 'Eve' },
    });
    expect(create.status).toBe(422);
    expect(await relay.database.models.credential.count()).toBe(1);
  });

  it('is required', async () => {
    await begin();
    for (const email of [undefined, 'not an address', `${'x'.repeat(300)}@example.com`]) {
      corp.people.set('alice', { name: 'Alice', ...(email === undefined ? {} : { email }) });
      expect(errorOf(await signIn(new Browser(relay)))).toEqual(['/error', 'email_not_found']);
    }
    expect(await relay.database.models.user.count()).toBe(0);
  });
});

describe('sign-up through a provider', () => {
  it('needs an invitation, which creates exactly one account', async () => {
    await begin({ authSignup: 'invite' });
    expect(errorOf(await signIn(new Browser(relay)))).toEqual(['/error', 'FORBIDDEN']);
    expect(await relay.database.models.user.count()).toBe(0);

    const token = await invitation(relay);
    const doors = await Promise.all(
      ['alice', 'bob', 'carol'].map(async (name) => {
        corp.people.set(name, { email: `${name}@example.com`, name });
        const browser = new Browser(relay);
        return { name, browser, door: await leave(browser, { invitation: token }) };
      }),
    );
    // The relay stores only a hash of the invitation during the sign-in.
    const kept = await relay.database.models.verification.findMany();
    expect(JSON.stringify(kept)).not.toContain(token);
    const ends: string[] = [];
    for (const { name, browser, door } of doors) {
      corp.visitor = name;
      const back = await comeBack(browser, door);
      ends.push(back.searchParams.get('error') ?? back.pathname);
    }
    expect(ends).toEqual(['/devices', 'FORBIDDEN', 'FORBIDDEN']);
    expect(await relay.database.models.user.count()).toBe(1);
    // A person with an account needs no further invitation.
    corp.visitor = 'alice';
    expect((await signIn(new Browser(relay))).pathname).toBe('/devices');
  });

  it('creates only the first account while sign-up is closed, with the setup link', async () => {
    await begin({ authSignup: 'closed' });
    expect(errorOf(await signIn(new Browser(relay)))).toEqual(['/error', 'FORBIDDEN']);
    expect(errorOf(await signIn(new Browser(relay), { invitation: await invitation(relay) }))).toEqual([
      '/error',
      'FORBIDDEN',
    ]);
    const setup = new URL(relay.apis[0]!.identity!.setupLink!.replace('#', '?')).searchParams.get('token')!;
    expect((await signIn(new Browser(relay), { invitation: setup })).pathname).toBe('/devices');
    corp.people.set('bob', { email: 'bob@example.com' });
    corp.visitor = 'bob';
    expect(errorOf(await signIn(new Browser(relay), { invitation: setup }))).toEqual(['/error', 'FORBIDDEN']);
  });

  it('does not consume the invitation if it fails to create the account', async () => {
    await begin({ authSignup: 'invite' });
    const database = relay.database;
    const token = await invitation(relay);
    await database.sql.execute`ALTER TABLE credentials ADD CONSTRAINT none CHECK (false)`;
    const browser = new Browser(relay);
    const back = await corp.follow((await leave(browser, { invitation: token })).href);
    const answer = await browser.send('GET', back.pathname + back.search);
    expect(answer.status).toBeGreaterThanOrEqual(300);
    expect(await database.models.user.count()).toBe(0);
    await database.sql.execute`ALTER TABLE credentials DROP CONSTRAINT none`;
    expect((await signIn(new Browser(relay), { invitation: token })).pathname).toBe('/devices');
  });
});

describe('an attacker', () => {
  it('cannot finish a sign-in that another browser began, nor finish one twice', async () => {
    await begin();
    const [victim, attacker] = [new Browser(relay), new Browser(relay)];
    const back = await corp.follow((await leave(attacker)).href);
    const visit = async (browser: Browser) => {
      const answer = await browser.send('GET', back.pathname + back.search);
      return errorOf(new URL(answer.headers.location!, publicUrl));
    };
    expect(await visit(victim)).toEqual(['/error', 'state_mismatch']);
    expect((await victim.send('GET', '/auth/relay/me')).status).toBe(401);
    expect(await visit(attacker)).toEqual(['/devices', null]);
    expect(await visit(attacker)).toEqual(['/error', 'state_mismatch']);
  });

  it('cannot inject their own code, a response without state, or one of another issuer', async () => {
    await begin();
    const browser = new Browser(relay);
    const back = await corp.follow((await leave(browser)).href);
    const arrive = async (change: (query: URLSearchParams) => void) => {
      const query = new URLSearchParams(back.search);
      change(query);
      const answer = await browser.send('GET', `${back.pathname}?${query.toString()}`);
      return errorOf(new URL(answer.headers.location!, publicUrl));
    };
    expect(await arrive((query) => query.delete('state'))).toEqual(['/error', 'state_not_found']);
    expect(await arrive((query) => query.set('iss', 'https://evil.example'))).toEqual(['/error', 'issuer_mismatch']);
    const again = new Browser(relay);
    const other = await corp.follow((await leave(again)).href);
    other.searchParams.set('code', back.searchParams.get('code')!);
    const answer = await again.send('GET', other.pathname + other.search);
    expect(errorOf(new URL(answer.headers.location!, publicUrl))).toEqual(['/error', 'invalid_code']);
    expect(await relay.database.models.user.count()).toBe(0);
  });

  it('cannot use a response to another request: nonce and challenge belong to one sign-in', async () => {
    await begin();
    for (const [parameter, error] of [
      ['nonce', 'unable_to_get_user_info'],
      ['code_challenge', 'invalid_code'],
    ] as const) {
      const browser = new Browser(relay);
      const door = await leave(browser);
      expect(door.searchParams.get(parameter)).not.toBeNull();
      door.searchParams.set(parameter, 'x'.repeat(43));
      expect(errorOf(await comeBack(browser, door))).toEqual(['/error', error]);
    }
    expect(await relay.database.models.user.count()).toBe(0);
  });

  it('cannot redirect the browser to another site, before, after or on failure', async () => {
    await begin();
    for (const field of ['callbackURL', 'errorCallbackURL', 'newUserCallbackURL'])
      for (const value of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
        const body = { provider: 'corp', callbackURL: '/devices', [field]: value };
        expect((await new Browser(relay).send('POST', '/auth/sign-in/social', { body })).status).toBe(403);
      }
  });

  it('cannot request more scopes than the relay needs, nor sign in with a token of the provider', async () => {
    await begin();
    const answer = await new Browser(relay).send('POST', '/auth/sign-in/social', {
      body: { provider: 'corp', scopes: ['admin'], additionalParams: { prompt: 'none', evil: '1' } },
    });
    const door = new URL(answer.body.url as string);
    expect(door.searchParams.get('scope')).toBe('openid email profile');
    expect(door.searchParams.has('evil')).toBe(false);
    expect(door.searchParams.get('code_challenge_method')).toBe('S256');
    const idToken = { token: 'e30.e30.x' };
    const direct = await new Browser(relay).send('POST', '/auth/sign-in/social', {
      body: { provider: 'corp', idToken },
    });
    // The relay ignores the token: it sends the browser to the provider and signs no person in.
    expect(direct.body).toEqual({ url: expect.stringContaining(door.origin) as unknown, redirect: true });
    expect(direct.headers['set-cookie'] ?? '').not.toContain('session_token');
    expect(await relay.database.models.user.count()).toBe(0);
  });
});

describe('a provider that fails', () => {
  it('affects no other sign-in, at the start or later, and works again once it is up', async () => {
    await corp.setDown(true);
    await begin();
    const browser = new Browser(relay);
    const body = { provider: 'corp', callbackURL: '/devices' };
    const answer = await browser.send('POST', '/auth/sign-in/social', { body });
    expect(answer).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    await browser.signUp('bob@example.com');
    await corp.setDown(false);
    expect((await signIn(new Browser(relay))).pathname).toBe('/devices');
    const late = new Browser(relay);
    const back = await corp.follow((await leave(late)).href);
    await corp.setDown(true);
    const end = await late.send('GET', back.pathname + back.search);
    expect(errorOf(new URL(end.headers.location!, publicUrl))).toEqual(['/error', 'invalid_code']);
  });

  it('by accepting a connection without ever answering gets the same error', async () => {
    const silent = createServer(() => undefined);
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closers.push(async () => {
      const closed = once(silent, 'close');
      silent.close();
      silent.closeAllConnections();
      await closed;
    });
    const issuer = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await begin({ authUpstream: upstream({ issuer }) });
    const body = { provider: 'corp', callbackURL: '/devices' };
    jest.useFakeTimers({
      doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval'],
    });
    const answer = new Browser(relay).send('POST', '/auth/sign-in/social', { body });
    await once(silent, 'request');
    jest.advanceTimersByTime(10_000);
    expect(await answer).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    jest.useRealTimers();
  });

  it('by returning another issuer than configured is not used', async () => {
    await begin({ authUpstream: upstream({ issuer: `${corp.issuer}/` }) });
    const body = { provider: 'corp', callbackURL: '/devices' };
    expect((await new Browser(relay).send('POST', '/auth/sign-in/social', { body })).status).toBe(503);
    const unknown = { ...body, provider: 'nobody' };
    expect((await new Browser(relay).send('POST', '/auth/sign-in/social', { body: unknown })).status).toBe(404);
  });
});

describe('GitHub', () => {
  it('identifies the account by the number of its user, and the relay takes the primary e-mail', async () => {
    const github = createServer((request, response) => {
      const path = (request.url ?? '').split('?', 1)[0];
      const answers: Record<string, unknown> = {
        '/login/oauth/access_token': { access_token: 'gho_1', token_type: 'bearer', scope: 'read:user,user:email' },
        '/api/v3/user': { id: 583231, login: 'octocat', name: null, email: null },
        '/api/v3/user/emails': [
          { email: 'old@example.com', primary: false, verified: true },
          { email: 'octo@example.com', primary: true, verified: true },
        ],
      };
      const allowed = path === '/login/oauth/access_token' || request.headers.authorization === 'Bearer gho_1';
      response.writeHead(allowed ? 200 : 401, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answers[path ?? ''] ?? {}));
    });
    github.listen(0, '127.0.0.1');
    await once(github, 'listening');
    const address = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;
    closers.push(async () => {
      const closed = once(github, 'close');
      github.close();
      github.closeAllConnections();
      await closed;
    });
    const settings = {
      kind: 'github',
      id: 'github',
      name: 'GitHub',
      clientId: 'relay',
      clientSecret: secret,
      address,
    } as const;
    await begin({ authUpstream: [settings] });
    const browser = new Browser(relay);
    const door = await leave(browser, {}, 'github');
    expect(door.href.startsWith(`${address}/login/oauth/authorize?`)).toBe(true);
    expect(door.searchParams.get('redirect_uri')).toBe(`${publicUrl}/auth/callback/github`);
    const back = await browser.send('GET', `/auth/callback/github?code=c&state=${door.searchParams.get('state')!}`);
    expect(back.headers.location).toBe(`${publicUrl}/devices`);
    expect(await me(browser)).toMatchObject({ email: 'octo@example.com', name: 'octocat' });
    expect(await relay.database.models.credential.findFirst()).toMatchObject({
      providerId: 'github',
      accountId: '583231',
    });
  });
});
