/**
 * One-use tokens that answer a question from its notification (rules, 14.41): a JWT for one option, or for free text, of one
 * question. It opens nothing else, and its route accepts no other token.
 */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { AuthError } from '@relay/auth';
import { type AnswerKey, type Db, keepAnswerKey, readAnswerKeys } from '@relay/database';
import jwt from 'jsonwebtoken';
import type { Seal } from './sealed.ts';

export interface AnswerClaims {
  /** The person. */
  sub: string;
  /** The sign-in that added the address; undefined if the person's token named no sign-in. */
  sid?: string | undefined;
  /** The address. */
  address: string;
  /** The idempotency key of the answer. */
  jti: string;
  session: string;
  prompt: string;
  digest?: string | undefined;
  /** Absent: the token is for free text. */
  option?: string | undefined;
}

export interface AnswerTokens {
  /** Undefined when the key of this month cannot be opened: notifications then offer no answers. */
  sign(claims: readonly AnswerClaims[], expiresAtMs: number): Promise<string[] | undefined>;
  /** @throws AuthError INVALID_TOKEN, TOKEN_EXPIRED, SERVICE_UNAVAILABLE (its key might be too new for this instance) */
  verify(token: string): Promise<AnswerClaims>;
}

const type = 'answer+jwt';
/** A key signs for 30 days. Tokens live for a day at most, so that verifying for two more is enough. */
const signMs = 30 * 24 * 3600_000;
const verifyMs = 2 * 24 * 3600_000;
/** Between two looks for a key that is not known: forged names of keys must not become load on the database. */
const lookMs = 30_000;
const toleranceSeconds = 5;

const invalid = (cause?: unknown) =>
  new AuthError('INVALID_TOKEN', 'This is no token for an answer. Open the session and answer there.', { cause });
const nameOf = (period: number) => `answers:${period}`;

function makeKey(seal: Seal): AnswerKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sealed: seal.seal(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
  };
}

interface AnswerTokensDeps {
  database: Db;
  seal: Seal;
  publicUrl: string;
  now?: () => number;
}

export function createAnswerTokens({ database, seal, publicUrl, now = Date.now }: AnswerTokensDeps): AnswerTokens {
  const audience = `${publicUrl}/api/answers`;
  const periodNow = () => Math.floor(now() / signMs);
  let signing: { period: number; key: Promise<KeyObject | undefined> } | undefined;
  let publicKeys = new Map<string, KeyObject>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  const keyToSign = (): Promise<KeyObject | undefined> => {
    const period = periodNow();
    if (signing?.period !== period) {
      const key = keepAnswerKey(database, nameOf(period), () => makeKey(seal)).then(({ sealed }) => {
        const pem = seal.open(sealed);
        return typeof pem === 'string' ? createPrivateKey(pem) : undefined;
      });
      const mine = { period, key };
      signing = mine;
      key.catch(() => {
        if (signing === mine) signing = undefined;
      });
    }
    return signing.key;
  };

  /** The names of keys that might have signed an unexpired token; clocks of instances differ a little. */
  const verifiable = () => {
    const first = Math.floor((now() - verifyMs) / signMs);
    return [...new Set([first, periodNow(), periodNow() + 1])].map(nameOf);
  };
  const look = (): Promise<void> =>
    (looking ??= readAnswerKeys(database, verifiable())
      .then((found) => {
        publicKeys = new Map([...found].map(([name, pem]) => [name, createPublicKey(pem)]));
        lookedAt = now();
      })
      .finally(() => (looking = undefined)));

  const keyOf = async (kid: unknown): Promise<KeyObject> => {
    if (typeof kid !== 'string' || !verifiable().includes(kid)) throw invalid();
    const waitMs = lookedAt + lookMs - now();
    if (!publicKeys.has(kid) && waitMs <= 0) await look();
    const key = publicKeys.get(kid);
    if (key) return key;
    throw new AuthError('SERVICE_UNAVAILABLE', 'The key of this token is not known here yet. Try again shortly.', {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
  };

  return {
    sign: async (claims, expiresAtMs) => {
      const kid = nameOf(periodNow());
      const key = await keyToSign();
      return (
        key &&
        claims.map((one) =>
          jwt.sign({ ...one, aud: audience, exp: Math.floor(expiresAtMs / 1000) }, key, {
            algorithm: 'ES256',
            noTimestamp: true,
            header: { alg: 'ES256', typ: type, kid },
          }),
        )
      );
    },
    verify: async (token) => {
      const header = headerOf(token);
      if (header?.typ !== type || header.alg !== 'ES256') throw invalid();
      const key = await keyOf(header.kid);
      let claims: AnswerClaims;
      try {
        claims = jwt.verify(token, key, {
          algorithms: ['ES256'],
          audience,
          clockTolerance: toleranceSeconds,
          clockTimestamp: Math.floor(now() / 1000),
        }) as unknown as AnswerClaims;
      } catch (error) {
        if (error instanceof jwt.TokenExpiredError)
          throw new AuthError('TOKEN_EXPIRED', 'The question is too old to be answered here. Open the session.', {
            cause: error,
          });
        throw invalid(error);
      }
      return claims;
    },
  };
}

/** Undefined for text that is not a JWT. The library throws for a JWT whose claims are not JSON. */
function headerOf(token: string): jwt.JwtHeader | undefined {
  try {
    return jwt.decode(token, { complete: true })?.header;
  } catch {
    return undefined;
  }
}
