import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { until } from './cluster/until.ts';
import { type Database, openDatabase } from '@relay/database';
import {
  Browser,
  type TestApp,
  type TestPostgres,
  type TestRelay,
  callWith,
  callerOf,
  connectApp,
  connectDaemon,
  invitation,
  password,
  pkce,
  redeem,
  refresh,
  send,
  signedInCli,
  signedInWeb,
  startPostgres,
  startRelay,
} from '@relay/testing';
import { type RoundRobin, startRoundRobin } from './round-robin.ts';

/** Promise: every instance gives the same result, even if consecutive requests reach different instances. */
describeWith('postgresql', 'two apis and two gateways on PostgreSQL, behind a round robin', () => {
  let postgres: TestPostgres;
  let database: Database;
  let balancer: RoundRobin;
  let relay: TestRelay;
  /** The same relay, behind the round robin. */
  let outside: TestRelay;
  let people = 0;

  const urls = (doors: readonly { url: string }[]) => doors.map(({ url }) => url);
  beforeAll(async () => {
    postgres = await startPostgres();
    database = await openDatabase({ url: await postgres.createDatabase() });
    balancer = await startRoundRobin();
    relay = await startRelay({
      identity: true,
      apis: 2,
      gateways: 2,
      database,
      config: { publicUrl: balancer.url, trustProxy: 1, expiryToleranceMs: 200 },
    });
    balancer.behind(urls(relay.apis), urls(relay.gateways));
    outside = {
      ...relay,
      url: balancer.url,
      apis: [{ ...relay.apis[0]!, url: balancer.url }],
      gateways: [{ ...relay.gateways[0]!, url: balancer.url }],
      call: callerOf([balancer.url], (user) => relay.token(user)),
    };
  }, 120_000);
  afterAll(async () => {
    await relay.stop();
    await balancer.close();
    await database.close();
    await postgres.stop();
  });

  async function person(): Promise<Browser & { email: string }> {
    people += 1;
    const email = `person${people}@example.com`;
    const browser = new Browser(outside);
    await browser.signUp(email);
    return Object.assign(browser, { email });
  }
  const bearer = (accessToken: string) => ({ Authorization: `Bearer ${accessToken}` });
  const ask = async () => {
    const body = { hostname: 'desk', agent_type: 'scripted' };
    return (await outside.call('requestCode', { user: null, body })).body as {
      user_code: string;
      device_code: string;
    };
  };
  const approve = (accessToken: string, userCode: string) =>
    outside.call('approveCode', { params: { userCode }, user: null, headers: bearer(accessToken) });
  const poll = (deviceCode: string) => outside.call('pollCode', { user: null, body: { device_code: deviceCode } });
  const codeOf = async (accessToken: string) => (await callWith(outside, accessToken)).body.code as string | undefined;
  /** One app on each instance. */
  const apps = (accessToken: string): Promise<TestApp[]> =>
    Promise.all([connectApp(outside, { token: accessToken }), connectApp(outside, { token: accessToken })]);

  it('serve a sign-in, a consent, and the renewal, use and revocation of tokens', async () => {
    const { email } = await person();
    const before = [...balancer.counts.apis];
    const browser = new Browser(outside);
    const { verifier, challenge } = pkce();
    const page = await browser.authorize('relay-cli', challenge);
    expect(page.pathname).toBe('/sign-in');
    const signedIn = await browser.send('POST', '/auth/sign-in/email', {
      body: { email, password, oauth_query: page.search.slice(1) },
    });
    const asked = new URL(signedIn.body.url as string, outside.url);
    expect(asked.pathname).toBe('/consent');
    const code = (await browser.consent(asked)).searchParams.get('code')!;
    const first = (await redeem(outside, 'relay-cli', code, verifier)).body as Record<string, string>;
    expect((await redeem(outside, 'relay-cli', code, verifier)).body.error).toBe('invalid_grant');

    // The issue time of a token is in whole seconds: the replay of the code also revokes tokens of the same second.
    const replayedAt = Math.floor(Date.now() / 1000);
    await until('the next second has begun', () => Math.floor(Date.now() / 1000) > replayedAt);

    const again = await signedInCli(browser);
    const user = (await send('GET', `${outside.url}/auth/oauth2/userinfo`, { headers: bearer(again.access_token) }))
      .body;
    expect(user).toMatchObject({ email, sub: (await browser.send('GET', '/auth/relay/me')).body.id as string });
    let refreshToken = again.refresh_token!;
    for (let turn = 0; turn < 5; turn += 1) {
      const { status, body } = await refresh(outside, refreshToken);
      expect(status).toBe(200);
      expect(body.refresh_token).not.toBe(refreshToken);
      refreshToken = body.refresh_token as string;
      expect((await callWith(outside, body.access_token as string, '/api/sessions')).status).toBe(200);
    }
    await browser.send('POST', '/auth/oauth2/revoke', {
      form: { token: refreshToken, token_type_hint: 'refresh_token', client_id: 'relay-cli' },
    });
    expect((await refresh(outside, refreshToken)).body.error).toBe('invalid_grant');
    // The replay of the code revoked the tokens of its first use.
    expect((await refresh(outside, first['refresh_token']!)).body.error).toBe('invalid_grant');
    const served = balancer.counts.apis.map((count, index) => count - (before[index] ?? 0));
    expect(Math.abs(served[0]! - served[1]!)).toBeLessThanOrEqual(1);
  });

  it('accept at most one of ten concurrent uses of a code, and leave one valid refresh token after two concurrent refreshes', async () => {
    const browser = await person();
    const { verifier, challenge } = pkce();
    const code = await browser.code('relay-cli', challenge);
    const uses = await Promise.all(Array.from({ length: 10 }, () => redeem(outside, 'relay-cli', code, verifier)));
    expect(uses.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(uses.filter(({ status }) => status >= 500)).toEqual([]);

    for (let round = 0; round < 5; round += 1) {
      const { refresh_token: shared } = await signedInCli(browser);
      const tabs = await Promise.all([refresh(outside, shared!), refresh(outside, shared!)]);
      const winner = tabs.find(({ status }) => status === 200);
      const again = await refresh(outside, shared!);
      expect(again.body.refresh_token).toBe(winner!.body.refresh_token);
      expect((await refresh(outside, again.body.refresh_token as string)).status).toBe(200);
    }
  });

  it('create one account from concurrent uses of one invitation', async () => {
    for (let round = 0; round < 3; round += 1) {
      const secret = await invitation(outside);
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          new Browser(outside).send('POST', '/auth/sign-up/email', {
            body: { email: `round${round}-${index}@example.com`, password, name: 'A', invitation: secret },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403, 403]);
    }
  });

  describe('the registration of a device', () => {
    it('gives three concurrent polls the same credential, and creates one device', async () => {
      const { access_token: alice } = await signedInWeb(await person());
      for (let round = 0; round < 5; round += 1) {
        const { user_code: userCode, device_code: deviceCode } = await ask();
        expect((await approve(alice, userCode)).status).toBe(200);
        const answers = await Promise.all([1, 2, 3].map(() => poll(deviceCode)));
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
        expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      }
      expect((await callWith(outside, alice, '/api/devices')).body.devices).toHaveLength(5);
    });

    it('belongs to exactly one of two people who approve it concurrently', async () => {
      const [alice, bob] = [await signedInWeb(await person()), await signedInWeb(await person())];
      const tokens = [alice.access_token, bob.access_token];
      for (let round = 0; round < 10; round += 1) {
        const { user_code: userCode, device_code: deviceCode } = await ask();
        const answers = await Promise.all(tokens.map((one) => approve(one, userCode)));
        expect(answers.map(({ status }) => status === 200).sort()).toEqual([false, true]);
        const loser = answers.find(({ status }) => status !== 200)!;
        expect(['CODE_NOT_FOUND', 'CODE_ALREADY_USED']).toContain(loser.body.code);
        const { deviceId } = (await poll(deviceCode)).body as { deviceId: string };
        const owners = [];
        for (const one of tokens) {
          const { devices } = (await callWith(outside, one, '/api/devices')).body as { devices: { id: string }[] };
          owners.push(devices.some(({ id }) => id === deviceId));
        }
        expect(owners).toEqual(answers.map(({ status }) => status === 200));
      }
    });

    it('accepts one of two concurrent approvals by one person, and refuses a later denial', async () => {
      const { access_token: alice } = await signedInWeb(await person());
      const { user_code: userCode, device_code: deviceCode } = await ask();
      const answers = await Promise.all([approve(alice, userCode), approve(alice, userCode)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      const deny = await outside.call('denyCode', { params: { userCode }, user: null, headers: bearer(alice) });
      expect(deny.body.code).toBe('CODE_ALREADY_USED');
      expect((await poll(deviceCode)).status).toBe(200);
    });

    it('is revoked with the device: its socket closes on any instance, and every gateway refuses its credential', async () => {
      const { access_token: alice } = await signedInWeb(await person());
      for (let round = 0; round < 4; round += 1) {
        const { user_code: userCode, device_code: deviceCode } = await ask();
        await approve(alice, userCode);
        const { deviceId, refreshToken } = (await poll(deviceCode)).body as { deviceId: string; refreshToken: string };
        const registration = { deviceId, refreshToken, agentType: 'scripted', user: 'nobody' };
        const daemon = await connectDaemon(outside, { registration });
        const removal = await outside.call('deleteDevice', {
          params: { id: deviceId },
          user: null,
          headers: bearer(alice),
        });
        expect(removal.status).toBe(204);
        expect((await daemon.closed).code).toBe(4404);
        for (let attempt = 0; attempt < 2; attempt += 1)
          await expect(connectDaemon(outside, { registration })).rejects.toMatchObject({ status: 401 });
      }
      expect(balancer.counts.gateways.every((count) => count >= 4)).toBe(true);
    });
  });

  describe('a sign-out', () => {
    it('closes the sockets of its sign-in on every instance, and revokes its tokens', async () => {
      const browser = await person();
      const [web, cli] = [await signedInWeb(browser), await signedInCli(browser)];
      const open = [...(await apps(web.access_token)), ...(await apps(cli.access_token))];
      expect((await browser.send('POST', '/auth/sign-out', { body: {} })).status).toBe(200);
      for (const app of open) expect((await app.closed).code).toBe(4401);
      for (const { access_token: one } of [web, cli, web, cli]) expect(await codeOf(one)).toBe('TOKEN_REVOKED');
      for (let turn = 0; turn < 2; turn += 1)
        expect((await refresh(outside, cli.refresh_token!)).body.error).toBe('invalid_grant');
    });

    it('everywhere closes every socket of the person, and leaves other people connected', async () => {
      const [browser, other] = [await person(), await person()];
      const second = new Browser(outside);
      await second.signIn(browser.email);
      const mine = [await signedInWeb(browser), await signedInCli(browser), await signedInWeb(second)];
      const theirs = await signedInWeb(other);
      const open = (await Promise.all(mine.map(({ access_token: one }) => apps(one)))).flat();
      const spared = await apps(theirs.access_token);
      await second.send('POST', '/auth/relay/sign-out-everywhere', { body: {} });
      for (const app of open) expect((await app.closed).code).toBe(4401);
      for (const { access_token: one } of [...mine, ...mine]) expect(await codeOf(one)).toBe('TOKEN_REVOKED');
      for (let turn = 0; turn < 2; turn += 1) {
        expect((await browser.send('GET', '/auth/relay/me')).status).toBe(401);
        expect(await codeOf(theirs.access_token)).toBeUndefined();
      }
      for (const app of spared) {
        expect(app.socket.readyState).toBe(app.socket.OPEN);
        await app.close();
      }
    });
  });

  describe('requests concurrent with a sign-out', () => {
    const ends = [
      ['by signing out', '/auth/sign-out', {}],
      ['everywhere', '/auth/relay/sign-out-everywhere', {}],
      ['of one program', '/auth/relay/applications/revoke', { clientId: 'relay-cli' }],
    ] as const;

    it.each(ends)('leave no program with a valid token (%s)', async (_, path, body) => {
      const browser = await person();
      for (let round = 0; round < 12; round += 1) {
        if (round > 0) await browser.signIn(browser.email);
        const got = [await signedInCli(browser)];
        let ended = false;
        // A program that renews its tokens as fast as it can, with four concurrent requests.
        const renewing = Array.from({ length: 4 }, async () => {
          while (!ended) {
            const { status, body: next } = await refresh(outside, got.at(-1)!.refresh_token!);
            if (status === 200) got.push(next as (typeof got)[number]);
          }
        });
        while (got.length < 3 + (round % 4)) await new Promise((resolve) => setImmediate(resolve));
        expect((await browser.send('POST', path, { body })).status).toBe(200);
        ended = true;
        await Promise.all(renewing);
        for (const { access_token: access, refresh_token: renewal } of got.slice(-4)) {
          expect((await refresh(outside, renewal!)).status).toBe(400);
          expect(await codeOf(access)).toBe('TOKEN_REVOKED');
        }
        expect(
          await database.models.oauthRefreshToken.count({ where: { revoked: null, user: { email: browser.email } } }),
        ).toBe(0);
      }
    });

    it.each(ends.slice(0, 2))('leave no valid authorization code (%s)', async (_, path, body) => {
      const browser = await person();
      const [web, cli] = [pkce(), pkce()];
      const codes = [await browser.code('relay-web', web.challenge), await browser.code('relay-cli', cli.challenge)];
      expect((await browser.send('POST', path, { body })).status).toBe(200);
      const answers = [
        await redeem(outside, 'relay-web', codes[0]!, web.verifier, `${outside.url}/callback`),
        await redeem(outside, 'relay-cli', codes[1]!, cli.verifier),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(400);
        expect(answer.body).not.toHaveProperty('access_token');
      }
    });
  });

  describe('the credential of a live socket', () => {
    it('can be a ticket, which opens one socket on any instance and no second one', async () => {
      const { access_token: alice } = await signedInWeb(await person());
      const ticketOf = async () =>
        (await outside.call('createTicket', { user: null, headers: bearer(alice) })).body.ticket;
      const once = await ticketOf();
      await (await connectApp(outside, { token: once, credential: 'ticket' })).close();
      for (let turn = 0; turn < 2; turn += 1)
        await expect(connectApp(outside, { token: once, credential: 'ticket' })).rejects.toMatchObject({ status: 401 });
      const contested = await ticketOf();
      const attempts = await Promise.allSettled(
        Array.from({ length: 6 }, () => connectApp(outside, { token: contested, credential: 'ticket' })),
      );
      const opened = attempts.filter((attempt) => attempt.status === 'fulfilled');
      expect(opened).toHaveLength(1);
      await opened[0]!.value.close();
    });

    it('is renewed in band with a token from any instance; a token of another person closes the socket with 4403', async () => {
      const browser = await person();
      const stranger = await signedInWeb(await person());
      for (let turn = 0; turn < 2; turn += 1) {
        const [before, after] = [await signedInWeb(browser), await signedInCli(browser)];
        const app = await connectApp(outside, { token: before.access_token });
        app.send({ type: 'auth', token: after.access_token });
        expect(await app.next('auth_ok')).toMatchObject({ expiresAt: expect.any(String) });
        app.send({ type: 'auth', token: stranger.access_token });
        expect((await app.closed).code).toBe(4403);
      }
    });

    it('closes the socket with 4401 when it expires', async () => {
      const { access_token: alice } = await signedInWeb(await person());
      const { exp } = JSON.parse(Buffer.from(alice.split('.')[1]!, 'base64url').toString('utf8')) as { exp: number };
      // Fakes the time of day only, half a second before the token expires; timers and sockets use the real time.
      jest.useFakeTimers({
        now: exp * 1000 - 500,
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
      try {
        for (const app of await apps(alice)) expect((await app.closed).code).toBe(4401);
      } finally {
        jest.useRealTimers();
      }
    });
  });

  it('count password guesses together, by the client address that the balancer forwards', async () => {
    const { email } = await person();
    const strict = await startRelay({
      identity: true,
      apis: 2,
      database,
      config: { publicUrl: balancer.url, trustProxy: 1, signInPerMinute: 3 },
    });
    try {
      balancer.behind(urls(strict.apis), urls(strict.gateways));
      const statuses = [];
      for (let attempt = 0; attempt < 4; attempt += 1)
        statuses.push((await new Browser(outside).signIn(email, 'wrong password')).status);
      expect(statuses).toEqual([401, 401, 401, 429]);
    } finally {
      balancer.behind(urls(relay.apis), urls(relay.gateways));
      await strict.stop();
    }
  });
});
