/**
 * Rate limits (specification §8, contract §3): fixed windows, counted for all instances together over the backplane. While that
 * is away every instance counts for itself. The only file that knows rate-limiter-flexible. Every answer of a limited route
 * carries the three headers, of the tighter limit if two apply.
 */
import type { Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { RelayError } from '@relay/protocol';
import type { Backplane } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';

export interface RateLimits {
  /** Counts one request of a user, or of an address when nobody is signed in. @throws RelayError RATE_LIMITED */
  request(response: Response, who: string): Promise<void>;
  /** Counts one POST /api/sessions as well. @throws RelayError RATE_LIMITED */
  sessionCreation(response: Response, who: string): Promise<void>;
  /** Counts one export of an account as well: it reads everything a person has. @throws RelayError RATE_LIMITED */
  accountExport(response: Response, userId: string): Promise<void>;
  /**
   * Counts a user code as wrong before it is looked at, so that guesses at the same time count like those one after another.
   * Returns the function that takes it back. @throws RelayError RATE_LIMITED
   */
  guess(userId: string, address: string): Promise<() => Promise<void>>;
}

const exportWindowMs = 600_000;
const exportsPerUser = 6;
const guessWindowMs = 600_000;
const guessesPerUser = 5;
const guessesPerAddress = 20;
/** After the backplane failed: nobody else waits for it to fail again, for this long. */
const aloneMs = 1000;

interface Counted {
  readonly over: boolean;
  readonly left: number;
  readonly windowLeftMs: number;
  /** The same for every request of a window. */
  readonly windowEndsAt: number;
}

interface Limit {
  readonly points: number;
  consume(who: string): Promise<Counted>;
  /** Takes one back. */
  reward(who: string): Promise<void>;
}

const ofLibrary = ({ remainingPoints, msBeforeNext }: RateLimiterRes, over: boolean): Counted => ({
  over,
  left: Math.max(0, remainingPoints),
  windowLeftMs: msBeforeNext,
  windowEndsAt: Date.now() + msBeforeNext,
});

function createLimits(backplane: Pick<Backplane, 'count'>) {
  let aloneUntil = 0;
  return (name: string, points: number, windowMs: number): Limit => {
    const alone = new RateLimiterMemory({ points, duration: windowMs / 1000 });
    /** Undefined while the backplane is away. */
    const together = async (who: string, by: number): Promise<Counted | undefined> => {
      if (performance.now() < aloneUntil) return undefined;
      try {
        const { count, leftMs, endsAt } = await backplane.count(`limit:${name}:${who}`, by, windowMs);
        return { over: count > points, left: Math.max(0, points - count), windowLeftMs: leftMs, windowEndsAt: endsAt };
      } catch {
        aloneUntil = performance.now() + aloneMs;
        return undefined;
      }
    };
    const consumeAlone = (who: string): Promise<Counted> =>
      alone.consume(who).then(
        (state) => ofLibrary(state, false),
        (refused: unknown) => {
          if (refused instanceof RateLimiterRes) return ofLibrary(refused, true);
          throw refused;
        },
      );
    return {
      points,
      consume: async (who) => (await together(who, 1)) ?? consumeAlone(who),
      reward: async (who) => {
        if (!(await together(who, -1))) await alone.reward(who);
      },
    };
  };
}

export function createRateLimits(
  config: Pick<RelayConfig, 'rateLimitPerMinute' | 'sessionCreatePerMinute' | 'rateWindowMs'>,
  backplane: Pick<Backplane, 'count'>,
): RateLimits {
  const limit = createLimits(backplane);
  const requests = limit('requests', config.rateLimitPerMinute, config.rateWindowMs);
  const creations = limit('creations', config.sessionCreatePerMinute, config.rateWindowMs);
  const exports = limit('exports', exportsPerUser, exportWindowMs);
  const userGuesses = limit('user-guesses', guessesPerUser, guessWindowMs);
  const addressGuesses = limit('address-guesses', guessesPerAddress, guessWindowMs);

  const consume = async (limited: Limit, response: Response, who: string) => {
    const counted = await limited.consume(who);
    show(response, limited.points, counted);
    if (counted.over) throw tooMany(counted);
  };

  return {
    request: (response, who) => consume(requests, response, who),
    sessionCreation: (response, who) => consume(creations, response, who),
    accountExport: (response, userId) => consume(exports, response, userId),
    guess: async (userId, address) => {
      const counted: (() => Promise<void>)[] = [];
      const takeBack = async () => {
        await Promise.all(counted.map((undo) => undo()));
      };
      for (const [limited, who] of [
        [userGuesses, userId],
        [addressGuesses, address],
      ] as const) {
        const guess = await limited.consume(who);
        counted.push(() => limited.reward(who));
        if (!guess.over) continue;
        await takeBack();
        throw tooMany(guess);
      }
      return takeBack;
    },
  };
}

/** What the library of the sign-in asks: may this one pass, and if not, after how many seconds. */
export interface SignInLimits {
  consume(
    key: string,
    rule: { window: number; max: number },
  ): Promise<{ allowed: true; retryAfter: null } | { allowed: false; retryAfter: number }>;
}

/**
 * Fixed windows for the sign-in, of `window` seconds and `max` requests, counted like all others. The library's own begin anew with
 * every request: whoever never pauses for a whole window would be refused however slow they are.
 */
export function createSignInLimits(backplane: Pick<Backplane, 'count'>): SignInLimits {
  const limit = createLimits(backplane);
  /** One for each rule of the library. */
  const limits = new Map<string, Limit>();
  return {
    consume: async (key, { window, max }) => {
      const rule = `sign-in:${max}:${window}`;
      const limited = limits.get(rule) ?? limit(rule, max, window * 1000);
      limits.set(rule, limited);
      const { over, windowLeftMs } = await limited.consume(key);
      return over
        ? { allowed: false, retryAfter: Math.max(1, Math.ceil(windowLeftMs / 1000)) }
        : { allowed: true, retryAfter: null };
    },
  };
}

const accountWindowMs = 900_000;
const guessesPerAccount = 20;

/** Wrong passwords of one account. `consume` answers after how many seconds to come again, undefined when it may pass. */
export function createAccountLimit(backplane: Pick<Backplane, 'count'>): {
  consume(account: string): Promise<number | undefined>;
  reward(account: string): Promise<void>;
} {
  const limit = createLimits(backplane)('account-guesses', guessesPerAccount, accountWindowMs);
  return {
    consume: async (account) => {
      const { over, windowLeftMs } = await limit.consume(account);
      return over ? Math.max(1, Math.ceil(windowLeftMs / 1000)) : undefined;
    },
    reward: (account) => limit.reward(account),
  };
}

/** The headers of the tighter limit stay: the one with fewer requests left. */
function show(response: Response, limit: number, { left, windowEndsAt }: Counted): void {
  const shown = response.getHeader('X-RateLimit-Remaining');
  if (shown !== undefined && Number(shown) < left) return;
  response.setHeader('X-RateLimit-Limit', String(limit));
  response.setHeader('X-RateLimit-Remaining', String(left));
  response.setHeader('X-RateLimit-Reset', String(Math.ceil(windowEndsAt / 1000)));
}

function tooMany({ windowLeftMs }: Counted): RelayError {
  const retryAfter = Math.max(1, Math.ceil(windowLeftMs / 1000));
  return new RelayError('RATE_LIMITED', `Too many requests. Try again in ${retryAfter} s.`, { retryAfter });
}
