import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type TestRelay,
  startRelay,
  Browser,
  callWith,
  cliRedirect,
  password,
  pkce,
  redeem,
  refresh,
  signedInCli,
  signedInWeb,
  token,
} from '@relay/testing';

const claimsOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString('utf8')) as Record<string, unknown>;
const headerOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[0]!, 'base64url').toString('utf8')) as Record<string, unknown>;

describe('the code flow', () => {
  let relay: TestRelay;
  let browser: Browser;
  let userId: string;

  beforeAll(async () => {
    relay = await startRelay({ identity: true, apis: 2 });
    browser = new Browser(relay);
    userId = await browser.signUp('alice@example.com');
  });
  afterAll(() => relay.stop());

  it('has metadata at both discovery addresses, and keys that clients can cache for five minutes', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const { body } = await relay.call('GET', `/.well-known/${name}`, { user: null });
      expect(body).toMatchObject({
        issuer: relay.config.publicUrl,
        authorization_endpoint: `${relay.config.publicUrl}/auth/oauth2/authorize`,
        token_endpoint: `${relay.config.publicUrl}/auth/oauth2/token`,
        jwks_uri: `${relay.config.publicUrl}/auth/jwks`,
        code_challenge_methods_supported: ['S256'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_methods_supported: ['none'],
      });
      expect(body).toHaveProperty('registration_endpoint', `${relay.config.publicUrl}/auth/relay/register`);
    }
    const keys = await relay.call('GET', '/auth/jwks', { user: null });
    expect(keys.headers['cache-control']).toBe('public, max-age=300');
    // Instances that start at the same moment can create one key each.
    const published = keys.body.keys as unknown[];
    expect(published.length).toBeGreaterThanOrEqual(1);
    for (const key of published) expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256' });
    expect(JSON.stringify(keys.body)).not.toContain('"d"');
  });

  it('sends an unauthenticated browser to the sign-in page, and from there back with a code', async () => {
    const stranger = new Browser(relay);
    const { verifier, challenge } = pkce();
    const page = await stranger.authorize('relay-web', challenge);
    expect(`${page.origin}${page.pathname}`).toBe(`${relay.config.publicUrl}/sign-in`);
    const signedIn = await stranger.send('POST', '/auth/sign-in/email', {
      body: { email: 'alice@example.com', password, oauth_query: page.search.slice(1) },
    });
    const back = new URL(signedIn.body.url as string);
    expect(`${back.origin}${back.pathname}`).toBe(`${relay.config.publicUrl}/callback`);
    expect(back.searchParams.get('state')).toBe('xyz');
    expect(back.searchParams.get('iss')).toBe(relay.config.publicUrl);
    const tokens = await redeem(
      relay,
      'relay-web',
      back.searchParams.get('code')!,
      verifier,
      `${relay.config.publicUrl}/callback`,
    );
    expect(tokens.status).toBe(200);
  });

  it('gives the web app an access token for the API and no refresh token', async () => {
    const tokens = await signedInWeb(browser);
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 600 });
    expect(tokens.refresh_token).toBeUndefined();
    expect(headerOf(tokens.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
    const claims = claimsOf(tokens.access_token);
    expect(claims).toMatchObject({ iss: relay.config.publicUrl, sub: userId, client_id: 'relay-web' });
    expect([claims.aud].flat()).toContain(`${relay.config.publicUrl}/api`);
    const { status, body } = await callWith(relay, tokens.access_token);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: userId,
      email: 'alice@example.com',
      name: 'alice',
      scopes: ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'],
    });
  });

  it("renews the web app's token without a page while the browser is signed in", async () => {
    const { verifier, challenge } = pkce();
    const back = await browser.authorize('relay-web', challenge, { prompt: 'none' });
    const tokens = await redeem(
      relay,
      'relay-web',
      back.searchParams.get('code')!,
      verifier,
      `${relay.config.publicUrl}/callback`,
    );
    expect(tokens.status).toBe(200);
    const stranger = await new Browser(relay).authorize('relay-web', challenge, { prompt: 'none' });
    expect(stranger.searchParams.get('error')).toBe('login_required');
  });

  it('S1: asks the user before a program gets anything, every time', async () => {
    const bob = new Browser(relay);
    await bob.signUp('bob@example.com');
    const { verifier, challenge } = pkce();
    const page = await bob.authorize('relay-cli', challenge);
    expect(page.pathname).toBe('/consent');
    expect(page.searchParams.get('client_id')).toBe('relay-cli');
    const denied = await bob.consent(page, false);
    expect(denied.searchParams.get('error')).toBe('access_denied');
    const allowed = await bob.consent(page);
    expect(allowed.origin).toBe(new URL(cliRedirect).origin);
    const tokens = await redeem(relay, 'relay-cli', allowed.searchParams.get('code')!, verifier);
    expect(tokens.body).toMatchObject({ expires_in: 600, refresh_token: expect.stringMatching(/^rly_urt_/) });
    expect((await callWith(relay, tokens.body.access_token as string)).status).toBe(200);
    // Any program on this machine could ask as the command line (RFC 8252 §8.6).
    for (const client of ['relay-cli', 'relay-mobile'] as const) {
      if (client === 'relay-mobile') await bob.consent(await bob.authorize(client, challenge));
      for (const more of [
        {},
        { prompt: undefined, scope: 'openid' },
        { scope: undefined },
        { prompt: 'consent' },
        { max_age: '3600' },
      ]) {
        const again = await bob.authorize(client, challenge, more);
        expect([client, more, again.pathname, again.searchParams.get('code')]).toEqual([
          client,
          more,
          '/consent',
          null,
        ]);
      }
      const silent = await bob.authorize(client, challenge, { prompt: 'none' });
      expect([silent.searchParams.get('error'), silent.searchParams.get('code')]).toEqual(['consent_required', null]);
    }
  });

  it('S1: a sign-in for a program with earlier consent leads to the consent page and not to a code', async () => {
    await signedInCli(browser);
    const stranger = new Browser(relay);
    const page = await stranger.authorize('relay-cli', pkce().challenge);
    expect(page.pathname).toBe('/sign-in');
    const signedIn = await stranger.send('POST', '/auth/sign-in/email', {
      body: { email: 'alice@example.com', password, oauth_query: page.search.slice(1) },
    });
    const next = new URL(signedIn.body.url as string);
    expect([next.pathname, next.searchParams.get('code')]).toEqual(['/consent', null]);
    expect((await stranger.consent(next)).searchParams.get('code')).not.toBeNull();
  });

  it('grants only the requested scopes', async () => {
    const { verifier, challenge } = pkce();
    const code = await browser.code('relay-cli', challenge, { scope: 'sessions:read' });
    const tokens = await redeem(relay, 'relay-cli', code, verifier);
    expect(tokens.body.scope).toBe('sessions:read');
    const refused = await callWith(relay, tokens.body.access_token as string, '/api/devices');
    expect(refused.status).toBe(403);
    expect(refused.headers['www-authenticate']).toContain('scope="devices:read"');
  });

  it('rotates a refresh token at every use, on either instance', async () => {
    const first = await signedInCli(browser);
    const second = await refresh(relay, first.refresh_token!, 1);
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    const third = await refresh(relay, second.body.refresh_token as string, 0);
    expect(third.status).toBe(200);
    expect((await callWith(relay, third.body.access_token as string, '/api/sessions', 1)).status).toBe(200);
  });

  it('lets a program revoke its refresh token', async () => {
    const tokens = await signedInCli(browser);
    const { status } = await browser.send('POST', '/auth/oauth2/revoke', {
      form: { token: tokens.refresh_token!, token_type_hint: 'refresh_token', client_id: 'relay-cli' },
    });
    expect(status).toBe(200);
    expect((await refresh(relay, tokens.refresh_token!)).body.error).toBe('invalid_grant');
  });

  it('supports no grant without a user', async () => {
    const forms: Record<string, string>[] = [
      { grant_type: 'client_credentials', client_id: 'relay-cli', scope: 'sessions:read' },
      { grant_type: 'password', client_id: 'relay-cli', username: 'alice@example.com', password },
    ];
    for (const form of forms) expect((await token(relay, form)).body.error).toBe('unsupported_grant_type');
  });
});
