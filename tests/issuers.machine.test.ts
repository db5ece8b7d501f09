import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type IssuerSettings, readConfig } from '@relay/config';
import {
  Browser,
  type TestRelay,
  callWith,
  connectApp,
  freePort,
  send,
  signedInWeb,
  startRelay,
  startRelayProcess,
} from '@relay/testing';
import {
  type OpenIdProvider,
  type SigningAlgorithm,
  createSigningKey,
  readClaims,
  readHeader,
  startOpenIdProvider,
  writeToken,
} from './openid-provider.ts';

const audience = 'http://relay.test/api';
const allScopes = 'sessions:read sessions:write devices:read devices:write';
const redirect = 'http://127.0.0.1:9/callback';

/** The algorithm and the additional claims of the provider's next access token. */
interface Issuing {
  algorithm: SigningAlgorithm;
  claims: Record<string, unknown>;
}

interface Issuer extends OpenIdProvider {
  readonly issuing: Issuing;
  /** Gets an access token of a person, by code and PKCE. */
  tokenFor(person: string, options?: { scope?: string; resource?: string }): Promise<{ access: string; id: string }>;
  /** Gets an access token of a program without a person. */
  tokenForProgram(options?: { scope?: string; resource?: string }): Promise<string>;
}

async function startIssuer(): Promise<Issuer> {
  const issuing: Issuing = { algorithm: 'ES256', claims: {} };
  const server = await startOpenIdProvider({
    // While a provider is down, the system could give a port of its own choice to another listener.
    port: await freePort(),
    configuration: {
      clients: [
        { client_id: 'app', token_endpoint_auth_method: 'none', redirect_uris: [redirect], application_type: 'native' },
        {
          client_id: 'robot',
          client_secret: 'robot secret',
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        },
      ],
      scopes: ['openid', 'email', 'profile'],
      features: {
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: (_context, resource) => ({
            scope: `${allScopes} admin`,
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 600,
            jwt: { sign: { alg: issuing.algorithm } },
          }),
        },
      },
      extraTokenClaims: () => issuing.claims,
      enabledJWA: { idTokenSigningAlgValues: ['ES256', 'RS256', 'PS256'] },
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
    },
  });
  const exchange = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
    const answer = await send('POST', `${server.issuer}/token`, {
      raw: new URLSearchParams(form).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    });
    if (answer.status !== 200) throw new Error(`token: ${answer.status} ${answer.text}`);
    return answer.body as { access_token: string; id_token: string };
  };
  return Object.assign(server, {
    issuing,
    tokenFor: async (person: string, { scope = allScopes, resource = audience } = {}) => {
      server.visitor = person;
      const verifier = randomBytes(32).toString('base64url');
      const query = new URLSearchParams({
        client_id: 'app',
        response_type: 'code',
        redirect_uri: redirect,
        scope: `openid ${scope}`,
        resource,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      const back = await server.follow(`${server.issuer}/auth?${query.toString()}`);
      const code = back.searchParams.get('code');
      if (code === null) throw new Error(`no code: ${back.href}`);
      const form = { grant_type: 'authorization_code', client_id: 'app', redirect_uri: redirect, code, resource };
      const tokens = await exchange({ ...form, code_verifier: verifier });
      return { access: tokens.access_token, id: tokens.id_token };
    },
    tokenForProgram: async ({ scope = allScopes, resource = audience } = {}) => {
      const basic = Buffer.from(`robot:${encodeURIComponent('robot secret')}`).toString('base64');
      const form = { grant_type: 'client_credentials', scope, resource };
      return (await exchange(form, { Authorization: `Basic ${basic}` })).access_token;
    },
  });
}

/** Parses the settings like the configuration of an operator. */
const configured = (...entries: (Partial<IssuerSettings> & { issuer: string })[]) => {
  const AUTH_ISSUERS = JSON.stringify(entries.map((entry) => ({ audience, ...entry })));
  return { authIssuers: readConfig('standalone', { AUTH_ISSUERS }).authIssuers };
};
const codeOf = async (relay: TestRelay, token: string, path = '/api/me') => {
  const { status, body } = await callWith(relay, token, path);
  return [status, (body as { code?: string }).code];
};
const refused = [401, 'INVALID_TOKEN'];

let first: Issuer;
let second: Issuer;
let stranger: Issuer;
/** Accepts tokens of the first issuer. For tests that neither move the clock nor replace keys. */
let plain: TestRelay;
/** The relay of one test. */
let relay: TestRelay | undefined;

beforeAll(async () => {
  [first, second, stranger] = await Promise.all([startIssuer(), startIssuer(), startIssuer()]);
  plain = await startRelay({ config: configured({ issuer: first.issuer }) });
});
afterAll(() => Promise.all([plain.stop(), first.close(), second.close(), stranger.close()]));

beforeEach(() => {
  // Fakes the time of day only; timers and sockets use the real time.
  jest.useFakeTimers({
    doNotFake: [
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
      'setTimeout',
      'clearTimeout',
    ],
  });
});
afterEach(async () => {
  await relay?.stop();
  relay = undefined;
  jest.useRealTimers();
  Object.assign(first.issuing, { algorithm: 'ES256', claims: {} });
});

const later = (ms: number) => jest.setSystemTime(Date.now() + ms);
const begin = async (...entries: (Partial<IssuerSettings> & { issuer: string })[]): Promise<TestRelay> =>
  (relay = await startRelay({ config: configured(...entries) }));

/** The claims of a valid token of the first issuer, for forgeries. */
const goodClaims = () => {
  const now = Math.floor(Date.now() / 1000);
  return {
    iss: first.issuer,
    aud: audience,
    sub: 'alice',
    iat: now,
    exp: now + 600,
    scope: allScopes,
    jti: randomUUID(),
  };
};
const goodHeader = () => ({ alg: 'ES256', typ: 'at+jwt', kid: first.keys[0]!.kid });

describe('a token of a configured issuer', () => {
  it('works for a person by code and PKCE; discovery needs only the issuer', async () => {
    const { access } = await first.tokenFor('alice');
    expect(readHeader(access)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const { status, body } = await callWith(plain, access);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: `${first.issuer}|alice`, scopes: allScopes.split(' ') });
    const app = await connectApp(plain, { token: access });
    await app.close();
  });

  it('works for a program by client credentials', async () => {
    const here = await begin({ issuer: first.issuer, jwksUri: `${first.issuer}/jwks` });
    const token = await first.tokenForProgram({ scope: 'sessions:read' });
    expect((await callWith(here, token)).body).toMatchObject({
      id: `${first.issuer}|robot`,
      scopes: ['sessions:read'],
    });
  });

  it.each(['ES256', 'RS256', 'PS256'] as const)(
    'works when signed with %s, unless the configuration excludes that',
    async (algorithm) => {
      first.issuing.algorithm = algorithm;
      const token = await first.tokenForProgram();
      expect(readHeader(token)['alg']).toBe(algorithm);
      expect(await codeOf(plain, token)).toEqual([200, undefined]);
      const others = (['ES256', 'RS256', 'PS256'] as const).filter((name) => name !== algorithm);
      const narrow = await begin({ issuer: first.issuer, algorithms: others });
      expect(await codeOf(narrow, token)).toEqual(refused);
    },
  );

  it('is refused if it has another audience or issuer, or is not an access token', async () => {
    const elsewhere = await first.tokenFor('alice', { resource: 'https://elsewhere.example/api' });
    expect(await codeOf(plain, elsewhere.access)).toEqual(refused);
    expect(readClaims(elsewhere.id)['aud']).toBe('app');
    expect(await codeOf(plain, elsewhere.id)).toEqual(refused);
    expect(await codeOf(plain, (await stranger.tokenFor('alice')).access)).toEqual(refused);
    const asked = [...stranger.asked].filter(([path]) => path === '/jwks' || path.startsWith('/.well-known'));
    expect(asked).toEqual([]);
  });
});

describe('a forged token', () => {
  it('is refused with any forged algorithm', async () => {
    const [ec, rsa] = [first.keys[0]!, first.keys[1]!];
    for (const key of [ec, rsa])
      for (const alg of ['HS256', 'HS384', 'HS512'])
        for (const secret of [
          key.publicKey.export({ type: 'spki', format: 'pem' }),
          key.publicKey.export({ type: 'spki', format: 'der' }),
          JSON.stringify(key.publicKey.export({ format: 'jwk' })),
        ]) {
          const hmac = (text: string) => createHmac(alg.replace('HS', 'sha'), secret).update(text).digest();
          expect(await codeOf(plain, writeToken({ ...goodHeader(), alg, kid: key.kid }, goodClaims(), hmac))).toEqual(
            refused,
          );
        }
    for (const alg of ['none', 'None', 'NONE', ''])
      for (const signature of ['', 'AA'])
        expect(
          await codeOf(
            plain,
            writeToken({ ...goodHeader(), alg }, goodClaims(), () => signature),
          ),
        ).toEqual(refused);
    // The key of one algorithm with the name of another.
    expect(await codeOf(plain, writeToken({ ...goodHeader(), alg: 'RS256' }, goodClaims(), ec.privateKey))).toEqual(
      refused,
    );
    expect(await codeOf(plain, writeToken({ ...goodHeader(), kid: rsa.kid }, goodClaims(), ec.privateKey))).toEqual(
      refused,
    );
    // The same claims with a valid signature are accepted.
    expect(await codeOf(plain, writeToken(goodHeader(), goodClaims(), ec.privateKey))).toEqual([200, undefined]);
  });

  it('is refused if another issuer signed it with a known key id, or if it contains its own key', async () => {
    const mine = createSigningKey();
    const { privateKey, kid } = mine;
    const jwk = mine.publicKey.export({ format: 'jwk' });
    for (const header of [
      goodHeader(),
      { ...goodHeader(), kid },
      { ...goodHeader(), jwk },
      { ...goodHeader(), kid, jwk, jku: `${stranger.issuer}/jwks`, x5u: `${stranger.issuer}/jwks` },
    ])
      expect(await codeOf(plain, writeToken(header, goodClaims(), privateKey))).toEqual(refused);
  });

  it.each<readonly [string, Record<string, unknown>, Record<string, unknown>]>([
    ['no end', { exp: undefined }, {}],
    ['no subject', { sub: undefined }, {}],
    ['an empty subject', { sub: '' }, {}],
    ['no audience', { aud: undefined }, {}],
    ['another issuer', { iss: 'https://id.example.com' }, {}],
    ['a list of issuers', { iss: ['https://id.example.com'] }, {}],
    ['the type of a logout token', {}, { typ: 'logout+jwt' }],
    ['the type of a DPoP proof', {}, { typ: 'dpop+jwt' }],
    ['a critical extension', {}, { crit: ['x'], x: 1 }],
  ])('with %s is refused even if its issuer signed it', async (_, claims, header) => {
    const token = writeToken({ ...goodHeader(), ...header }, { ...goodClaims(), ...claims }, first.keys[0]!.privateKey);
    expect(await codeOf(plain, token)).toEqual(refused);
  });
});

describe('time', () => {
  it('can differ by five seconds', async () => {
    const here = await begin({ issuer: first.issuer });
    const { exp } = readClaims(await first.tokenForProgram()) as { exp: number };
    const signed = (claims: object) =>
      writeToken(goodHeader(), { ...goodClaims(), ...claims }, first.keys[0]!.privateKey);
    jest.setSystemTime(exp * 1000 + 4_900);
    expect(await codeOf(here, signed({ exp }))).toEqual([200, undefined]);
    jest.setSystemTime(exp * 1000 + 5_000);
    expect(await codeOf(here, signed({ exp }))).toEqual([401, 'TOKEN_EXPIRED']);
    const now = Math.floor(Date.now() / 1000);
    expect(await codeOf(here, signed({ nbf: now + 5 }))).toEqual([200, undefined]);
    expect(await codeOf(here, signed({ nbf: now + 7 }))).toEqual(refused);
  });

  it('expires a token even if it was used a moment before', async () => {
    const here = await begin({ issuer: first.issuer });
    const token = await first.tokenForProgram();
    const { exp } = readClaims(token) as { exp: number };
    jest.setSystemTime(exp * 1000 - 1_000);
    expect(await codeOf(here, token)).toEqual([200, undefined]);
    jest.setSystemTime(exp * 1000 + 5_000);
    expect(await codeOf(here, token)).toEqual([401, 'TOKEN_EXPIRED']);
  });
});

describe('several issuers', () => {
  it('keep their people apart, next to the built-in sign-in', async () => {
    relay = await startRelay({
      identity: true,
      config: configured({ issuer: first.issuer }, { issuer: second.issuer }),
    });
    const here = relay;
    const browser = new Browser(here);
    const ownId = await browser.signUp('alice@example.com');
    const own = await signedInWeb(browser);
    const tokens = [
      (await first.tokenFor('alice')).access,
      (await second.tokenFor('alice')).access,
      own.access_token,
      // A subject of another issuer that equals the id of an account here.
      (await first.tokenFor(ownId)).access,
    ];
    const ids = [];
    for (const token of tokens) ids.push((await callWith(here, token)).body.id as string);
    expect(ids).toEqual([`${first.issuer}|alice`, `${second.issuer}|alice`, ownId, `${first.issuer}|${ownId}`]);
    const code = await here.call('requestCode', { user: null, body: { hostname: 'h', agent_type: 'a' } });
    const approved = await here.call('approveCode', {
      params: { userCode: code.body.user_code },
      user: null,
      headers: { Authorization: `Bearer ${own.access_token}` },
    });
    expect(approved.status).toBe(200);
    await here.call('pollCode', { user: null, body: { device_code: code.body.device_code } });
    const devices = [];
    for (const token of tokens)
      devices.push(((await callWith(here, token, '/api/devices')).body as { devices: object[] }).devices.length);
    expect(devices).toEqual([0, 0, 1, 0]);
    // A key of one issuer cannot sign for another.
    const mixed = writeToken(goodHeader(), { ...goodClaims(), iss: second.issuer }, first.keys[0]!.privateKey);
    expect(await codeOf(here, mixed)).toEqual(refused);
    const asOurs = writeToken(goodHeader(), { ...goodClaims(), iss: here.config.publicUrl }, first.keys[0]!.privateKey);
    expect(await codeOf(here, asOurs)).toEqual(refused);
  });

  it('work in the shipped program with the built-in sign-in off', async () => {
    jest.useRealTimers();
    const AUTH_ISSUERS = JSON.stringify([
      { issuer: first.issuer, audience },
      { issuer: second.issuer, audience },
    ]);
    const shipped = await startRelayProcess({ env: { AUTH_BUILTIN: 'off', AUTH_DEV_ISSUER: 'off', AUTH_ISSUERS } });
    try {
      const me = async (token: string) =>
        (await shipped.call('me', { user: null, headers: { Authorization: `Bearer ${token}` } })).body as object;
      expect(await me((await first.tokenFor('alice')).access)).toMatchObject({ id: `${first.issuer}|alice` });
      expect(await me((await second.tokenFor('bob')).access)).toMatchObject({ id: `${second.issuer}|bob` });
      expect(await me((await stranger.tokenFor('eve')).access)).toMatchObject({ code: 'INVALID_TOKEN' });
      expect((await shipped.call('POST', '/auth/sign-in/email', { user: null, body: {} })).status).toBe(404);
      expect((await shipped.call('GET', '/.well-known/openid-configuration', { user: null })).status).toBe(404);
    } finally {
      await shipped.end('SIGTERM');
    }
  });
});

describe('the scopes of a token', () => {
  it('come from the claim that the operator names, mapped by roles, or from the default', async () => {
    first.issuing.claims = { realm_access: { roles: ['relay-admin', 'offline_access'] } };
    const here = await begin({
      issuer: first.issuer,
      scopeClaim: 'realm_access.roles',
      roleMap: { 'relay-admin': ['sessions:read', 'devices:read'], blocked: [] },
      defaultScopes: ['sessions:read'],
    });
    const scopes = async () => {
      const { body } = await callWith(here, await first.tokenForProgram());
      return (body as { scopes: string[] }).scopes;
    };
    expect(await scopes()).toEqual(['sessions:read', 'devices:read']);
    first.issuing.claims = { realm_access: { roles: ['something else'] } };
    expect(await scopes()).toEqual(['sessions:read']);
    first.issuing.claims = { realm_access: { roles: ['blocked'] } };
    expect(await scopes()).toEqual([]);
    first.issuing.claims = {};
    expect(await scopes()).toEqual(['sessions:read']);
  });

  it('are empty without scopes and a default, and the response names the missing scope', async () => {
    const token = await first.tokenForProgram({ scope: 'admin' });
    expect((await callWith(plain, token)).body).toMatchObject({ scopes: [] });
    const answer = await callWith(plain, token, '/api/sessions');
    expect(answer).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } });
    expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="sessions:read"');
    await expect(connectApp(plain, { token })).rejects.toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_SCOPE' },
    });
  });
});

describe('the keys of an issuer', () => {
  const keysAsked = () => first.asked.get('/jwks') ?? 0;

  it('can rotate: the new one works at once, the old one while it is published', async () => {
    const here = await begin({ issuer: first.issuer, jwksUri: `${first.issuer}/jwks` });
    const [old, next] = [first.keys, [createSigningKey('ec'), createSigningKey('rsa')]];
    const early = await first.tokenForProgram();
    expect(await codeOf(here, early)).toEqual([200, undefined]);

    later(60_000);
    first.setKeys([...next, ...old]);
    const fresh = await first.tokenForProgram();
    expect(readHeader(fresh)['kid']).toBe(next[0]!.kid);
    expect(await codeOf(here, fresh)).toEqual([200, undefined]);
    expect(await codeOf(here, early)).toEqual([200, undefined]);

    first.setKeys(next);
    later(60 * 60_000 + 1);
    const outlived = writeToken(goodHeader(), goodClaims(), next[0]!.privateKey);
    expect(await codeOf(here, outlived)).toEqual([200, undefined]);
    const withdrawn = writeToken({ ...goodHeader(), kid: old[0]!.kid }, goodClaims(), old[0]!.privateKey);
    expect(await codeOf(here, withdrawn)).toEqual(refused);
  });

  it('are fetched once for a flood of five hundred unknown key ids', async () => {
    const here = await begin({ issuer: first.issuer, jwksUri: `${first.issuer}/jwks` });
    expect(await codeOf(here, await first.tokenForProgram())).toEqual([200, undefined]);
    later(31_000);
    const before = keysAsked();
    const flood = await Promise.all(
      Array.from({ length: 500 }, () =>
        codeOf(here, writeToken({ ...goodHeader(), kid: randomUUID() }, goodClaims(), first.keys[0]!.privateKey)),
      ),
    );
    expect(new Set(flood.map(String))).toEqual(new Set([String(refused)]));
    expect(keysAsked()).toBe(before + 1);
    expect(await codeOf(here, await first.tokenForProgram())).toEqual([200, undefined]);
    expect(keysAsked()).toBe(before + 1);
  });

  it('work from the cache while the issuer is down', async () => {
    const here = await begin({ issuer: first.issuer });
    const [used, waiting] = [await first.tokenForProgram(), await first.tokenForProgram()];
    expect(await codeOf(here, used)).toEqual([200, undefined]);
    await first.setDown(true);
    try {
      later(120_000);
      expect(await codeOf(here, used)).toEqual([200, undefined]);
      expect(await codeOf(here, waiting)).toEqual([200, undefined]);
      const app = await connectApp(here, { token: waiting });
      await app.close();
    } finally {
      await first.setDown(false);
    }
  });

  it('that cannot be fetched lead to 503 with Retry-After on every route, never to 401', async () => {
    const token = await first.tokenForProgram();
    const here = await begin({ issuer: first.issuer });
    await first.setDown(true);
    try {
      const bearer = { Authorization: `Bearer ${token}` };
      for (const [method, path, body] of [
        ['GET', '/api/me', undefined],
        ['GET', '/api/sessions', undefined],
        ['GET', '/api/devices', undefined],
        ['DELETE', '/api/devices/d', undefined],
        ['POST', '/api/ws-tickets', undefined],
        ['POST', '/api/sessions', { deviceId: 'd', message: 'm' }],
        ['POST', '/api/devices/code', { hostname: 'h', agent_type: 'a' }],
      ] as const) {
        const answer = await here.call(method, path, { user: null, headers: bearer, ...(body ? { body } : {}) });
        expect([path, answer.status, (answer.body as { code: string }).code]).toEqual([
          path,
          503,
          'SERVICE_UNAVAILABLE',
        ]);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
        expect(answer.headers['www-authenticate']).toBeUndefined();
      }
      await expect(connectApp(here, { token })).rejects.toMatchObject({
        status: 503,
        body: { code: 'SERVICE_UNAVAILABLE' },
      });
    } finally {
      await first.setDown(false);
    }
    later(60_000);
    expect(await codeOf(here, token)).toEqual([200, undefined]);
  });
});
