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

/** Not called while an earlier call of it runs, so it must end: no time-out of a call counts for it. */
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
  /** The newest call of `getToken` that has not ended. */
  let running: { of: string; grant: Promise<Grant> } | undefined;
  const ask = async (wish: TokenWish, earlier: Promise<unknown> | undefined) => {
    await earlier?.catch(() => undefined);
    const given = await getToken(wish);
    return typeof given === 'string' ? grantOf(given) : given;
  };
  return {
    renewable: true,
    // One at a time, and once for all who want the same: a refresh token may be used once.
    get: (wish = {}) => {
      const of = `${wish.minValidMs} ${wish.refused}`;
      if (running?.of !== of) {
        const mine = { of, grant: ask(wish, running?.grant) };
        const done = () => (running = running === mine ? undefined : running);
        running = mine;
        mine.grant.then(done, done);
      }
      return running.grant;
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
