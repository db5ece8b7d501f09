/** Sealing of a message for its receiver (RFC 8291). */
import { createECDH, randomBytes } from 'node:crypto';
import { encrypt } from 'http_ece';
import type { ReceiverKeys } from './targets.ts';

/** Salt, size of a record, key of the sender, padding and tag: all that is added to a text. */
export const sealBytes = 103;

/** A longer text would need a second record, which no push service takes. */
const recordBytes = 4096;

/** Raised for invalid keys: nothing was sent. */
export class KeysInvalid extends Error {
  override readonly name = 'KeysInvalid';
}

/** @throws KeysInvalid */
export function sealText(text: Buffer, { p256dh, auth }: ReceiverKeys): Buffer {
  const key = createECDH('prime256v1');
  key.generateKeys();
  const salt = randomBytes(16).toString('base64url');
  try {
    return encrypt(text, {
      version: 'aes128gcm',
      dh: p256dh,
      authSecret: auth,
      privateKey: key,
      salt,
      rs: recordBytes,
    });
  } catch (error) {
    throw new KeysInvalid('the keys of the receiver are none', { cause: error });
  }
}
