import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type TestRelay,
  startRelay,
  Browser,
  callWith,
  cliRedirect,
  pkce,
  redeem,
  refresh,
  signedInCli,
  signedInWeb,
  token,
} from '@relay/testing';

/** Each of these attacks worked with the library's defaults, or would on a careless server. */
describe('an attacker', () => {
  let relay: TestRelay;
  let browser: Browser;

  beforeAll(async () => {
    relay = await startRelay({ identity: true });
    browser = new Browser(relay);
    await browser.signUp('alice@example.com');
  });
  afterAll(() => relay.stop());

  describe('with an account', () => {
    it.each(['a\u202eb', '\u3164', '\u2800', 'x\u{1d159}'])('S12: cannot take a deceptive name: %j', async (name) => {
      const refused = { status: 400, body: { code: 'INVALID_REQUEST' } };
      expect(await browser.send('POST', '/auth/update-user', { body: { name } })).toMatchObject(refused);
      const passkey = { body: { name, response: {} } };
      expect(await browser.send('POST', '/auth/passkey/verify-registration', passkey)).toMatchObject(refused);
      const me = await browser.send('GET', '/auth/relay/me');
      expect(JSON.stringify(me.body)).not.toContain(name);
    });

    it.each([
      ['POST', '/auth/oauth2/create-client', { redirect_uris: ['https://evil.example'] }],
      [
        'POST',
        '/auth/oauth2/register',
        { redirect_uris: ['https://evil.example'], token_endpoint_auth_method: 'none' },
      ],
      ['POST', '/auth/admin/oauth2/create-client', { redirect_uris: ['https://evil.example'] }],
      [
        'POST',
        '/auth/oauth2/update-client',
        { client_id: 'relay-cli', update: { redirect_uris: ['https://evil.example'] } },
      ],
      ['POST', '/auth/oauth2/client/rotate-secret', { client_id: 'relay-cli' }],
      ['POST', '/auth/oauth2/delete-client', { client_id: 'relay-cli' }],
      ['POST', '/auth/admin/oauth2/resources', { identifier: 'https://evil.example', name: 'evil' }],
      ['PATCH', `/auth/admin/oauth2/resources/${encodeURIComponent('http://localhost:4000/api')}`, { disabled: true }],
    ])('cannot change the registered programs and audiences: %s %s', async (method, path, body) => {
      const before = await relay.database.models.oauthClient.findMany({ orderBy: { clientId: 'asc' } });
      const { status } = await browser.send(method, path, { body });
      expect([401, 403, 404]).toContain(status);
      expect(await relay.database.models.oauthClient.findMany({ orderBy: { clientId: 'asc' } })).toEqual(before);
      expect(before.map(({ clientId }) => clientId)).toEqual(['relay-cli', 'relay-mcp', 'relay-mobile', 'relay-web']);
      expect(await relay.database.models.oauthResource.count({ where: { disabled: false } })).toBe(3);
    });

    it('cannot turn the browser sign-in into a bearer token', async () => {
      expect((await browser.send('GET', '/auth/token')).status).toBe(404);
      const session = await browser.send('GET', '/auth/get-session');
      expect(session.status).toBe(200);
      expect(session.headers).not.toHaveProperty('set-auth-jwt');
    });
  });

  it('cannot get a sign-in with a device code', async () => {
    const code = await relay.call('requestCode', { user: null, body: { hostname: 'h', agent_type: 'a' } });
    await relay.call('approveCode', { params: { userCode: code.body.user_code } });
    const grant = 'urn:ietf:params:oauth:grant-type:device_code';
    const body = { grant_type: grant, device_code: code.body.device_code, client_id: 'relay-cli' };
    const stranger = new Browser(relay);
    expect((await stranger.send('POST', '/auth/device/token', { body })).status).toBe(404);
    expect((await stranger.send('POST', '/auth/device/code', { body: { client_id: 'relay-cli' } })).status).toBe(404);
    expect(stranger.cookies.size).toBe(0);
    expect((await token(relay, body)).body.error).toBe('unsupported_grant_type');
  });

  describe('with a redirect address', () => {
    it.each([
      'https://evil.example/callback',
      'http://127.0.0.1.evil.example/callback',
      'http://127.0.0.1:51234/callback/',
      'http://127.0.0.1:51234/callback?next=evil',
      'http://127.0.0.1:51234/callback#evil',
      'http://127.0.0.1:51234/CALLBACK',
      'http://127.0.0.1:51234/callback/../evil',
      'http://evil@127.0.0.1:51234/callback',
      'https://127.0.0.1:51234/callback',
      'http://127.0.0.2:51234/callback',
      'http://0.0.0.0:51234/callback',
      'http://localhost:51234/callback',
      'http://127.0.0.1:51234',
      'javascript:alert(1)',
      '',
      undefined,
    ])('cannot have a code sent to %s', async (redirect) => {
      const where = await browser.authorize('relay-cli', pkce().challenge, { redirect_uri: redirect });
      expect(`${where.origin}${where.pathname}`).toBe(`${relay.config.publicUrl}/error`);
      expect(where.searchParams.get('code')).toBeNull();
    });

    it('cannot have a code of the web app sent to another page of the relay', async () => {
      for (const page of ['/callback/', '/callback?x=1', '/device', '/callbackk', '//evil.example/callback']) {
        const where = await browser.authorize('relay-web', pkce().challenge, {
          redirect_uri: relay.config.publicUrl + page,
        });
        expect(where.pathname).toBe('/error');
      }
    });

    it('S3: cannot have a code of the web app sent to another port or name of this machine', async () => {
      const port = new URL(relay.config.publicUrl).port;
      for (const redirect of [
        'http://localhost:51234/callback',
        'http://localhost/callback',
        `http://127.0.0.1:${port}/callback`,
        `http://[::1]:${port}/callback`,
        `http://LOCALHOST:${port}/callback`,
        `http://localhost:0${port}/callback`,
        `http://localhost:${port}`,
        `http://evil@localhost:${port}/callback`,
      ]) {
        const where = await browser.authorize('relay-web', pkce().challenge, { redirect_uri: redirect });
        expect([redirect, where.pathname, where.port]).toEqual([redirect, '/error', port]);
        expect(where.searchParams.get('code')).toBeNull();
      }
      for (const query of [
        `client_id=relay-web&redirect_uri=${encodeURIComponent(`${relay.config.publicUrl}/callback`)}&redirect_uri=http%3A%2F%2Flocalhost%3A51234%2Fcallback`,
        'client_id=%20relay-web&redirect_uri=http%3A%2F%2Flocalhost%3A51234%2Fcallback',
        'client_id=relay-web&client_id=relay-cli&redirect_uri=http%3A%2F%2Flocalhost%3A51234%2Fcallback',
      ]) {
        const rest = `response_type=code&scope=openid&state=x&code_challenge=${pkce().challenge}&code_challenge_method=S256`;
        const answer = await browser.send('GET', `/auth/oauth2/authorize?${rest}&${query}`);
        expect(JSON.stringify([answer.body, answer.headers.location])).not.toMatch(/[?&]code=|51234/);
      }
      const { verifier, challenge } = pkce();
      const code = await browser.code('relay-web', challenge);
      expect((await redeem(relay, 'relay-web', code, verifier, 'http://localhost:51234/callback')).status).toBe(400);
    });

    it('cannot exchange a code that was sent elsewhere', async () => {
      const { verifier, challenge } = pkce();
      const code = await browser.code('relay-cli', challenge);
      const answer = await redeem(relay, 'relay-cli', code, verifier, 'http://127.0.0.1:60000/callback');
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    });

    it('any loopback port is accepted for the command line', async () => {
      const { verifier, challenge } = pkce();
      for (const redirect of ['http://127.0.0.1:1025/callback', 'http://[::1]:60000/callback']) {
        const code = await browser.code('relay-cli', challenge, { redirect_uri: redirect });
        expect((await redeem(relay, 'relay-cli', code, verifier, redirect)).status).toBe(200);
      }
    });
  });

  describe('with an intercepted code', () => {
    it.each([
      ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
      ['a challenge without a method', { code_challenge_method: undefined }],
      ['the method plain', { code_challenge_method: 'plain' }],
      ['an empty challenge', { code_challenge: '' }],
    ])('gets no code from a request with %s', async (_name, more) => {
      for (const client of ['relay-web', 'relay-cli', 'relay-mobile'] as const) {
        const where = await browser.authorize(client, pkce().challenge, more);
        expect(where.searchParams.get('error')).toBe('invalid_request');
        expect(where.searchParams.get('code')).toBeNull();
      }
    });

    it('cannot exchange the code without the verifier', async () => {
      for (const verifier of [pkce().verifier, '', 'x']) {
        const code = await browser.code('relay-cli', pkce().challenge);
        const answer = await redeem(relay, 'relay-cli', code, verifier);
        expect([400, 401]).toContain(answer.status);
        expect(answer.body).not.toHaveProperty('access_token');
      }
    });

    it('cannot exchange the code as another program', async () => {
      const { verifier, challenge } = pkce();
      const code = await browser.code('relay-cli', challenge);
      expect((await redeem(relay, 'relay-mobile', code, verifier)).body.error).toBe('invalid_grant');
    });

    it('cannot use the code a second time; the attempt revokes the tokens of the first use', async () => {
      const { verifier, challenge } = pkce();
      const code = await browser.code('relay-cli', challenge);
      const first = await redeem(relay, 'relay-cli', code, verifier);
      expect(first.status).toBe(200);
      expect((await redeem(relay, 'relay-cli', code, verifier)).body.error).toBe('invalid_grant');
      expect((await refresh(relay, first.body.refresh_token as string)).body.error).toBe('invalid_grant');
    });

    it('succeeds at most once in ten concurrent attempts', async () => {
      const { verifier, challenge } = pkce();
      const code = await browser.code('relay-cli', challenge);
      const answers = await Promise.all(Array.from({ length: 10 }, () => redeem(relay, 'relay-cli', code, verifier)));
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      expect(new Set(answers.map(({ status }) => status))).not.toContain(500);
    });

    it('has a minute, although the sign-in page can stay open for ten', async () => {
      const { verifier, challenge } = pkce();
      const code = await browser.code('relay-cli', challenge);
      const rows = await relay.database.models.verification.findMany({
        where: { value: { contains: 'authorization_code' } },
      });
      for (const { expiresAt } of rows) expect(expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
      await relay.database.models.verification.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } });
      expect((await redeem(relay, 'relay-cli', code, verifier)).body.error).toBe('invalid_grant');
    });
  });

  describe('with a token for another purpose', () => {
    it('gets no token for an audience other than this relay', async () => {
      const where = await browser.authorize('relay-cli', pkce().challenge, {
        resource: 'https://elsewhere.example/api',
      });
      expect(where.searchParams.get('error')).toBe('invalid_target');
      const { verifier, challenge } = pkce();
      const code = await browser.code('relay-cli', challenge);
      const answer = await token(relay, {
        grant_type: 'authorization_code',
        client_id: 'relay-cli',
        code,
        code_verifier: verifier,
        redirect_uri: cliRedirect,
        resource: 'https://elsewhere.example/api',
      });
      expect(answer.body.error).toBe('invalid_target');
    });

    it('cannot use an ID token or a sign-in token for the API', async () => {
      const { verifier, challenge } = pkce();
      const resource = `${relay.config.publicUrl}/auth/oauth2/userinfo`;
      const tokens = await redeem(
        relay,
        'relay-web',
        await browser.code('relay-web', challenge, { resource }),
        verifier,
        `${relay.config.publicUrl}/callback`,
      );
      for (const foreign of [tokens.body.access_token as string, tokens.body.id_token as string]) {
        expect(await callWith(relay, foreign)).toMatchObject({ status: 401, body: { code: 'INVALID_TOKEN' } });
      }
    });

    it('gets no scope that was not granted', async () => {
      const where = await browser.authorize('relay-web', pkce().challenge, { scope: 'sessions:read admin' });
      expect(where.searchParams.get('error')).toBe('invalid_scope');
      const offline = await browser.authorize('relay-web', pkce().challenge, { scope: 'openid offline_access' });
      expect(offline.searchParams.get('error')).toBe('invalid_scope');
    });
  });

  describe('with a stolen refresh token', () => {
    const afterTheInterval = () =>
      relay.database.models.oauthRefreshToken.updateMany({
        where: { rotatedAt: { not: null } },
        data: { rotationReplayExpiresAt: new Date(Date.now() - 1) },
      });

    it('revokes the whole chain by using the token late', async () => {
      const first = await signedInCli(browser);
      const second = await refresh(relay, first.refresh_token!);
      await afterTheInterval();
      expect((await refresh(relay, first.refresh_token!)).body.error).toBe('invalid_grant');
      expect((await refresh(relay, second.body.refresh_token as string)).body.error).toBe('invalid_grant');
    });

    it('two tabs that race on one token keep the user signed in', async () => {
      const first = await signedInCli(browser);
      const answers = await Promise.all([refresh(relay, first.refresh_token!), refresh(relay, first.refresh_token!)]);
      const winners = answers.filter(({ status }) => status === 200);
      expect(winners.length).toBeGreaterThanOrEqual(1);
      // The loser retries and gets the winner's answer.
      const again = await refresh(relay, first.refresh_token!);
      expect(again.body.refresh_token).toBe(winners[0]!.body.refresh_token);
      expect((await refresh(relay, again.body.refresh_token as string)).status).toBe(200);
    });

    it('cannot use the token as another program, or gain scopes with it', async () => {
      const { refresh_token: stolen } = await signedInCli(browser);
      const as = (more: Record<string, string>) =>
        token(relay, { grant_type: 'refresh_token', refresh_token: stolen!, client_id: 'relay-cli', ...more });
      expect((await as({ client_id: 'relay-mobile' })).body.error).toBe('invalid_grant');
      expect((await as({ scope: 'sessions:read admin' })).body.error).toBe('invalid_scope');
      expect((await as({ resource: 'https://elsewhere.example' })).body.error).toBe('invalid_target');
    });
  });

  describe('on another page', () => {
    const evil = { Origin: 'https://evil.example' };

    it('cannot make the browser do anything', async () => {
      for (const path of ['/auth/sign-out', '/auth/relay/sign-out-everywhere', '/auth/relay/invitations']) {
        expect((await browser.send('POST', path, { body: {}, headers: evil })).status).toBe(403);
        expect((await browser.send('POST', path, { body: {}, headers: { Origin: 'null' } })).status).toBe(403);
      }
      expect((await browser.send('GET', '/auth/relay/me')).status).toBe(200);
    });

    it('cannot send the browser anywhere after a sign-in', async () => {
      const body = { email: 'alice@example.com', password: 'x'.repeat(10), callbackURL: 'https://evil.example' };
      expect((await new Browser(relay).send('POST', '/auth/sign-in/email', { body })).status).toBe(403);
    });

    it('cannot forge the scopes of the consent page', async () => {
      const carol = new Browser(relay);
      await carol.signUp('carol@example.com');
      const page = await carol.authorize('relay-cli', pkce().challenge, { scope: 'sessions:read' });
      page.searchParams.set('scope', 'sessions:read sessions:write');
      const forged = await carol.send('POST', '/auth/oauth2/consent', {
        body: { accept: true, oauth_query: page.search.slice(1) },
      });
      expect(forged).toMatchObject({ status: 400, body: { error: 'invalid_signature' } });
    });
  });

  it('gets no session cookie that a script can read', async () => {
    const answer = await browser.signIn('alice@example.com');
    const cookies = answer.headers['set-cookie'] as unknown as string[];
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatch(/HttpOnly/i);
    for (const cookie of cookies) expect(cookie).toMatch(/SameSite=Lax/i);
    await signedInWeb(browser);
  });

  it('causes no internal error with invalid input', async () => {
    const send = (path: string, raw: string, type = 'application/json') =>
      relay.call('POST', path, { user: null, raw, headers: { 'Content-Type': type } });
    for (const raw of [
      '',
      '{',
      'null',
      '[]',
      '"x"',
      '{"email":{"$gt":""},"password":["x"]}',
      '\u0000',
      '{"email":"a\\u0000@b.de"}',
    ])
      for (const path of [
        '/auth/sign-in/email',
        '/auth/sign-up/email',
        '/auth/oauth2/token',
        '/auth/relay/invitations/check',
      ])
        expect((await send(path, raw)).status).toBeLessThan(500);
    expect((await send('/auth/sign-in/email', 'x'.repeat(70_000))).status).toBe(413);
    expect(
      (await send('/auth/oauth2/token', 'grant_type=a&grant_type=b', 'application/x-www-form-urlencoded')).status,
    ).toBe(400);
    expect((await relay.call('GET', '/auth/../../etc/passwd', { user: null })).status).toBe(404);
    expect((await relay.call('GET', '/auth/%00', { user: null })).status).toBeLessThan(500);
  });
});
