import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { type Route, type RouteName, routes } from '@relay/protocol';
import { type Answer, type TestIssuer, type TestRelay, connectApp, startIssuer, startRelay } from '@relay/testing';
import { expectLimitHeaders, expectRefusal, expectSuccess } from '../answers.ts';
import { bearer } from '../credentials.ts';
import { type LosableDatabase, openLosableDatabase } from '../lost-database.ts';
import { until } from '../until.ts';

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const concrete = (path: string) => path.replaceAll(/:\w+/g, 'x');

describe('authentication of a request', () => {
  let relay: TestRelay;
  let stranger: TestIssuer;
  beforeAll(async () => {
    relay = await startRelay();
    stranger = await startIssuer();
  });
  afterAll(async () => {
    await relay.stop();
    await stranger.close();
  });

  const me = (headers: Record<string, string>): Promise<Answer> => relay.call('me', { user: null, headers });
  const claims = () => ({
    iss: relay.issuer.config.issuer,
    aud: relay.issuer.config.audience,
    sub: 'alice',
    exp: Math.floor(Date.now() / 1000) + 600,
  });

  it('answers a missing credential with a challenge', async () => {
    const answer = await me({});
    expectRefusal(answer, 'UNAUTHORIZED');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expectLimitHeaders(answer);
  });

  it.each(['Basic YTpi', 'Bearer', 'Bearer ', 'bearer a b', 'Bearer <x>', 'Token x', ''])(
    'refuses the header %j',
    async (Authorization) => {
      const answer = await me({ Authorization });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    },
  );

  it('accepts any spelling of the scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  '])
      expectSuccess('me', 200, await me({ Authorization: `${scheme} ${relay.token()}` }));
  });

  describe('refuses a token that', () => {
    const refused = async (token: string, code: 'INVALID_TOKEN' | 'TOKEN_EXPIRED' = 'INVALID_TOKEN') => {
      const answer = await me(bearer(token));
      expectRefusal(answer, code);
      expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
      expect(answer.text).not.toContain(token);
      expectLimitHeaders(answer);
    };

    it('is garbage', () => refused('a.b.c'));
    it('has expired', () => refused(relay.token('alice', { expiresInSeconds: -60 }), 'TOKEN_EXPIRED'));
    it('comes from an issuer that is not trusted', () => refused(stranger.token('alice')));
    it('is meant for another audience', () => refused(relay.token('alice', { audience: 'https://elsewhere/api' })));
    it('was signed with another key', () =>
      refused(relay.token('alice', { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey })));
    it('was changed after it was signed', () => {
      const [header, , signature] = relay.token('alice').split('.');
      return refused(`${header}.${base64url({ ...claims(), sub: 'admin' })}.${signature}`);
    });
    it('is not signed', () => refused(`${base64url({ alg: 'none', typ: 'JWT' })}.${base64url(claims())}.`));
    it('is signed with a public secret: the public key', async () => {
      const jwks = await (await fetch(relay.issuer.config.jwksUri!)).text();
      const text = `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url(claims())}`;
      await refused(`${text}.${createHmac('sha256', jwks).update(text).digest('base64url')}`);
    });
    it('is in the query, which REST does not read', async () => {
      expectRefusal(await relay.call('GET', `/api/me?access_token=${relay.token()}`, { user: null }), 'UNAUTHORIZED');
    });
  });

  it('refuses a revoked user or sign-in, also on instances that saw the token before', async () => {
    const control = (body: Record<string, unknown>) =>
      relay.gateways[0]!.backplane.publishControl(JSON.stringify({ v: 1, kind: 'user_revoked', ...body }));
    const [eve, laptop, phone] = [
      relay.token('eve'),
      relay.token('frank', { login: 'laptop' }),
      relay.token('frank', { login: 'phone' }),
    ];
    for (const token of [eve, laptop, phone]) expectSuccess('me', 200, await me(bearer(token)));
    // The revocation closes a live socket of each: then it has arrived.
    const sockets = await Promise.all([eve, laptop].map((token) => connectApp(relay, { token })));
    await control({ subject: relay.issuer.userId('eve') });
    await control({ login: 'laptop' });
    await Promise.all(sockets.map(({ closed }) => closed));
    for (const token of [eve, laptop]) expectRefusal(await me(bearer(token)), 'TOKEN_REVOKED');
    expectSuccess('me', 200, await me(bearer(phone)));
  });
});

/** A user's token is invalid for a notification, also during an outage. */
const codeOf = ({ credential }: Route) => (credential === 'answer' ? 'INVALID_TOKEN' : 'SERVICE_UNAVAILABLE');

describe('while the keys of the issuer cannot be fetched', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  it('every route that needs them answers 503 with a retry time, never 401, and recovers', async () => {
    relay.issuer.setDown(true);
    for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
      const answer = await relay.call(route.method, concrete(route.path), route.body ? { body: {} } : {});
      if (route.credential === 'none') expect({ name, status: answer.status }).toEqual({ name, status: 200 });
      else expectRefusal(answer, codeOf(route));
    }
    await expect(connectApp(relay)).rejects.toMatchObject({
      status: 503,
      body: { code: 'SERVICE_UNAVAILABLE' },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
    relay.issuer.setDown(false);
    let answer = await relay.call('me');
    await until('the keys are here', async () => {
      answer = await relay.call('me');
      return answer.status !== 503;
    });
    expectSuccess('me', 200, answer);
  });

  it('known tokens still work', async () => {
    const known = bearer(relay.token());
    expectSuccess('me', 200, await relay.call('me', { user: null, headers: known }));
    relay.issuer.setDown(true);
    expectSuccess('me', 200, await relay.call('me', { user: null, headers: known }));
    expectSuccess('me', 200, await relay.call('me', { user: 'new, by the same key' }));
    relay.issuer.setDown(false);
  });
});

describe('while the database is unavailable', () => {
  let relay: TestRelay;
  let database: LosableDatabase;
  beforeAll(async () => {
    database = await openLosableDatabase();
    relay = await startRelay({ database, config: { pushSecret: ['p'.repeat(32)] } });
  });
  afterAll(async () => {
    database.find();
    await relay.stop();
    await database.close();
  });

  const bodies: Partial<Record<RouteName, unknown>> = {
    createSession: { deviceId: 'x', message: 'y' },
    changeSessions: { action: 'archive', filter: { deviceId: 'x' } },
    sendMessage: { content: 'x' },
    answerPrompt: { text: 'x' },
    changeSetting: { id: 'x', value: 'y' },
    changeQueued: { content: 'x' },
    addSubscription: { kind: 'ntfy', topic: 'x' },
    changeSubscription: { state: 'paused' },
    updateSession: { title: 'x' },
    updateDevice: { name: 'x' },
    requestCode: { hostname: 'h', agent_type: 'a' },
    pollCode: { device_code: 'x' },
    ackInbox: { upToVersion: 1 },
    snoozeItem: { until: new Date(Date.now() + 3600_000).toISOString() },
    watch: { sessionId: 'a:b:c' },
    unwatch: { sessionId: 'a:b:c' },
    deleteMe: { confirm: 'delete my account' },
    sendFile: { fileId: '01KKNT3B6Q4M8Z1R5T7YB3C6DE', name: 'a', size: 1 },
    createAcpToken: { deviceId: 'x' },
    changeDeviceSetting: { id: 'x', value: 'y' },
    changeContinue: { agentType: 'claude', mode: 'ask' },
    createSchedule: { deviceId: 'x', message: 'm', cron: '0 9 * * *', zone: 'UTC', waitSeconds: 0 },
    changeSchedule: { paused: true },
  };
  const queries: Partial<Record<RouteName, string>> = {
    searchMessages: '?q=two%20words',
    sendPiece: '?offset=0',
    readUsage: '?from=2026-03-01&to=2026-03-02&zone=UTC',
    previewSchedule: '?cron=0+9+*+*+*&zone=UTC',
    readDiff: '?path=a',
    readFile: '?path=a',
  };
  const withoutDatabase: RouteName[] = [
    'health',
    'openapi',
    'asyncapi',
    'me',
    'createTicket',
    'ready',
    'previewSchedule',
  ];
  const pathOf = (route: Route) =>
    route.path.replace(':userCode', 'BCDF-GHJK').replace(':id', 'a%3Ab%3Ac').replace(/:\w+/, 'x');

  it('routes that need it answer 503 with a retry time, never 401, and other routes work', async () => {
    database.lose();
    for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
      const body = bodies[name];
      const path = `${pathOf(route)}${queries[name] ?? ''}`;
      const answer = await relay.call(route.method, path, body === undefined ? {} : { body });
      if (withoutDatabase.includes(name))
        expect({ name, status: answer.status < 300 || name === 'ready' }).toEqual({ name, status: true });
      else expectRefusal(answer, codeOf(route));
    }
    const device = bearer('rly_drt_garbage');
    expectRefusal(
      await relay.call('deleteDevice', { params: { id: 'x' }, user: null, headers: device }),
      'INVALID_TOKEN',
    );
    const app = await connectApp(relay);
    await app.close();
    database.find();
    expectSuccess('listSessions', 200, await relay.call('listSessions'));
  });

  it('a device that unregisters gets 503, not the error of an invalid credential', async () => {
    const code = await relay.call('requestCode', { user: null, body: { hostname: 'h', agent_type: 'a' } });
    await relay.call('approveCode', { params: { userCode: code.body.user_code } });
    const { body } = await relay.call('pollCode', { user: null, body: { device_code: code.body.device_code } });
    const leave = () =>
      relay.call('deleteDevice', { params: { id: body.device_id }, user: null, headers: bearer(body.refresh_token) });
    database.lose();
    expectRefusal(await leave(), 'SERVICE_UNAVAILABLE');
    database.find();
    expectSuccess('deleteDevice', 204, await leave());
  });
});
