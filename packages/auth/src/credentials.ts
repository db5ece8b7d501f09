// How a credential is written in a header.

/** Longer than any token this relay will ever see, short enough to hash without thinking. */
export const MAX_TOKEN_LENGTH = 16 * 1024;

/** RFC 6750: the scheme in any case, one space or more, then the characters of a token and nothing else. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * The token of an `Authorization` header.
 *
 * @returns undefined if there is no header, another scheme, more than one header, anything beside the token, or more than
 *   16 KiB. Whether the token is any good is not looked at.
 */
export function bearerFrom(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string' || header.length > MAX_TOKEN_LENGTH + 'Bearer '.length) return undefined;
  const token = BEARER.exec(header)?.[1];
  return token !== undefined && token.length <= MAX_TOKEN_LENGTH ? token : undefined;
}
