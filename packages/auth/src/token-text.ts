/** The text of a compact JWT, read before anything in it is trusted. It decides only which key has to prove it. */
import { AuthError } from './auth-error.ts';

type Json = Readonly<Record<string, unknown>>;

const compact = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

function objectOf(part: string): Json {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not an object');
  return value as Json;
}

/**
 * Header and claims of a signed token, unverified.
 *
 * @throws AuthError INVALID_TOKEN if it does not have three base64url parts, the first two being JSON objects. An
 * unsigned token has an empty third part and fails here.
 */
export function readToken(token: string): { readonly header: Json; readonly claims: Json } {
  const [, header = '', claims = ''] = compact.exec(token) ?? [];
  try {
    return { header: objectOf(header), claims: objectOf(claims) };
  } catch {
    throw new AuthError('INVALID_TOKEN', 'This is not an access token (a JWT). Sign in again.');
  }
}
