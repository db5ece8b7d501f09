import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Answer,
  Browser,
  type TestRelay,
  type UpgradeRefused,
  callWith,
  opened,
  password,
  pkce,
  send,
  signedInWeb,
  startRelay,
} from '@relay/testing';
import { WebSocket } from 'ws';
import { createLibrary } from '../../src/identity/library.ts';
import { createLibraryStorage } from '../../src/identity/storage.ts';
import { openRoute } from '../../src/identity/open-paths.ts';

const publicUrl = 'https://relay.test';
const authSecret = ['a secret of all instances on one database'];
let relay: TestRelay;
let alice: Browser;

beforeAll(async () => {
  relay = await startRelay({ identity: true, config: { authSecret, publicUrl } });
  alice = new Browser(relay);
  await alice.signUp('alice@example.com');
});
afterAll(() => relay.stop());

const alive = async () => {
  expect((await alice.send('GET', '/auth/relay/me')).status).toBe(200);
};
const cookieOf = (browser: Browser) => [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

/** Every endpoint of the library that a request could reach without our allow list. */
function endpoints(): { path: string; methods: string[] }[] {
  const api = relay.apis[0]!;
  const deps = { config: relay.config, database: relay.database, backplane: api.backplane, logger: console };
  const library = createLibrary(
    deps as never,
    createLibraryStorage(relay.database, () => Promise.resolve()),
  );
  return Object.values(
    library.api as Record<string, { path?: string; options: { method?: string | string[] } }>,
  ).flatMap(({ path, options }) => (path === undefined ? [] : [{ path, methods: [options.method ?? 'GET'].flat() }]));
}

describe('B12: an e-mail address', () => {
  it.each(['alice@example.com ', ' alice@example.com', 'Alice@Example.com\t'])('signs in as %j', async (email) => {
    const answer = await new Browser(relay).send('POST', '/auth/sign-in/email', { body: { email, password } });
    expect(answer.status).toBe(200);
  });

  it('with surrounding whitespace makes no second account', async () => {
    const again = await alice.send('POST', '/auth/sign-up/email', {
      body: { email: ' alice@example.com ', password, name: 'Alice' },
    });
    expect(again.status).not.toBe(200);
  });
});

describe('headers', () => {
  afterEach(alive);

  it("over the server's limit are 431", async () => {
    const tooLarge: Record<string, string>[] = [
      { Cookie: `__Host-relay.session_token=${'x'.repeat(20_000)}` },
      { Cookie: Array.from({ length: 2_000 }, (_, index) => `cookie${index}=1`).join('; ') },
      { Authorization: `Bearer ${'x'.repeat(20_000)}` },
      { Origin: `https://${'x'.repeat(20_000)}.example` },
    ];
    for (const headers of tooLarge)
      for (const path of ['/auth/relay/me', '/api/me'])
        expect((await send('GET', `${relay.url}${path}`, { headers })).status).toBe(431);
    expect((await send('GET', `${relay.url}/auth/oauth2/authorize?state=${'x'.repeat(20_000)}`)).status).toBe(431);
  });

  it('with meaningless cookies are unauthenticated', async () => {
    const signed = alice.cookies.get('__Host-relay.session_token')!;
    for (const cookie of [
      '',
      ';;;',
      '=',
      '__Host-relay.session_token',
      '__Host-relay.session_token=',
      '__Host-relay.session_token=%',
      '__Host-relay.session_token=%00',
      '__Host-relay.session_token="x"',
      '__Host-relay.session_token=a.b',
      `__Host-relay.session_token=${signed.slice(0, -4)}`,
      `__Host-relay.session_token=${signed.split('.')[0]!}`,
      `__Host-relay.session_token=${signed.split('.')[0]!}.${'A'.repeat(43)}%3D`,
      `__Host-relay.session_token=${'x'.repeat(12_000)}`,
      Array.from({ length: 500 }, (_, index) => `c${index}=1`).join('; '),
    ]) {
      const answer = await send('GET', `${relay.url}/auth/relay/me`, { headers: { Cookie: cookie } });
      expect([cookie.slice(0, 60), answer.status]).toEqual([cookie.slice(0, 60), 401]);
    }
  });
});

describe('a redirect address of the web app', () => {
  const origin = publicUrl;
  it.each([
    `${origin}/callback/`,
    `${origin}//callback`,
    `${origin}/callback?`,
    `${origin}/callback?a=b`,
    `${origin}/callback#`,
    `${origin}/callback#a`,
    `${origin}/Callback`,
    `${origin}/callback.`,
    `${origin}/callback%2F`,
    `${origin}/callback%20`,
    `${origin}/%63allback`,
    `${origin}/a/../callback`,
    `${origin}/callback;a`,
    `${origin}/callback\\`,
    `${origin}:443/callback`,
    `${origin}:8080/callback`,
    `${origin}./callback`,
    'HTTPS://relay.test/callback',
    'https://RELAY.test/callback',
    'http://relay.test/callback',
    'https://x.relay.test/callback',
    'https://relay.test.evil.example/callback',
    'https://relay.test@evil.example/callback',
    'https://evil@relay.test/callback',
    'https:/relay.test/callback',
    'https:relay.test/callback',
    '//relay.test/callback',
    '/callback',
    'callback',
    'http://127.0.0.1/callback',
    'io.relay.mobile:/callback',
    'data:text/html,x',
  ])('that is %j gets no code', async (redirect) => {
    const where = await alice.authorize('relay-web', pkce().challenge, { redirect_uri: redirect });
    expect(`${where.origin}${where.pathname}`).toBe(`${relay.config.publicUrl}/error`);
    expect(where.searchParams.get('code')).toBeNull();
  });

  it.each([` ${origin}/callback`, `${origin}/callback `, `${origin}/callback\t`, `\n${origin}/callback`])(
    'with a space, %j, is refused',
    async (redirect) => {
      const query = new URLSearchParams({ client_id: 'relay-web', response_type: 'code', redirect_uri: redirect });
      const answer = await alice.send('GET', `/auth/oauth2/authorize?${query.toString()}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    },
  );

  it('that matches the registered one gets a code', async () => {
    const where = await alice.authorize('relay-web', pkce().challenge, { redirect_uri: `${publicUrl}/callback` });
    expect(where.href.startsWith(`${publicUrl}/callback?`)).toBe(true);
    expect(where.searchParams.get('code')).not.toBeNull();
  });

  it('of the mobile app must be exactly its own scheme', async () => {
    for (const redirect of [
      'io.relay.mobile:/callback/',
      'io.relay.mobile://callback',
      'io.relay.mobile:///callback',
      'io.relay.mobile:callback',
      'IO.relay.mobile:/callback',
      'io.relay.mobile.evil:/callback',
      'http://127.0.0.1:1/callback',
    ]) {
      const where = await alice.authorize('relay-mobile', pkce().challenge, { redirect_uri: redirect });
      expect([redirect, where.pathname, where.searchParams.get('code')]).toEqual([redirect, '/error', null]);
    }
  });
});

describe('a password', () => {
  let open: TestRelay;
  beforeAll(async () => {
    open = await startRelay({
      identity: true,
      database: relay.database,
      config: { authSecret, publicUrl, authSignup: 'open' },
    });
  });
  afterAll(() => open.stop());

  const bodies = (value: unknown) => ({ email: 'x@example.com', name: 'X', password: value });
  it.each<readonly [string, unknown]>([
    ['of nine characters', 'x'.repeat(9)],
    ['of 10,000 characters', 'x'.repeat(10_000)],
    ['that is empty', ''],
    ['that is missing', undefined],
    ['that is a number', 1_234_567_890],
    ['that is a list', ['x'.repeat(10)]],
    ['that is null', null],
  ])('%s neither creates an account nor replaces a password', async (_, value) => {
    const before = await relay.database.models.user.count();
    const answer = await new Browser(open).send('POST', '/auth/sign-up/email', { body: bodies(value) });
    expect(answer.status).toBe(400);
    expect(await relay.database.models.user.count()).toBe(before);
    const change = await alice.send('POST', '/auth/change-password', {
      body: { currentPassword: password, newPassword: value },
    });
    expect(change.status).toBe(400);
    expect((await new Browser(relay).signIn('alice@example.com')).status).toBe(200);
  });

  it('of 10,000 characters fails at the sign-in, like any other wrong one', async () => {
    const answer = await new Browser(relay).signIn('alice@example.com', 'x'.repeat(10_000));
    expect([400, 401]).toContain(answer.status);
    await alive();
  });
});

describe('a name', () => {
  it('over 200 characters is refused, because every token carries it', async () => {
    const answer = await alice.send('POST', '/auth/update-user', { body: { name: 'x'.repeat(201) } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'NAME_TOO_LONG' } });
    expect((await alice.send('POST', '/auth/update-user', { body: { name: 'x'.repeat(200) } })).status).toBe(200);
    expect((await callWith(relay, (await signedInWeb(alice)).access_token)).status).toBe(200);
  });
});

describe('a redirect target after the sign-in', () => {
  const evil = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https://relay.test.evil.example',
    'https://relay.test@evil.example',
    'javascript:alert(1)',
    '/%5cevil.example',
    '/\tevil.example',
  ];

  const leadsOut = (answer: Answer): boolean =>
    [answer.headers.location, (answer.body as { url?: string } | undefined)?.url].some(
      (target) => target !== undefined && new URL(target, 'https://relay.test/').origin !== 'https://relay.test',
    );

  it('on another site is never followed', async () => {
    for (const target of evil)
      for (const field of ['callbackURL', 'redirectTo', 'errorCallbackURL', 'newUserCallbackURL']) {
        const answer = await new Browser(relay).send('POST', '/auth/sign-in/email', {
          body: { email: 'alice@example.com', password, [field]: target },
        });
        expect([target, field, answer.status === 403 || !leadsOut(answer)]).toEqual([target, field, true]);
      }
  });

  it('on another site is never followed from any other endpoint', async () => {
    const params = [
      'callbackURL',
      'redirectTo',
      'redirect_uri',
      'post_logout_redirect_uri',
      'errorURL',
      'errorCallbackURL',
    ];
    for (const { path } of endpoints())
      for (const target of evil.slice(0, 4)) {
        const query = new URLSearchParams(params.map((name): [string, string] => [name, target])).toString();
        const address = `/auth${path.replace(/:\w+/g, 'x')}?${query}&client_id=relay-web&state=x&token=x&error=x`;
        const answer = await alice.send('GET', address, { headers: { Accept: 'text/html' } });
        expect([path, target, leadsOut(answer) && answer.headers.location]).toEqual([path, target, false]);
        expect(answer.status).toBeLessThan(500);
      }
    await alive();
  });
});

describe('a cross-site request', () => {
  const foreign: Record<string, string>[] = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: 'https://relay.test.evil.example' },
    { Origin: 'https://evil-relay.test' },
    { Origin: 'http://relay.test' },
    { Origin: 'https://relay.test:8080' },
    { Origin: 'https://evil.example', Referer: 'https://relay.test/' },
    { Referer: 'https://evil.example/https://relay.test/' },
    {},
  ];

  it('opens no socket: the cookie of a sign-in counts for nothing there, also from our own origin', async () => {
    const victim = new Browser(relay);
    await victim.signUp('socket@example.com');
    expect((await victim.send('GET', '/auth/relay/me')).status).toBe(200);
    for (const path of ['/ws/attention', '/acp/device'])
      for (const origin of [publicUrl, 'https://evil.example']) {
        const headers = { Cookie: cookieOf(victim), Origin: origin };
        const socket = new WebSocket(`${relay.url.replace('http', 'ws')}${path}`, { headers });
        const refused = (await opened(socket).catch((error: unknown) => error)) as UpgradeRefused;
        expect([path, origin, refused.status]).toEqual([path, origin, origin === publicUrl ? 401 : 403]);
      }
  });

  it('changes nothing on any endpoint: a foreign or missing origin is 403 whenever the request has a cookie', async () => {
    const victim = new Browser(relay);
    await victim.signUp('victim@example.com');
    const rows = () =>
      Promise.all([
        relay.database.models.login.count(),
        relay.database.models.user.findMany({ orderBy: { id: 'asc' } }),
        relay.database.models.oauthConsent.count(),
        relay.database.models.invitation.count(),
      ]);
    const before = await rows();
    const doors = endpoints().filter(({ path }) => openRoute(path.replace(/:\w+/g, 'x'))?.methods.includes('POST'));
    expect(doors.length).toBeGreaterThan(12);
    const types = ['application/json', 'text/plain', 'application/x-www-form-urlencoded'];
    // Each endpoint gets each header and each type; a third of the endpoints gets each pair.
    for (const [at, { path }] of doors.entries())
      for (const [n, headers] of foreign.entries()) {
        const type = types[(at + n) % types.length]!;
        const raw = type === 'application/x-www-form-urlencoded' ? 'a=b' : '{"token":"x"}';
        const answer = await send('POST', `${relay.url}/auth${path.replace(/:\w+/g, 'x')}`, {
          raw,
          headers: { Cookie: cookieOf(victim), 'Content-Type': type, ...headers },
        });
        const refused = [403, 415].includes(answer.status);
        expect([path, headers, type, answer.status, refused]).toEqual([path, headers, type, answer.status, true]);
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
    expect(await rows()).toEqual(before);
    expect((await victim.send('GET', '/auth/relay/me')).status).toBe(200);
  });
});

describe('a sign-in', () => {
  it('adopts no session from the browser: an attacker cannot plant one', async () => {
    const attacker = new Browser(relay);
    await attacker.signUp('attacker@example.com');
    const planted = cookieOf(attacker);
    const victim = new Browser(relay);
    for (const [name, value] of attacker.cookies) victim.cookies.set(name, value);
    await victim.signIn('alice@example.com');
    expect(cookieOf(victim)).not.toBe(planted);
    expect((await victim.send('GET', '/auth/relay/me')).body).toMatchObject({ email: 'alice@example.com' });
    // The planted cookie still belongs to the attacker alone.
    expect((await attacker.send('GET', '/auth/relay/me')).body).toMatchObject({ email: 'attacker@example.com' });
    // An invented value does not become a session.
    const invented = new Browser(relay);
    invented.cookies.set('__Host-relay.session_token', 'chosen-by-an-attacker.AAAA');
    await invented.signIn('alice@example.com');
    expect(invented.cookies.get('__Host-relay.session_token')).not.toContain('chosen-by-an-attacker');
    const first = cookieOf(invented);
    await invented.signIn('alice@example.com');
    expect(cookieOf(invented)).not.toBe(first);
  });

  it('does not reveal on failure whether the account exists', async () => {
    const answers = [];
    for (const email of ['alice@example.com', 'nobody@example.com', 'ALICE@EXAMPLE.COM'])
      for (const secret of ['wrong password', 'x']) answers.push(await new Browser(relay).signIn(email, secret));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => headers['set-cookie'])).size).toBe(1);
  });
});

describe('a stranger without the right to create an account', () => {
  it.each(['invite', 'closed'] as const)(
    'gets the same answer, whether or not the account exists (%s)',
    async (authSignup) => {
      const here = await startRelay({
        identity: true,
        database: relay.database,
        config: { authSecret, publicUrl, authSignup },
      });
      const answers = [];
      for (const email of ['alice@example.com', 'nobody@example.com', 'not an address'])
        for (const more of [{}, { invitation: 'x' }, { password: 'short' }]) {
          const body = { email, password, name: 'X', ...more };
          answers.push(await new Browser(here).send('POST', '/auth/sign-up/email', { body }));
        }
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
      expect(new Set(answers.filter((_, index) => index % 3 !== 1).map(({ text }) => text)).size).toBe(1);
      expect(new Set(answers.filter((_, index) => index % 3 === 1).map(({ text }) => text)).size).toBe(1);
      await here.stop();
    },
  );
});

describe('the library behind the endpoints', () => {
  it('is reachable only where the relay needs it', async () => {
    const closed = endpoints().filter(({ path }) => !openRoute(path.replace(/:\w+/g, 'x')) && path !== '/jwks');
    expect(closed.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        '/token',
        '/error',
        '/ok',
        '/list-sessions',
        '/oauth2/create-client',
        '/oauth2/register',
      ]),
    );
    for (const { path, methods } of closed)
      for (const method of methods) {
        const answer = await alice.send(
          method,
          `/auth${path.replace(/:\w+/g, 'x')}`,
          method === 'GET' ? {} : { body: {} },
        );
        expect([path, answer.status, answer.body]).toEqual([path, 404, expect.objectContaining({ code: 'NOT_FOUND' })]);
      }
  });

  it('accepts only the intended methods', async () => {
    for (const [method, path] of [
      ['GET', '/sign-out'],
      ['POST', '/oauth2/authorize'],
      ['POST', '/callback/corp'],
      ['PUT', '/update-user'],
    ] as const) {
      const answer = await alice.send(method, `/auth${path}`, method === 'GET' ? {} : { body: {} });
      expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
      expect(answer.headers.allow).toBeDefined();
    }
  });

  it('cannot be reached through another spelling of a path', async () => {
    for (const path of [
      '/token/',
      '//token',
      '/%74oken',
      '/TOKEN',
      '/relay/../token',
      '/./token',
      '/token;x',
      '/token%2f',
      '/sign-out/..;/token',
    ])
      expect([path, (await alice.send('GET', `/auth${path}`)).status]).toEqual([path, 404]);
  });
});
