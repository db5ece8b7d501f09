/** The key by which push services of browsers know this relay (RFC 8292): made once for all instances, kept sealed in the database. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { type Db, keepServerKey, readServerKey } from '@relay/database';
import jwt from 'jsonwebtoken';
import type { Seal } from './sealed.ts';

export interface Vapid {
  /** `applicationServerKey`, base64url. */
  readonly publicKey: string;
  /** The header for a push service. */
  authorization(origin: string): string;
}

const tokenSeconds = 12 * 3600;
const renewMs = 3600_000;
const maxOrigins = 1000;

function make(): { publicKey: string; privatePem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);
  return {
    publicKey: point.toString('base64url'),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Reads the key, or makes it. Undefined when none of the secrets opens it: browsers trust no other key than the one they were given. */
export async function openVapid(
  db: Db,
  seal: Seal,
  contact: string | undefined,
  now: () => number = Date.now,
): Promise<Vapid | undefined> {
  let kept = await readServerKey(db, 'vapid');
  if (kept === undefined) {
    const { publicKey, privatePem } = make();
    kept = await keepServerKey(db, 'vapid', { publicKey, sealed: seal.seal(privatePem) });
  }
  const pem = seal.open(kept.sealed);
  if (typeof pem !== 'string') return undefined;
  const key = createPrivateKey(pem);
  const { publicKey } = kept;
  const tokens = new Map<string, { token: string; madeAt: number }>();
  return {
    publicKey,
    authorization: (origin) => {
      let made = tokens.get(origin);
      if (made === undefined || now() - made.madeAt > renewMs) {
        const claims = { aud: origin, exp: Math.floor(now() / 1000) + tokenSeconds };
        const token = jwt.sign(contact === undefined ? claims : { ...claims, sub: contact }, key, {
          algorithm: 'ES256',
          noTimestamp: true,
        });
        made = { token, madeAt: now() };
        if (tokens.size >= maxOrigins) tokens.clear();
        tokens.set(origin, made);
      }
      return `vapid t=${made.token}, k=${publicKey}`;
    },
  };
}
