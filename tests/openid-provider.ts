/**
 * An independent OpenID provider on a real port: the library `oidc-provider`, with people who have a name and sign in
 * without a password. For tests that need an identity provider which we did not write.
 */
import { type KeyObject, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Adapter, type AdapterPayload, type Configuration, type JWK, Provider } from 'oidc-provider';
import { type Answer, send } from '@relay/testing';

export interface Person {
  email?: string;
  emailVerified?: boolean;
  name?: string;
  /** Additional claims of the ID token and of userinfo. */
  claims?: Record<string, unknown>;
}

export type SigningAlgorithm = 'ES256' | 'RS256' | 'PS256';

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: JWK;
}

/** A new key; an RSA key works with both RSA algorithms. */
export function createSigningKey(kind: 'ec' | 'rsa' = 'ec', kid: string = randomUUID()): SigningKey {
  const { privateKey, publicKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { kid, privateKey, publicKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig' } };
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token with exactly this header and these claims. `signature` is a key, or a function that makes the signature. */
export function writeToken(
  header: object,
  claims: object,
  signature: KeyObject | ((text: string) => string | Buffer),
): string {
  const text = `${part(header)}.${part(claims)}`;
  const made =
    typeof signature === 'function'
      ? signature(text)
      : sign('sha256', Buffer.from(text), { key: signature, dsaEncoding: 'ieee-p1363' });
  return `${text}.${typeof made === 'string' ? made : made.toString('base64url')}`;
}

export const readClaims = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>;
export const readHeader = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8')) as Record<string, unknown>;

export interface OpenIdProvider {
  readonly issuer: string;
  /** The published keys; the first suitable key signs. */
  readonly keys: readonly SigningKey[];
  /** Publishes other keys from now on, and keeps the people. */
  setKeys(keys: readonly SigningKey[]): void;
  /** Keyed by `sub`. */
  readonly people: Map<string, Person>;
  /** The number of requests for each path. */
  readonly asked: Map<string, number>;
  /** The person who is signed in there. */
  visitor: string;
  /**
   * Follows this address like a browser through sign-in and consent. Resolves with the final redirect away from the
   * provider.
   */
  follow(address: string): Promise<URL>;
  /** Stops and starts listening on the port. */
  setDown(down: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface OpenIdProviderOptions {
  /** The configuration of the library, except its accounts. */
  configuration?: Configuration;
  keys?: readonly SigningKey[];
  /** A free port; by default any. */
  port?: number;
}

/** Stores the records of the provider in memory. */
function memory(): (model: string) => Adapter {
  const rows = new Map<string, AdapterPayload>();
  return (model) => {
    const own = (id: string) => `${model}:${id}`;
    const find = (test: (row: AdapterPayload) => boolean) => {
      const found = [...rows].find(([key, row]) => key.startsWith(own('')) && test(row));
      return Promise.resolve(found?.[1]);
    };
    return {
      upsert: (id, payload) => Promise.resolve(void rows.set(own(id), payload)),
      find: (id) => Promise.resolve(rows.get(own(id))),
      findByUid: (uid) => find((row) => row.uid === uid),
      findByUserCode: (userCode) => find((row) => row.userCode === userCode),
      consume: (id) => {
        const row = rows.get(own(id));
        if (row) row.consumed = Math.floor(Date.now() / 1000);
        return Promise.resolve();
      },
      destroy: (id) => Promise.resolve(void rows.delete(own(id))),
      revokeByGrantId: (grantId) => {
        for (const [key, row] of rows) if (row.grantId === grantId) rows.delete(key);
        return Promise.resolve();
      },
    };
  };
}

/** Keeps the cookies of one visit. */
function remember(cookies: Map<string, string>, answer: Answer): void {
  for (const line of (answer.headers['set-cookie'] as unknown as string[] | undefined) ?? []) {
    const [pair = ''] = line.split(';');
    const equals = pair.indexOf('=');
    cookies.set(pair.slice(0, equals), pair.slice(equals + 1));
  }
}

/** Keys of closed providers, for reuse: an RSA key takes a fifth of a second, but no two open providers share one. */
const freeKeys: (readonly SigningKey[])[] = [];

export async function startOpenIdProvider(options: OpenIdProviderOptions = {}): Promise<OpenIdProvider> {
  let handler: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end();
  const asked = new Map<string, number>();
  const make = (): Server =>
    createServer((request, response) => {
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      asked.set(path, (asked.get(path) ?? 0) + 1);
      handler(request, response);
    });
  let server = make();
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const port = await listen(options.port ?? 0);
  const issuer = `http://127.0.0.1:${port}`;
  const people = new Map<string, Person>();
  const state = { visitor: 'alice' };

  const adapter = memory();
  const own = options.keys ?? freeKeys.pop() ?? [createSigningKey('ec'), createSigningKey('rsa')];
  let keys = own;
  const begin = () => {
    const made = new Provider(issuer, configurationWith(keys));
    return { provider: made, callback: made.callback() };
  };
  const configurationWith = (signing: readonly SigningKey[]): Configuration => ({
    adapter,
    jwks: { keys: signing.map(({ jwk }) => jwk) },
    ttl: { AccessToken: 600, ClientCredentials: 600, IdToken: 600, Interaction: 600, Session: 86_400, Grant: 86_400 },
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    ...options.configuration,
    features: { devInteractions: { enabled: false }, ...options.configuration?.features },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => {
      const { email, emailVerified = true, name, claims } = people.get(id) ?? {};
      return {
        accountId: id,
        claims: () => ({
          sub: id,
          ...(email === undefined ? {} : { email, email_verified: emailVerified }),
          ...(name === undefined ? {} : { name }),
          ...claims,
        }),
      };
    },
  });
  let running = begin();

  /** Signs the visitor in and agrees to everything, as a person does on two pages. */
  const interact = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { provider } = running;
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      await provider.interactionFinished(request, response, { login: { accountId: state.visitor } });
      return;
    }
    const clientId = params['client_id'] as string;
    const grant =
      (grantId === undefined ? undefined : await provider.Grant.find(grantId)) ??
      new provider.Grant({ accountId: session?.accountId ?? state.visitor, clientId });
    const missing = prompt.details as {
      missingOIDCScope?: string[];
      missingOIDCClaims?: string[];
      missingResourceScopes?: Record<string, string[]>;
    };
    if (missing.missingOIDCScope) grant.addOIDCScope(missing.missingOIDCScope.join(' '));
    if (missing.missingOIDCClaims) grant.addOIDCClaims(missing.missingOIDCClaims);
    for (const [resource, scopes] of Object.entries(missing.missingResourceScopes ?? {}))
      grant.addResourceScope(resource, scopes.join(' '));
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  };
  handler = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) {
      void running.callback(request, response);
      return;
    }
    interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  };

  return {
    issuer,
    get keys() {
      return keys;
    },
    setKeys: (next) => {
      keys = next;
      running = begin();
    },
    people,
    asked,
    get visitor() {
      return state.visitor;
    },
    set visitor(name) {
      state.visitor = name;
    },
    follow: async (address) => {
      const cookies = new Map<string, string>();
      let next = new URL(address);
      for (let hop = 0; hop < 10; hop += 1) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await send('GET', next.href, { headers: cookie === '' ? {} : { Cookie: cookie } });
        remember(cookies, answer);
        const { location } = answer.headers;
        if (location === undefined) throw new Error(`${next.href} answers ${answer.status}: ${answer.text}`);
        next = new URL(location, next);
        if (next.origin !== issuer) return next;
      }
      throw new Error('the provider sends in circles');
    },
    setDown: async (down) => {
      if (down) await close();
      else {
        server = make();
        await listen(port);
      }
    },
    close: async () => {
      await close();
      if (!options.keys) freeKeys.push(own);
    },
  };
}
