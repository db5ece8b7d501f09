/** A browser without a window: keeps cookies, sends the origin of the page, and follows nothing by itself. */
import { createHash, randomBytes } from 'node:crypto';
import { type Database, createInvitation } from '@relay/database';
import type { RelayAddress } from './relay.ts';
import { type Answer, send } from './rest.ts';

export const password = 'correct horse battery';
export const cliRedirect = 'http://127.0.0.1:51234/callback';

interface Pkce {
  verifier: string;
  challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export interface Tokens {
  access_token: string;
  refresh_token?: string;
  expires_in: number;
  scope: string;
}

/** A relay with the built-in sign-in, in this process or not. */
export interface SignInRelay extends RelayAddress {
  readonly config: { readonly publicUrl: string };
  readonly database: Database;
}

export class Browser {
  /** Another start of the same relay can take its place; the cookies stay. */
  relay: SignInRelay;
  readonly cookies = new Map<string, string>();
  /** The instance that answers; a round robin turns it. */
  api = 0;

  constructor(relay: SignInRelay) {
    this.relay = relay;
  }

  get origin(): string {
    return new URL(this.relay.config.publicUrl).origin;
  }

  async send(
    method: string,
    path: string,
    {
      body,
      headers = {},
      form,
    }: { body?: unknown; headers?: Record<string, string>; form?: Record<string, string> } = {},
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await send(method, `${this.relay.apis[this.api]!.url}${path}`, {
      ...(form ? { raw: new URLSearchParams(form).toString() } : body === undefined ? {} : { body }),
      headers: {
        Accept: 'application/json',
        Origin: this.origin,
        ...(cookie === '' ? {} : { Cookie: cookie }),
        ...(form ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}),
        ...headers,
      },
    });
    for (const line of (answer.headers['set-cookie'] as unknown as string[] | undefined) ?? []) {
      const [pair = '', ...attributes] = line.split(';');
      const equals = pair.indexOf('=');
      const gone = attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute));
      if (gone) this.cookies.delete(pair.slice(0, equals));
      else this.cookies.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
    return answer;
  }

  /** An account, made with an invitation; this browser is signed in afterwards. Returns the id inside the sign-in. */
  async signUp(email: string): Promise<string> {
    const answer = await this.send('POST', '/auth/sign-up/email', {
      body: { email, password, name: email.split('@')[0], invitation: await invitation(this.relay) },
    });
    if (answer.status !== 200) throw new Error(`sign-up: ${answer.status} ${answer.text}`);
    return (answer.body as { user: { id: string } }).user.id;
  }

  signIn(email: string, secret = password): Promise<Answer> {
    return this.send('POST', '/auth/sign-in/email', { body: { email, password: secret } });
  }

  /** Where the authorization endpoint sends this browser. */
  async authorize(
    client: 'relay-web' | 'relay-cli' | 'relay-mobile',
    challenge: string,
    more: Record<string, string | undefined> = {},
  ): Promise<URL> {
    const redirects = {
      'relay-web': `${this.relay.config.publicUrl}/callback`,
      'relay-cli': cliRedirect,
      'relay-mobile': 'io.relay.mobile:/callback',
    };
    const own = ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'];
    const params: Record<string, string | undefined> = {
      response_type: 'code',
      client_id: client,
      redirect_uri: redirects[client],
      scope: ['openid', 'profile', 'email', ...(client === 'relay-web' ? [] : ['offline_access']), ...own].join(' '),
      state: 'xyz',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...more,
    };
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params)) if (value !== undefined) query.set(name, value);
    const answer = await this.send('GET', `/auth/oauth2/authorize?${query.toString()}`);
    const where = (answer.body as { url?: string } | undefined)?.url ?? answer.headers.location;
    if (where === undefined) throw new Error(`authorize: ${answer.status} ${answer.text}`);
    return new URL(where, this.origin);
  }

  /** Grants the request of the consent page. */
  async consent(page: URL, accept = true): Promise<URL> {
    const answer = await this.send('POST', '/auth/oauth2/consent', {
      body: { accept, oauth_query: page.search.slice(1) },
    });
    if (answer.status !== 200) throw new Error(`consent: ${answer.status} ${answer.text}`);
    return new URL((answer.body as { url: string }).url);
  }

  /** The code for a program of this person, with their consent where it is asked for. */
  async code(client: 'relay-web' | 'relay-cli' | 'relay-mobile', challenge: string, more = {}): Promise<string> {
    const first = await this.authorize(client, challenge, more);
    const last = first.pathname === '/consent' ? await this.consent(first) : first;
    const code = last.searchParams.get('code');
    if (code === null) throw new Error(`no code: ${last.href}`);
    return code;
  }
}

/** Requests of programs to the token endpoint: no cookies. */
export function token(relay: SignInRelay, form: Record<string, string>, api = 0): Promise<Answer> {
  return send('POST', `${relay.apis[api]!.url}/auth/oauth2/token`, {
    raw: new URLSearchParams(form).toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
}

export function redeem(
  relay: SignInRelay,
  client: string,
  code: string,
  verifier: string,
  redirectUri = cliRedirect,
  api = 0,
) {
  return token(
    relay,
    { grant_type: 'authorization_code', client_id: client, code, code_verifier: verifier, redirect_uri: redirectUri },
    api,
  );
}

export const refresh = (relay: SignInRelay, refreshToken: string, api = 0): Promise<Answer> =>
  token(relay, { grant_type: 'refresh_token', client_id: 'relay-cli', refresh_token: refreshToken }, api);

/** A program signed in with the whole flow. */
export async function signedInCli(browser: Browser): Promise<Tokens> {
  const { verifier, challenge } = pkce();
  const answer = await redeem(browser.relay, 'relay-cli', await browser.code('relay-cli', challenge), verifier);
  if (answer.status !== 200) throw new Error(`token: ${answer.status} ${answer.text}`);
  return answer.body as Tokens;
}

/** The web app, signed in with the browser's own sign-in. */
export async function signedInWeb(browser: Browser): Promise<Tokens> {
  const { verifier, challenge } = pkce();
  const code = await browser.code('relay-web', challenge);
  const answer = await redeem(browser.relay, 'relay-web', code, verifier, `${browser.relay.config.publicUrl}/callback`);
  if (answer.status !== 200) throw new Error(`token: ${answer.status} ${answer.text}`);
  return answer.body as Tokens;
}

/** One call of the API with this access token. */
export const callWith = (relay: SignInRelay, accessToken: string, path = '/api/me', api = 0): Promise<Answer> =>
  relay.call('GET', path, { user: null, api, headers: { Authorization: `Bearer ${accessToken}` } });

/** A link that was sent without a request. */
export async function invitation(relay: SignInRelay): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await createInvitation(relay.database, {
    kind: 'invite',
    tokenHash: createHash('sha256').update(secret).digest('hex'),
    createdBy: 'test',
    ttlSeconds: 60,
  });
  return secret;
}
