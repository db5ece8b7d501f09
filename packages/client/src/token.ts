/** Access tokens as the caller hands them over: fixed, or got on demand. */

export interface TokenWish {
  /** The relay did not accept this one: get another. */
  refused?: string | undefined;
  /** It should be good for so long, in milliseconds. A shorter one is used too. */
  minValidMs?: number | undefined;
}

export interface Grant {
  token: string;
  /** Milliseconds since the epoch. Default: the claim `exp` of the token, if it is a JWT. */
  expiresAt?: number | undefined;
}

export type GetToken = (wish: TokenWish) => string | Grant | Promise<string | Grant>;

export interface Tokens {
  /** False with a fixed token: asking again cannot help. */
  readonly renewable: boolean;
  /** undefined when the client has no credential. Rejects as `getToken` does. */
  get(wish?: TokenWish): Promise<Grant | undefined>;
}

export function createTokens(token: string | undefined, getToken: GetToken | undefined): Tokens {
  if (!getToken) {
    const grant = token === undefined ? undefined : grantOf(token);
    return { renewable: false, get: () => Promise.resolve(grant) };
  }
  return {
    renewable: true,
    get: async (wish = {}) => {
      const given = await getToken(wish);
      return typeof given === 'string' ? grantOf(given) : given;
    },
  };
}

const grantOf = (token: string): Grant => ({ token, expiresAt: expiryOf(token) });

/** Read off the token without verifying it: only to know when to get a new one. */
function expiryOf(token: string): number | undefined {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { exp } = JSON.parse(atob(payload)) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
