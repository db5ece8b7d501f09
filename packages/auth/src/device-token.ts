/**
 * The secrets of registering a device: the token a daemon keeps, the code it polls with and the code a person types.
 * All pure.
 *
 * A device token is `rly_drt_` + 43 characters base64url (256 bits) + 6 characters of checksum. The checksum is the
 * CRC-32 (as in zlib) of everything before it, written with the digits 0-9A-Za-z in base 62, most significant first,
 * padded with 0. It does not add security: it rejects garbage and typing errors without a database query, and lets
 * secret scanners recognise a leaked token with certainty.
 */
import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { foldedCode } from '@relay/protocol/plain';

const prefix = 'rly_drt_';
const shape = /^rly_drt_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/;
const acpPrefix = 'rly_acp_';
const acpShape = /^rly_acp_[A-Za-z0-9_-]{43}$/;
const checksumLength = 6;
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Separates purposes, so that the same code and salt never derive the same bytes for another use. */
const derivationLabel = 'relay device refresh token v1';

/** No vowels, so that codes never spell something. No characters that look alike. */
const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
const userCode = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/i;
const maxTypedLength = 64;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (rest > 0) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits.padStart(checksumLength, '0');
}

/**
 * The token that redeeming `deviceCode` gives. The same code and salt always give the same token, so that the relay can
 * repeat a lost answer without storing the token (rules, 7.6). Deriving it needs the code, which only the daemon has;
 * the stored data is not enough.
 *
 * @param salt stored with the hashed code; different for every code
 */
export function deriveDeviceToken(deviceCode: string, salt: string): string {
  const secret = createHmac('sha256', deviceCode).update(`${derivationLabel}\0${salt}`).digest('base64url');
  const body = prefix + secret;
  return body + checksum(body);
}

/** True if `text` has the shape and the checksum of a device token. Costs microseconds, and no lookup. */
export function isDeviceToken(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** SHA-256, hexadecimal: the only stored form of a device token. */
export function hashDeviceToken(token: string): string {
  return sha256(token);
}

/** 256 random bits, 43 characters base64url. */
export function createDeviceCode(): string {
  return randomBytes(32).toString('base64url');
}

/** A registration key: `rly_key_` and 256 random bits. With it machines register without a person (rules, 7.13). */
export function createDeviceKey(): string {
  return `rly_key_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256, hexadecimal: the only stored form of a registration key. */
export function hashDeviceKey(key: string): string {
  return sha256(key);
}

/** A token of an ACP client (rules, 18.8): `rly_acp_` and 256 random bits. */
export function createAcpToken(): string {
  return `${acpPrefix}${randomBytes(32).toString('base64url')}`;
}

/** Whether a credential can be a token of an ACP client; costs no lookup. */
export const isAcpToken = (text: string): boolean => acpShape.test(text);

/** SHA-256, hexadecimal: the only stored form of an ACP client's token. */
export function hashAcpToken(token: string): string {
  return sha256(token);
}

/** SHA-256, hexadecimal: the only stored form of a device code. */
export function hashDeviceCode(deviceCode: string): string {
  return sha256(deviceCode);
}

const grouped = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`;

/** Eight letters, every one equally likely (34 bits), as `XXXX-XXXX`: its displayed and stored form. */
export function createUserCode(): string {
  const letters = Array.from({ length: 8 }, () => userCodeLetters.charAt(randomInt(userCodeLetters.length)));
  return grouped(letters.join(''));
}

/**
 * The text that a person typed, in the form of `createUserCode`.
 *
 * @returns undefined if no user code can be meant
 */
export function normalizeUserCode(text: string): string | undefined {
  if (text.length > maxTypedLength) return undefined;
  const letters = foldedCode(text);
  return userCode.test(letters) ? grouped(letters) : undefined;
}
