/**
 * The keys that identify this relay to push services (RFC 8292): made once for all instances, kept sealed in the database. A
 * browser trusts only the key it received, so older keys are kept for 90 days after a rotation.
 */
import { type KeyObject, createECDH, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { RelayConfig } from '@relay/config';
import { type Database, type Db, keepServerKey, readServerKeys, rotateServerKey } from '@relay/database';
import jwt from 'jsonwebtoken';
import { type Seal, createSeal } from './sealed.ts';

export interface Vapid {
  /** `applicationServerKey`, base64url. */
  readonly publicKey: string;
  /** The header for a push service. */
  authorization(origin: string): string;
}

export interface VapidKeys {
  /** The key of new subscriptions. */
  readonly current: Vapid;
  /** The key of that public half; without one, the oldest. */
  find(publicKey: string | undefined): Vapid | undefined;
}

const vapidPurpose = 'vapid';
const tokenSeconds = 12 * 3600;
const renewMs = 3600_000;
const maxOrigins = 1000;

/** A stored key pair: the public key, and the private key as PKCS #8. */
function makeVapidKey(): { publicKey: string; privatePem: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicHalf(privateKey),
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function publicHalf(key: KeyObject): string {
  const { x, y } = key.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);
  return point.toString('base64url');
}

/** One of `VAPID_PRIVATE_KEY`: 32 bytes in base64url, as `web-push generate-vapid-keys` prints them. @throws Error for anything else */
export function readVapidKey(text: string): KeyObject {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(Buffer.from(text, 'base64url'));
  const point = pair.getPublicKey();
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  return createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: text }, format: 'jwk' });
}

/** `keys`: the current one first. */
export function vapidKeysOf(
  keys: readonly KeyObject[],
  contact: string | undefined,
  now: () => number = Date.now,
): VapidKeys | undefined {
  const all = keys.map((key) => vapidOf(key, contact, now));
  const [current] = all;
  if (current === undefined) return undefined;
  return {
    current,
    find: (publicKey) =>
      publicKey === undefined ? all.at(-1) : all.find((vapid) => vapid.publicKey === publicKey.replace(/=+$/, '')),
  };
}

/** Reads the keys, or makes the first. Undefined if no secret opens the current one. */
export async function openVapidKeys(db: Db, seal: Seal, contact: string | undefined): Promise<VapidKeys | undefined> {
  let kept = await readServerKeys(db, vapidPurpose);
  if (kept.length === 0) {
    const { publicKey, privatePem } = makeVapidKey();
    kept = [await keepServerKey(db, vapidPurpose, { publicKey, sealed: seal.seal(privatePem) })];
  }
  const opened = kept.map(({ sealed }) => seal.open(sealed));
  if (typeof opened[0] !== 'string') return undefined;
  const keys = opened.filter((pem) => typeof pem === 'string').map((pem) => createPrivateKey(pem));
  return vapidKeysOf(keys, contact);
}

/**
 * Makes a new key for browsers; browsers with the previous key stay reachable for 90 days. Every api has the new key within a
 * minute. Returns its public half; undefined if the operator provides the keys (`VAPID_PRIVATE_KEY`) or no secret can seal it.
 */
export async function rotatePushKey({
  config,
  database,
}: {
  config: Pick<RelayConfig, 'pushSecret' | 'vapidPrivateKey'>;
  database: Database;
}): Promise<string | undefined> {
  if (config.vapidPrivateKey.length > 0 || config.pushSecret.length === 0) return undefined;
  const { publicKey, privatePem } = makeVapidKey();
  await rotateServerKey(database, vapidPurpose, { publicKey, sealed: createSeal(config.pushSecret).seal(privatePem) });
  return publicKey;
}

function vapidOf(key: KeyObject, contact: string | undefined, now: () => number): Vapid {
  const publicKey = publicHalf(key);
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
