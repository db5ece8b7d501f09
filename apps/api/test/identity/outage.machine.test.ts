import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Database, openDatabase } from '@relay/database';
import { type Route, type RouteName, routes } from '@relay/protocol';
import {
  type TestPostgres,
  type TestRelay,
  Browser,
  callWith,
  connectApp,
  connectDaemon,
  invitation,
  password,
  pkce,
  refresh,
  registerDevice,
  signedInCli,
  signedInWeb,
  startPostgres,
  startRelay,
} from '@relay/testing';
import { until } from '../until.ts';

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

const pushSecret = ['p'.repeat(32)];

describeWith('postgresql', 'while the database is unavailable', () => {
  let postgres: TestPostgres;
  let database: Database;
  let relay: TestRelay;

  beforeAll(async () => {
    postgres = await startPostgres();
    database = await openDatabase({ url: await postgres.createDatabase() });
    // A ticket is used after a few hundred requests, which take longer than its usual half a minute on a busy machine.
    relay = await startRelay({ identity: true, database, config: { pushSecret, ticketTtlSeconds: 600 } });
  }, 60_000);
  afterAll(async () => {
    await relay.stop();
    await database.close();
    await postgres.stop();
  });

  it('a sign-in is unavailable and never refused, leaves no partial change, and works afterwards', async () => {
    const browser = new Browser(relay);
    await browser.signUp('alice@example.com');
    const [web, cli] = [await signedInWeb(browser), await signedInCli(browser)];
    const token = await invitation(relay);
    const signUp = () =>
      new Browser(relay).send('POST', '/auth/sign-up/email', {
        body: { email: 'bob@example.com', password, name: 'Bob', invitation: token },
      });

    await postgres.halt();
    const answers = [
      await browser.signIn('alice@example.com'),
      await signUp(),
      await browser.send('GET', '/auth/relay/me'),
      await browser.send('GET', '/auth/get-session'),
      await browser.send('POST', '/auth/sign-out', { body: {} }),
      await browser.send('POST', '/auth/relay/sign-out-everywhere', { body: {} }),
      await refresh(relay, cli.refresh_token!),
      await relay.call('GET', '/auth/jwks', { user: null }),
      await callWith(relay, web.access_token, '/api/devices'),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, (body as { code: string }).code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(headers['set-cookie']).toBeUndefined();
    }
    // The alert RelaySignInBudget uses these metrics to detect that users cannot sign in.
    const counted = await relay.apis[0]!.metrics.text();
    for (const route of ['/auth/sign-in/email', '/auth/sign-up/email', '/auth/relay/me'])
      expect(counted).toMatch(new RegExp(`relay_http_requests_total{[^}]*route="${route}"[^}]*status="503"`));

    await postgres.resume();
    expect((await browser.send('GET', '/auth/relay/me')).body).toMatchObject({ email: 'alice@example.com' });
    expect((await refresh(relay, cli.refresh_token!)).status).toBe(200);
    expect((await signUp()).status).toBe(200);
  });

  it('a failed sign-in never counts as a wrong password', async () => {
    const [browser, email] = [new Browser(relay), 'erin@example.com'];
    await browser.signUp(email);
    await postgres.halt();
    try {
      // More than an account's limit for wrong passwords.
      for (let tries = 0; tries < 25; tries += 1) expect((await new Browser(relay).signIn(email)).status).toBe(503);
    } finally {
      await postgres.resume();
    }
    expect((await new Browser(relay).signIn(email)).status).toBe(200);
  });

  it('no route rejects a valid credential, with cached or uncached keys', async () => {
    const browser = new Browser(relay);
    await browser.signUp('carol@example.com');
    const { access_token: token } = await signedInWeb(browser);
    // The api retries failed keys after a second.
    let ticket = '';
    await until('the keys are known', async () => {
      const answer = await relay.call('createTicket', { user: null, headers: bearer(token) });
      ticket = (answer.body as { ticket?: string }).ticket ?? '';
      return answer.status === 201;
    });
    const device = await registerDevice(relay);
    const cold = await startRelay({
      identity: true,
      database,
      config: { authSecret: [...relay.config.authSecret], pushSecret },
    });
    const bodies: Partial<Record<RouteName, object>> = {
      createSession: { deviceId: 'd', message: 'm' },
      changeSessions: { action: 'archive', filter: { deviceId: 'd' } },
      sendMessage: { content: 'm' },
      answerPrompt: { text: 't' },
      changeSetting: { id: 'mode', value: 'plan' },
      changeDeviceSetting: { id: 'mode', value: 'plan' },
      changeContinue: { agentType: 'claude', mode: 'ask' },
      createSchedule: { deviceId: 'x', message: 'm', cron: '0 9 * * *', zone: 'UTC', waitSeconds: 0 },
      changeSchedule: { paused: true },
      changeQueued: { content: 'm' },
      addSubscription: { kind: 'ntfy', topic: 'x' },
      changeSubscription: { state: 'paused' },
      updateSession: { title: 't' },
      updateDevice: { name: 'n' },
      ackInbox: { upToVersion: 1 },
      snoozeItem: { until: new Date(Date.now() + 3600_000).toISOString() },
      watch: { sessionId: 'd:a:n' },
      unwatch: { sessionId: 'd:a:n' },
      requestCode: { hostname: 'h', agent_type: 'a' },
      pollCode: { device_code: 'x' },
      deleteMe: { confirm: 'delete my account' },
      sendFile: { fileId: '01KKNT3B6Q4M8Z1R5T7YB3C6DE', name: 'a', size: 1 },
      createAcpToken: { deviceId: 'd' },
    };
    const queries: Partial<Record<RouteName, string>> = {
      searchMessages: '?q=two%20words',
      sendPiece: '?offset=0',
      readUsage: '?from=2026-03-01&to=2026-03-02&zone=UTC',
      previewSchedule: '?cron=0+9+*+*+*&zone=UTC',
      readDiff: '?path=a',
      readFile: '?path=a',
    };
    /** Requests that need no state except the keys. */
    const unaffected: Partial<Record<RouteName, number>> = { me: 200, createTicket: 201, previewSchedule: 200 };

    await postgres.halt();
    try {
      let asked = 0;
      for (const [where, instance] of [
        ['warm', relay],
        ['cold', cold],
      ] as const)
        for (const [name, { method, path, credential }] of Object.entries(routes) as [RouteName, Route][]) {
          // A user's token cannot answer a notification.
          if (credential === 'none' || credential === 'answer') continue;
          const address = path.replace(':userCode', 'BCDF-GHJK').replace(/:\w+/g, 'd:a:n');
          const answer = await instance.call(method, `${address}${queries[name] ?? ''}`, {
            user: null,
            headers: bearer(token),
            ...(bodies[name] ? { body: bodies[name] } : {}),
          });
          const expected = (where === 'warm' ? unaffected[name] : undefined) ?? 503;
          expect([where, name, answer.status]).toEqual([where, name, expected]);
          expect(answer.headers['www-authenticate']).toBeUndefined();
          if (expected === 503) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
          asked += 1;
        }
      expect(asked).toBeGreaterThan(30);

      const app = await connectApp(relay, { token });
      await app.close();
      await (await connectApp(relay, { token: ticket, credential: 'ticket' })).close();
      await expect(connectApp(cold, { token })).rejects.toMatchObject({ status: 503 });
      for (const instance of [relay, cold])
        await expect(connectDaemon(instance, { registration: device })).rejects.toMatchObject({
          status: 503,
          body: { code: 'SERVICE_UNAVAILABLE' },
        });
    } finally {
      await postgres.resume();
    }
    expect((await callWith(relay, token, '/api/devices')).status).toBe(200);
    await cold.stop();
  });

  it('no page of the sign-in rejects a valid cookie, or signs a user out', async () => {
    const browser = new Browser(relay);
    await browser.signUp('dave@example.com');
    const { challenge } = pkce();
    const page = await browser.authorize('relay-cli', challenge);
    const before = [...browser.cookies];
    await postgres.halt();
    try {
      const asks: [string, string, object?][] = [
        ['GET', '/auth/relay/me'],
        ['GET', '/auth/relay/status'],
        ['GET', '/auth/relay/applications'],
        ['POST', '/auth/relay/applications/revoke', { clientId: 'relay-cli' }],
        ['POST', '/auth/relay/invitations', {}],
        ['POST', '/auth/relay/invitations/check', { token: 'x' }],
        ['POST', '/auth/relay/sign-out-everywhere', {}],
        ['GET', '/auth/get-session'],
        ['POST', '/auth/update-user', { name: 'D' }],
        ['POST', '/auth/change-password', { currentPassword: password, newPassword: 'another password' }],
        ['POST', '/auth/oauth2/consent', { accept: true, oauth_query: page.search.slice(1) }],
        ['GET', `/auth/oauth2/authorize${page.search}`],
        ['GET', '/auth/oauth2/public-client?client_id=relay-cli'],
        ['GET', '/auth/jwks'],
        ['POST', '/auth/sign-out', {}],
      ];
      for (const [method, path, body] of asks) {
        const answer = await browser.send(method, path, body ? { body } : {});
        expect([path, answer.status, answer.headers['set-cookie']]).toEqual([path, 503, undefined]);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      }
      expect([...browser.cookies]).toEqual(before);
    } finally {
      await postgres.resume();
    }
    expect((await browser.send('GET', '/auth/relay/me')).body).toMatchObject({ email: 'dave@example.com' });
  });
});
