/** How a credential is written in a header. */
/** Longer than any token this relay will ever see, short enough to hash without thinking. */
export const maxTokenLength = 16 * 1024;

/** RFC 6750: the scheme in any case, one space or more, then the characters of a token and nothing else. */
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * The token of an `Authorization` header.
 *
 * @returns undefined if the header is missing or repeated, uses another scheme, contains more than the token, or
 * exceeds 16 KiB. Does not check whether the token is valid.
 */
export function bearerFrom(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string' || header.length > maxTokenLength + 'Bearer '.length) return undefined;
  const token = bearer.exec(header)?.[1];
  return token !== undefined && token.length <= maxTokenLength ? token : undefined;
}
