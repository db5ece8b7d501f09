/** An authenticator app (RFC 6238) of a person with a second factor. */
import { createHmac } from 'node:crypto';
import { type Browser, password } from './browser.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function bytesOf(base32: string): Buffer {
  const bits = [...base32].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of an address `otpauth://`, or of its secret in base32; `steps` half minutes from now. */
export function oneTimeCode(uriOrSecret: string, steps = 0): string {
  const secret = uriOrSecret.startsWith('otpauth:') ? new URL(uriOrSecret).searchParams.get('secret')! : uriOrSecret;
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const mac = createHmac('sha1', bytesOf(secret.replaceAll(' ', '')))
    .update(counter)
    .digest();
  return String((mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

interface SecondFactor {
  uri: string;
  /** The code that turned it on. */
  usedCode: string;
  recoveryCodes: string[];
}

/** Sets up one-time codes for the person who is signed in. */
export async function setUpSecondFactor(browser: Browser): Promise<SecondFactor> {
  const begun = await browser.send('POST', '/auth/two-factor/enable', { body: { password } });
  if (begun.status !== 200) throw new Error(`enable: ${begun.status} ${begun.text}`);
  const { totpURI: uri, backupCodes: recoveryCodes } = begun.body as { totpURI: string; backupCodes: string[] };
  const usedCode = oneTimeCode(uri);
  const done = await giveCode(browser, usedCode);
  if (done.status !== 200) throw new Error(`verify: ${done.status} ${done.text}`);
  return { uri, usedCode, recoveryCodes };
}

export const giveCode = (browser: Browser, code: string, more: object = {}) =>
  browser.send('POST', '/auth/two-factor/verify-totp', { body: { code, ...more } });

export const giveRecoveryCode = (browser: Browser, code: string) =>
  browser.send('POST', '/auth/two-factor/verify-backup-code', { body: { code } });
