/** The keys of one issuer: fetched when needed, seldom, once at a time, and kept when the issuer is away. */
import type { KeyObject } from 'node:crypto';
import { AuthError } from './auth-error.ts';
import { fetchJson } from './fetch-json.ts';
import type { Algorithm, IssuerConfig } from './issuer-config.ts';
import { type PublicKey, findKey, publicKeysOf } from './public-keys.ts';

/** Between two fetches for an unknown `kid`: random ones must not become load on the issuer. */
const remoteCooldownMs = 30_000;
/** The same where the keys are asked of this process: a key that was made a moment ago must not be unknown for long. */
const localCooldownMs = 1_000;
/** After a failed fetch, doubling up to the cooldown: an issuer that starts beside us is found within a second or two. */
const firstRetryMs = 1_000;
/** Older keys are renewed in the background, so that a key the issuer withdrew stops working here. */
const refreshAfterMs = 10 * 60_000;
/** Keys unused for this long are renewed before the answer, once; if that fails they stay in use. */
const renewFirstAfterMs = 60 * 60_000;

interface KeySourceOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly clock: () => number;
  readonly timeoutMs: number;
}

export interface KeySource {
  /**
   * The key of the issuer that a token names.
   *
   * @throws AuthError INVALID_TOKEN if the issuer does not have the key; SERVICE_UNAVAILABLE if fetching its keys
   * failed.
   */
  keyFor(kid: string | undefined, algorithm: Algorithm): Promise<KeyObject>;
}

const withoutSlash = (address: string): string => address.replace(/\/+$/, '');

/** RFC 8414 puts the well-known part before the path of the issuer, OpenID Connect after it. */
function discoveryAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  return [
    `${withoutSlash(issuer)}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${withoutSlash(pathname)}`,
  ];
}

async function discover(issuer: string, options: KeySourceOptions): Promise<string> {
  let reason: unknown;
  for (const address of discoveryAddresses(issuer)) {
    try {
      const document = await fetchJson(address, options);
      // This check prevents another service's document from bringing its keys under this issuer's name.
      if (document.issuer !== issuer) throw new Error('it describes another issuer');
      if (typeof document.jwks_uri === 'string') return document.jwks_uri;
      throw new Error('it names no key set');
    } catch (error) {
      reason = new Error(`${address} cannot be used`, { cause: error });
    }
  }
  throw reason;
}

async function fetchKeys(config: IssuerConfig, options: KeySourceOptions): Promise<PublicKey[]> {
  if (typeof config.keys === 'function') return publicKeysOf(await config.keys());
  const address = config.jwksUri ?? (await discover(config.issuer, options));
  const document = await fetchJson(address, options);
  const keys = Array.isArray(document.keys) ? publicKeysOf(document.keys) : [];
  // An empty set is a broken answer rather than a rotation: keys that work are not thrown away for it.
  if (keys.length === 0) throw new Error(`${address} has no key that can be used`);
  return keys;
}

/** Node's error codes for a name without an address, and for a name server that does not answer. */
const unresolved = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** An error about a host that cannot be resolved names the variable of its issuer; any other failure is passed on. */
function withVariable(error: unknown, issuer: string): unknown {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    const { code = '', hostname = '' } = inner as { code?: string; hostname?: string };
    if (unresolved.has(code))
      return new Error(`The host ${hostname} of the issuer ${issuer} (AUTH_ISSUERS) cannot be resolved (${code})`, {
        cause: error,
      });
  }
  return error;
}

function unknownKey(): AuthError {
  return new AuthError('INVALID_TOKEN', 'The token does not name a key that its issuer publishes. Sign in again.');
}

function fixedKeys(keys: readonly PublicKey[]): KeySource {
  return {
    keyFor: (kid, algorithm) => {
      const key = findKey(keys, kid, algorithm);
      return key ? Promise.resolve(key) : Promise.reject(unknownKey());
    },
  };
}

/** The keys of `config`, fixed or fetched. Nothing is fetched before the first token. */
export function createKeySource(config: IssuerConfig, options: KeySourceOptions): KeySource {
  if (Array.isArray(config.keys)) return fixedKeys(publicKeysOf(config.keys));
  const cooldownMs = config.keys ? localCooldownMs : remoteCooldownMs;

  let keys: readonly PublicKey[] = [];
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let nextFetchAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let lastFailure: unknown;
  let inFlight: Promise<void> | undefined;

  async function load(): Promise<void> {
    try {
      keys = await fetchKeys(config, options);
      fetchedAt = options.clock();
      nextFetchAt = fetchedAt + cooldownMs;
      failures = 0;
    } catch (error) {
      nextFetchAt = options.clock() + Math.min(cooldownMs, firstRetryMs * 2 ** failures);
      failures = Math.min(failures + 1, 10);
      lastFailure = withVariable(error, config.issuer);
    }
  }

  /** Never rejects. Joins a running fetch; respects the pause between fetches. */
  function refresh(): Promise<void> {
    if (inFlight) return inFlight;
    if (options.clock() < nextFetchAt) return Promise.resolve();
    inFlight = load().finally(() => (inFlight = undefined));
    return inFlight;
  }

  function unavailable(): AuthError {
    const waitMs = Math.max(0, nextFetchAt - options.clock());
    return new AuthError(
      'SERVICE_UNAVAILABLE',
      'The keys of the sign-in service cannot be fetched. Try again shortly.',
      {
        cause: lastFailure,
        retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
      },
    );
  }

  return {
    async keyFor(kid, algorithm) {
      const age = options.clock() - fetchedAt;
      // Wait only until the first failure, so that a failing issuer delays one caller now and then instead of all
      // callers.
      if (keys.length > 0 && age > renewFirstAfterMs && failures === 0) await refresh();
      else if (keys.length > 0 && age > refreshAfterMs) void refresh();

      const cached = findKey(keys, kid, algorithm);
      if (cached) return cached;
      await refresh();
      const found = findKey(keys, kid, algorithm);
      if (found) return found;
      throw failures > 0 ? unavailable() : unknownKey();
    },
  };
}
