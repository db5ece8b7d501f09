/** Access tokens of the caller: a fixed token, or tokens on demand. */

export interface TokenWish {
  /** The relay refused this token: return another. */
  refused?: string | undefined;
  /** Desired validity in milliseconds. A shorter one is accepted. */
  minValidMs?: number | undefined;
}

export interface Grant {
  token: string;
  /** Milliseconds since the epoch. Default: the claim `exp` if the token is a JWT. */
  expiresAt?: number | undefined;
}

/** Never called concurrently. It must settle, because no time-out of a call applies to it. */
export type GetToken = (wish: TokenWish) => string | Grant | Promise<string | Grant>;

export interface Tokens {
  /** False for a fixed token: another request cannot help. */
  readonly renewable: boolean;
  /** Returns undefined if the client has no credential. Rejects like `getToken`. */
  get(wish?: TokenWish): Promise<Grant | undefined>;
}

export function createTokens(token: string | undefined, getToken: GetToken | undefined): Tokens {
  if (!getToken) {
    const grant = token === undefined ? undefined : grantOf(token);
    return { renewable: false, get: () => Promise.resolve(grant) };
  }
  /** The newest pending call of `getToken`. */
  let running: { of: string; grant: Promise<Grant> } | undefined;
  const ask = async (wish: TokenWish, earlier: Promise<unknown> | undefined) => {
    await earlier?.catch(() => undefined);
    const given = await getToken(wish);
    return typeof given === 'string' ? grantOf(given) : given;
  };
  return {
    renewable: true,
    // Calls run in sequence, and callers with the same wish share one: a refresh token can be used only once.
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

/** Reads the expiry without verifying the token: it only schedules the renewal. */
function expiryOf(token: string): number | undefined {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { exp } = JSON.parse(atob(payload)) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
