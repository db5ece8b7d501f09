/** The part of `http_ece` that is used; the package has no types. */
declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  export interface EncryptOptions {
    version: 'aes128gcm';
    /** Public key of the receiver, base64url. */
    dh: string;
    authSecret: string;
    privateKey: ECDH;
    /** 16 bytes, base64url. */
    salt: string;
    /** Size of a record. */
    rs: number;
  }
  export function encrypt(plaintext: Buffer, options: EncryptOptions): Buffer;
}
