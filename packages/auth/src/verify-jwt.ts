/** Who sent this access token? Knows issuers, audiences, keys and claims; never a route, a socket or a row. */
import { type KeyObject, hash } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { AuthError } from './auth-error.ts';
import { maxTokenLength } from './credentials.ts';
import { type IssuerConfig, type Algorithm, checkIssuers, knownAlgorithms } from './issuer-config.ts';
import { type KeySource, createKeySource } from './key-source.ts';
import { type UserPrincipal, userIdOf } from './principal.ts';
import { type Revocation, createRevocations } from './revocations.ts';
import { scopesOf } from './scopes.ts';

const clockToleranceSeconds = 5;
/** The maximum of a Date; a later `exp` would break every consumer that formats it. */
const maxTimeSeconds = 8.64e12;
const maxSubjectLength = 255;

interface JwtVerifierOptions {
  /** Tokens of any other issuer are refused. */
  readonly issuers: readonly IssuerConfig[];
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  readonly fetch?: typeof globalThis.fetch;
  /** Defaults: 20,000 tokens, each for 60 s at most. */
  readonly cache?: { readonly maxEntries?: number; readonly maxAgeMs?: number };
  /** Limit for one document of an issuer; 5 s. */
  readonly fetchTimeoutMs?: number;
}

export interface JwtVerifier {
  /**
   * Verifies a compact JWT: issuer by `iss`, algorithm and type by allow-list, key by `kid`, signature, audience, `exp`
   * and `nbf` (5 s tolerance), `sub`. Accepts an absent `typ`, because not every service writes it; if present, only
   * JWT and at+jwt.
   *
   * @throws only AuthError INVALID_TOKEN, TOKEN_EXPIRED, TOKEN_REVOKED (the sender needs another token), or
   * SERVICE_UNAVAILABLE (the token might be valid, but the issuer's keys are unavailable).
   */
  verify(token: string): Promise<UserPrincipal>;
  /** Refuses the covered tokens from now on, cached ones included; remembered for their maximum lifetime. */
  revoke(revocation: Revocation): void;
  /** Checks an already verified principal: a live socket asks again when a revocation arrives. */
  isRevoked(principal: UserPrincipal): boolean;
}

interface TrustedIssuer {
  readonly config: IssuerConfig;
  readonly keys: KeySource;
}

interface Cached {
  readonly principal: UserPrincipal;
  readonly until: number;
}

const invalid = (message: string, cause?: unknown): AuthError => new AuthError('INVALID_TOKEN', message, { cause });
const revoked = (): AuthError => new AuthError('TOKEN_REVOKED');

function algorithmOf(name: unknown, config: IssuerConfig): Algorithm {
  const allowed = config.algorithms ?? knownAlgorithms;
  const algorithm = allowed.find((candidate) => candidate === name);
  if (!algorithm) throw invalid(`The token must be signed with ${allowed.join(' or ')}. Sign in again.`);
  return algorithm;
}

function checkType(type: unknown): void {
  if (type === undefined) return;
  // A type is written with or without the prefix "application/", in any case (RFC 7515, section 4.1.9).
  const name = typeof type === 'string' ? type.toLowerCase().replace(/^application\//, '') : '';
  if (name !== 'jwt' && name !== 'at+jwt') throw invalid('The token is not an access token. Send the access token.');
}

function checkedClaims(
  token: string,
  key: KeyObject,
  algorithm: Algorithm,
  config: IssuerConfig,
  nowMs: number,
): string | jwt.JwtPayload {
  const audience = Array.isArray(config.audience) ? (config.audience as [string, ...string[]]) : config.audience;
  try {
    return jwt.verify(token, key, {
      algorithms: [algorithm],
      issuer: config.issuer,
      audience,
      clockTolerance: clockToleranceSeconds,
      clockTimestamp: nowMs / 1000,
    });
  } catch (error) {
    if (error instanceof jwt.TokenExpiredError) {
      throw new AuthError('TOKEN_EXPIRED', { cause: error });
    }
    if (error instanceof jwt.NotBeforeError) throw invalid('The token is not valid yet. Check the clocks.', error);
    const reason = error instanceof jwt.JsonWebTokenError ? error.message : '';
    if (reason.startsWith('jwt audience')) {
      throw invalid('The token is meant for another audience. Ask for one for this relay.', error);
    }
    throw invalid('The token cannot be verified. Sign in again.', error);
  }
}

const seconds = (value: unknown): value is number => typeof value === 'number' && value > 0 && value <= maxTimeSeconds;

const shown = (value: unknown, maxLength: number): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= maxLength ? value : undefined;

function principalOf(claims: string | jwt.JwtPayload, config: IssuerConfig): UserPrincipal {
  if (typeof claims === 'string') throw invalid('The token carries no claims. Sign in again.');
  const { sub, exp, iat, auth_time: authTime } = claims as Record<string, unknown>;
  if (!seconds(exp)) throw invalid('The token does not say when it expires (exp). Sign in again.');
  // A NUL cannot be stored, and the other control characters only serve to deceive a reader of logs.
  if (typeof sub !== 'string' || sub === '' || sub.length > maxSubjectLength || /[\u0000-\u001f\u007f]/.test(sub)) {
    throw invalid('The token does not say whose it is (sub). Sign in again.');
  }
  // A subject with a bar could be the user id of a person at another sign-in service.
  if (config.ownAccounts && sub.includes('|'))
    throw invalid('The token names no account of this relay. Sign in again.');
  const email = shown(claims.email, 320);
  const name = shown(claims.name, 200);
  const sessionId = shown(claims.sid, 255);
  const chainId = config.ownAccounts ? shown((claims as { chain?: unknown }).chain, 255) : undefined;
  const clientId = shown(claims.client_id ?? claims.azp, 255);
  return {
    kind: 'user',
    userId: config.ownAccounts ? sub : userIdOf(config.issuer, sub),
    issuer: config.issuer,
    subject: sub,
    scopes: scopesOf(claims, config),
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { name }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(chainId === undefined ? {} : { chainId }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(seconds(authTime) ? { signedInAt: authTime * 1000 } : {}),
    issuedAt: seconds(iat) ? iat * 1000 : 0,
    expiresAt: exp * 1000,
  };
}

/**
 * A verifier for the tokens of `issuers` (rules, 8.1). Fetches nothing before the first token and keeps no timer.
 *
 * @throws TypeError if an issuer could never work or never be safe, or is named twice.
 */
export function createJwtVerifier(options: JwtVerifierOptions): JwtVerifier {
  checkIssuers(options.issuers);
  const clock = options.clock ?? Date.now;
  const maxAgeMs = options.cache?.maxAgeMs ?? 60_000;
  const source = { fetch: options.fetch ?? globalThis.fetch, clock, timeoutMs: options.fetchTimeoutMs ?? 5_000 };
  const trusted = new Map<string, TrustedIssuer>(
    options.issuers.map((config) => [config.issuer, { config, keys: createKeySource(config, source) }]),
  );
  // `max` would reserve memory for all entries now.
  const maxSize = options.cache?.maxEntries ?? 20_000;
  const cache = new LRUCache<string, Cached>({ maxSize, sizeCalculation: () => 1 });
  const revocations = createRevocations(clock);

  function remembered(digest: string): UserPrincipal | undefined {
    const entry = cache.get(digest);
    if (entry && entry.until > clock()) return entry.principal;
    if (entry) cache.delete(digest);
    return undefined;
  }

  async function verifyUnknown(token: string, digest: string): Promise<UserPrincipal> {
    const { header, claims } = readToken(token);
    const issuer = typeof claims.iss === 'string' ? trusted.get(claims.iss) : undefined;
    if (!issuer) throw invalid('The token comes from a sign-in service that is not trusted here. Sign in again.');
    const algorithm = algorithmOf(header.alg, issuer.config);
    checkType(header.typ);
    // An extension that must be understood, and is not (RFC 7515, section 4.1.11).
    if (header.crit !== undefined) throw invalid('The token uses extensions that are not known here.');
    const kid = header.kid;
    if (kid !== undefined && typeof kid !== 'string') throw invalid('The token does not name its key. Sign in again.');

    const key = await issuer.keys.keyFor(kid, algorithm);
    const now = clock();
    const principal = principalOf(checkedClaims(token, key, algorithm, issuer.config, now), issuer.config);
    cache.set(digest, { principal, until: Math.min(now + maxAgeMs, principal.expiresAt) });
    return principal;
  }

  return {
    async verify(token) {
      if (token.length > maxTokenLength) throw invalid('The token is too long. Sign in again.');
      const digest = hash('sha256', token, 'base64url');
      const principal = remembered(digest) ?? (await verifyUnknown(token, digest));
      if (revocations.covers(principal)) throw revoked();
      return principal;
    },
    revoke: (revocation) => revocations.add(revocation),
    isRevoked: (principal) => revocations.covers(principal),
  };
}

type Json = Readonly<Record<string, unknown>>;

const compact = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

function objectOf(part: string): Json {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object');
  return value as Json;
}

/**
 * Header and claims of a signed token, unverified: they decide only which key has to prove it.
 *
 * @throws AuthError INVALID_TOKEN if it does not have three base64url parts, the first two being JSON objects. An
 * unsigned token has an empty third part and fails here.
 */
function readToken(token: string): { readonly header: Json; readonly claims: Json } {
  const [, header = '', claims = ''] = compact.exec(token) ?? [];
  try {
    return { header: objectOf(header), claims: objectOf(claims) };
  } catch {
    throw new AuthError('INVALID_TOKEN', 'This is not an access token (a JWT). Sign in again.');
  }
}
