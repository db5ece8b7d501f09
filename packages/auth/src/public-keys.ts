/**
 * Converts a published key set to verification keys. Pure. Unusable keys are skipped; one bad key does not invalidate
 * the set.
 */
import { type KeyObject, createPublicKey } from 'node:crypto';
import type { Algorithm, Jwk } from './issuer-config.ts';

export interface PublicKey {
  readonly kid: string | undefined;
  readonly key: KeyObject;
  readonly algorithms: readonly Algorithm[];
}

const maxKeys = 200;

function algorithmsOf(jwk: Jwk, key: KeyObject): readonly Algorithm[] {
  const details = key.asymmetricKeyDetails;
  const possible: readonly Algorithm[] =
    key.asymmetricKeyType === 'rsa' && (details?.modulusLength ?? 0) >= 2048
      ? ['RS256', 'PS256']
      : key.asymmetricKeyType === 'ec' && details?.namedCurve === 'prime256v1'
        ? ['ES256']
        : [];
  return jwk.alg === undefined ? possible : possible.filter((name) => name === jwk.alg);
}

function publicKey(jwk: Jwk): PublicKey | undefined {
  if (jwk.use !== undefined && jwk.use !== 'sig') return undefined;
  if (Array.isArray(jwk.key_ops) && !jwk.key_ops.includes('verify')) return undefined;
  if (jwk.kty !== 'RSA' && jwk.kty !== 'EC') return undefined;
  const { kty, n, e, crv, x, y, kid } = jwk;
  const half = kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y };
  try {
    // Pass only the public members: a private key published by mistake then acts as a public one.
    const key = createPublicKey({ key: half as Jwk, format: 'jwk' });
    const algorithms = algorithmsOf(jwk, key);
    return algorithms.length === 0 ? undefined : { kid: typeof kid === 'string' ? kid : undefined, key, algorithms };
  } catch {
    return undefined;
  }
}

/** The keys of a key set that can verify ES256 (P-256), RS256 or PS256 (2048 bits and more), in the order of the set. */
export function publicKeysOf(jwks: readonly unknown[]): PublicKey[] {
  return jwks
    .slice(0, maxKeys)
    .map((jwk) => (typeof jwk === 'object' && jwk !== null ? publicKey(jwk as Jwk) : undefined))
    .filter((key) => key !== undefined);
}

/**
 * The key that a token names. Without `kid` there must be exactly one candidate: trying them all would let a stranger make
 * every verification cost as much as the whole set.
 */
export function findKey(
  keys: readonly PublicKey[],
  kid: string | undefined,
  algorithm: Algorithm,
): KeyObject | undefined {
  const fitting = keys.filter((key) => key.algorithms.includes(algorithm) && (kid === undefined || key.kid === kid));
  return kid !== undefined || fitting.length === 1 ? fitting[0]?.key : undefined;
}
