/**
 * A program that runs agents signs its user in as the MCP specification describes. Its official library discovers,
 * registers, authorizes and keeps the sign-in.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { Browser, type TestRelay, startRelay, token } from '@relay/testing';

const redirect = 'http://localhost:51999/callback';

/** Keeps in memory the data that such a program keeps in a file. */
class Program implements OAuthClientProvider {
  readonly redirectUrl = redirect;
  readonly clientMetadata = {
    client_name: 'Some agent',
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  client: StoredOAuthClientInformation | undefined;
  kept: StoredOAuthTokens | undefined;
  asks: URL | undefined;
  #verifier = '';
  clientInformation = () => this.client;
  saveClientInformation = (client: StoredOAuthClientInformation) => void (this.client = client);
  tokens = () => this.kept;
  saveTokens = (tokens: StoredOAuthTokens) => void (this.kept = tokens);
  redirectToAuthorization = (url: URL) => void (this.asks = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
}

describe('a program that runs agents', () => {
  let relay: TestRelay;
  let browser: Browser;
  beforeAll(async () => {
    relay = await startRelay({ identity: true, apis: 2 });
    browser = new Browser(relay);
    await browser.signUp('mara@example.com');
  });
  afterAll(() => relay.stop());

  /** The relay's addresses start with PUBLIC_URL, wherever it listens. Each request goes to the other instance. */
  let turn = 0;
  const reach = (url: string | URL, init?: RequestInit) =>
    fetch(String(url).replace(relay.config.publicUrl, relay.apis[turn++ % 2]!.url), init);
  const transportOf = (program: Program) =>
    new StreamableHTTPClientTransport(new URL(`${relay.config.publicUrl}/mcp`), {
      authProvider: program,
      fetch: reach,
    });
  const connect = async (program: Program) => {
    const client = new Client({ name: 'Some agent', version: '1' });
    await client.connect(transportOf(program));
    return client;
  };

  it('needs only the address, asks its user for one scope, and keeps its sign-in', async () => {
    const program = new Program();
    await expect(connect(program)).rejects.toBeInstanceOf(UnauthorizedError);
    expect(program.client).toMatchObject({ client_id: 'relay-mcp' });
    const asked = program.asks!.searchParams;
    expect(asked.get('resource')).toBe(`${relay.config.publicUrl}/mcp`);

    const first = await browser.send('GET', program.asks!.pathname + program.asks!.search);
    const page = new URL((first.body as { url?: string }).url ?? first.headers['location']!, browser.origin);
    expect(page.pathname).toBe('/consent');
    expect(page.searchParams.get('scope')!.split(' ').sort()).toEqual(['agents:drive', 'offline_access']);
    const back = await browser.consent(page);
    expect(back.href).toMatch(/^http:\/\/localhost:51999\/callback\?/);
    await transportOf(program).finishAuth(back.searchParams);

    const client = await connect(program);
    expect((await client.callTool({ name: 'list_devices', arguments: {} })).structuredContent).toEqual({ devices: [] });
    await client.close();
    const [, claims] = program.kept!.access_token.split('.');
    const payload: unknown = JSON.parse(Buffer.from(claims!, 'base64url').toString('utf8'));
    expect(payload).toMatchObject({ aud: `${relay.config.publicUrl}/mcp`, client_id: 'relay-mcp' });

    // The REST API refuses its token.
    const headers = { Authorization: `Bearer ${program.kept!.access_token}` };
    expect(await relay.call('GET', '/api/sessions', { user: null, headers })).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_SCOPE' },
    });

    const renewed = await token(relay, {
      grant_type: 'refresh_token',
      client_id: 'relay-mcp',
      refresh_token: program.kept!.refresh_token!,
      resource: `${relay.config.publicUrl}/mcp`,
    });
    expect(renewed.status).toBe(200);
    program.kept = renewed.body as StoredOAuthTokens;
    await (await connect(program)).close();
  });

  it('S2: gets agents:answer only if it asks, and the consent page names it', async () => {
    const { authorization_endpoint: _a, ...documents } = (
      await relay.call('GET', '/.well-known/oauth-protected-resource/mcp', { user: null })
    ).body as Record<string, unknown>;
    expect(documents['scopes_supported']).toEqual(['agents:drive']);
    const registered = await browser.send('POST', '/auth/relay/register', { body: { redirect_uris: [redirect] } });
    expect(registered.body).toMatchObject({ scope: 'agents:drive offline_access' });
    const scopeOf = async (scope: string | undefined) => {
      const query = new URLSearchParams({
        ...{ response_type: 'code', client_id: 'relay-mcp', redirect_uri: redirect, state: 'x' },
        ...{ code_challenge: 'a'.repeat(43), code_challenge_method: 'S256', ...(scope === undefined ? {} : { scope }) },
      });
      const answer = await browser.send('GET', `/auth/oauth2/authorize?${query.toString()}`);
      const where = (answer.body as { url?: string } | undefined)?.url ?? answer.headers['location'] ?? '';
      const page = new URL(where, browser.origin);
      expect(page.pathname).toBe('/consent');
      return page.searchParams.get('scope')!.split(' ').sort();
    };
    for (const scope of [undefined, '', 'agents:drive'])
      expect(await scopeOf(scope)).toEqual(['agents:drive', 'offline_access']);
    expect(await scopeOf('agents:answer')).toEqual(['agents:answer', 'agents:drive', 'offline_access']);
  });

  it('cannot ask for more than the tools', async () => {
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: 'relay-mcp', redirect_uri: redirect, state: 'x' },
      ...{ scope: 'sessions:write agents:drive', code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' },
    });
    const answer = await browser.send('GET', `/auth/oauth2/authorize?${query.toString()}`);
    const where = (answer.body as { url?: string } | undefined)?.url ?? answer.headers['location'] ?? '';
    expect(where).toContain('error=invalid_scope');
  });

  it.each([
    ['on another computer', ['https://agents.example.com/callback']],
    ['with user information before the host', ['http://localhost@agents.example.com/callback']],
    ['with a query', [`${redirect}?to=x`]],
    ['with another scheme', ['javascript:alert(1)']],
    ['that is not a URL', [7]],
    ['if it sends an empty list', []],
    ['if it sends too many', Array.from({ length: 21 }, () => redirect)],
  ])('cannot register an address %s', async (_name, redirect_uris) => {
    const answer = await browser.send('POST', '/auth/relay/register', { body: { redirect_uris } });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_redirect_uri' } });
  });

  it('A4: registers the acceptable addresses of a body, as Visual Studio Code sends it, and returns those', async () => {
    const acceptable = [
      'http://localhost',
      'http://127.0.0.1:33418/',
      'http://localhost:1455/oauth_callback',
      'http://127.0.0.1:9/some/other/path',
      'cursor://anysphere.cursor-mcp/oauth/callback',
    ];
    const redirect_uris = ['https://vscode.dev/redirect', ...acceptable, 'http://192.168.1.2/callback'];
    const answer = await browser.send('POST', '/auth/relay/register', { body: { redirect_uris } });
    expect(answer).toMatchObject({ status: 201, body: { client_id: 'relay-mcp', redirect_uris: acceptable } });
  });

  it.each(['http://127.0.0.1:9/some/other/path', 'cursor://anysphere.cursor-mcp/oauth/callback'])(
    'A4: gets its code at %s, and redeems it',
    async (redirect_uri) => {
      const verifier = 'v'.repeat(43);
      const query = new URLSearchParams({
        ...{ response_type: 'code', client_id: 'relay-mcp', redirect_uri, state: 'x', scope: 'agents:drive' },
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      const answer = await browser.send('GET', `/auth/oauth2/authorize?${query.toString()}`);
      const where = (answer.body as { url?: string } | undefined)?.url ?? answer.headers['location'] ?? '';
      const back = await browser.consent(new URL(where, browser.origin));
      expect(back.href.startsWith(`${redirect_uri}?`)).toBe(true);
      const code = back.searchParams.get('code')!;
      const given = { grant_type: 'authorization_code', client_id: 'relay-mcp', code, redirect_uri };
      expect((await token(relay, { ...given, code_verifier: verifier })).status).toBe(200);
    },
  );

  it.each(['relay-web', 'relay-cli'])('A4: a path of its own is for agents, not for %s', async (client_id) => {
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id, redirect_uri: 'http://127.0.0.1:9/some/other/path', state: 'x' },
      ...{ scope: 'openid', code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' },
    });
    const answer = await browser.send('GET', `/auth/oauth2/authorize?${query.toString()}`);
    const where = (answer.body as { url?: string } | undefined)?.url ?? answer.headers['location'] ?? '';
    expect(where).not.toContain('code=');
    expect(where).not.toMatch(/^http:\/\/127\.0\.0\.1:9/);
  });

  it('can register every loopback address on any port, and nothing is stored', async () => {
    const before = await relay.database.models.oauthClient.count();
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      const redirect_uris = [`http://${host}:8123/callback`, `http://${host}:8124/oauth/callback`];
      const answer = await browser.send('POST', '/auth/relay/register', {
        body: { redirect_uris, client_name: 'Other' },
      });
      expect(answer).toMatchObject({ status: 201, body: { client_id: 'relay-mcp', redirect_uris } });
      expect(answer.body).not.toHaveProperty('client_secret');
    }
    expect(await relay.database.models.oauthClient.count()).toBe(before);
  });
});
