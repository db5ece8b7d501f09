/**
 * Rate limits (specification §8, contract §3): fixed windows, in the memory of this process. The only file that knows
 * rate-limiter-flexible. Every answer of a limited route carries the three headers, of the tighter limit if two apply.
 */
import type { Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { RelayError } from '@relay/protocol';
import type { RelayConfig } from '@relay/config';

export interface RateLimits {
  /** Counts one request of a user, or of an address when nobody is signed in. @throws RelayError RATE_LIMITED */
  request(response: Response, who: string): Promise<void>;
  /** Counts one POST /api/sessions as well. @throws RelayError RATE_LIMITED */
  sessionCreation(response: Response, who: string): Promise<void>;
  /**
   * Counts a user code as wrong before it is looked at, so that guesses at the same time count like those one after another.
   * Returns the function that takes it back. @throws RelayError RATE_LIMITED
   */
  guess(userId: string, address: string): Promise<() => Promise<void>>;
}

const guessWindowSeconds = 600;
const guessesPerUser = 5;
const guessesPerAddress = 20;

export function createRateLimits(
  config: Pick<RelayConfig, 'rateLimitPerMinute' | 'sessionCreatePerMinute' | 'rateWindowMs'>,
): RateLimits {
  const windowSeconds = config.rateWindowMs / 1000;
  const requests = new RateLimiterMemory({ points: config.rateLimitPerMinute, duration: windowSeconds });
  const creations = new RateLimiterMemory({ points: config.sessionCreatePerMinute, duration: windowSeconds });
  const userGuesses = new RateLimiterMemory({ points: guessesPerUser, duration: guessWindowSeconds });
  const addressGuesses = new RateLimiterMemory({ points: guessesPerAddress, duration: guessWindowSeconds });

  const consume = async (limiter: RateLimiterMemory, response: Response, who: string) => {
    let state: RateLimiterRes;
    try {
      state = await limiter.consume(who);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      show(response, limiter.points, error);
      throw tooMany(error);
    }
    show(response, limiter.points, state);
  };

  return {
    request: (response, who) => consume(requests, response, who),
    sessionCreation: (response, who) => consume(creations, response, who),
    guess: async (userId, address) => {
      const counted: (() => Promise<unknown>)[] = [];
      const takeBack = async () => {
        await Promise.all(counted.map((undo) => undo()));
      };
      try {
        for (const [limiter, who] of [
          [userGuesses, userId],
          [addressGuesses, address],
        ] as const) {
          counted.push(() => limiter.reward(who));
          await limiter.consume(who);
        }
      } catch (error) {
        await takeBack();
        throw error instanceof RateLimiterRes ? tooMany(error) : error;
      }
      return takeBack;
    },
  };
}

/** The headers of the tighter limit stay: the one with fewer requests left. */
function show(response: Response, limit: number, state: RateLimiterRes): void {
  const shown = response.getHeader('X-RateLimit-Remaining');
  if (shown !== undefined && Number(shown) < state.remainingPoints) return;
  response.setHeader('X-RateLimit-Limit', String(limit));
  response.setHeader('X-RateLimit-Remaining', String(Math.max(0, state.remainingPoints)));
  response.setHeader('X-RateLimit-Reset', String(Math.ceil((Date.now() + state.msBeforeNext) / 1000)));
}

function tooMany(state: RateLimiterRes): RelayError {
  const retryAfter = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
  return new RelayError('RATE_LIMITED', `Too many requests. Try again in ${retryAfter} s.`, { retryAfter });
}
