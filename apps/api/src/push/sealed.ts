/**
 * Encryption of the addresses and secrets of subscriptions (rules, 14.7): AES-256-GCM under keys derived from `PUSH_SECRET`. The first
 * secret seals, all of them open, so that secrets can be rotated.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export interface Seal {
  seal(value: unknown): string;
  /** Undefined if no secret opens it, or it was changed. */
  open(sealed: string): unknown;
  /** Opens a value that a later secret sealed; undefined if the first secret sealed it, or no secret opens it. */
  openOlder(sealed: string): unknown;
  /** Keyed hashes of a text, one for each secret, the current one first. */
  hashes(text: string): string[];
}

const ivBytes = 12;
const tagBytes = 16;
const keyBytes = 32;

export function createSeal(secrets: readonly string[]): Seal {
  const derive = (purpose: string) =>
    secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', `relay push ${purpose}`, keyBytes)));
  const keys = derive('seal');
  const hashKeys = derive('hash');
  const [current] = keys;
  if (current === undefined) throw new TypeError('there is no secret to seal with');
  /** @throws Error when another key sealed it, or it was changed */
  const openWith = (key: Buffer, bytes: Buffer): unknown => {
    const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    cipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    const opened = Buffer.concat([cipher.update(bytes.subarray(ivBytes + tagBytes)), cipher.final()]);
    return JSON.parse(opened.toString('utf8')) as unknown;
  };
  /** The value, and the place in the list of the secret that sealed it. */
  const find = (sealed: string): { value: unknown; place: number } | undefined => {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < ivBytes + tagBytes) return undefined;
    for (const [place, key] of keys.entries()) {
      try {
        return { value: openWith(key, bytes), place };
      } catch {
        // Sealed with another secret.
      }
    }
    return undefined;
  };
  return {
    seal: (value) => {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', current, iv);
      const body = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    },
    open: (sealed) => find(sealed)?.value,
    openOlder: (sealed) => {
      const found = find(sealed);
      return found && found.place > 0 ? found.value : undefined;
    },
    hashes: (text) => hashKeys.map((key) => createHmac('sha256', key).update(text).digest('base64url')),
  };
}
