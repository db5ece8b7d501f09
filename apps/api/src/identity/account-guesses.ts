/** Wrong passwords per account, wherever they come from: the limit per address does not stop an attacker who has many. */
import { createHash } from 'node:crypto';
import { APIError } from 'better-auth/api';
import { createSharedLimiters } from '../http/shared-limiter.ts';
import type { IdentityDeps } from './deps.ts';

const windowMs = 900_000;
const guessesPerAccount = 20;

/** Keys are hashes: an address of a person is nothing for the backplane, and accounts that are not there count the same. */
const keyOf = (email: string) => createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');

export function accountGuesses(deps: Pick<IdentityDeps, 'backplane'>) {
  const limit = createSharedLimiters(deps.backplane)('account-guesses', guessesPerAccount, windowMs);
  return {
    /** Counts a try before it is looked at. @throws APIError 429 */
    count: async (email: unknown): Promise<void> => {
      if (typeof email !== 'string') return;
      const { over, windowLeftMs } = await limit.count(keyOf(email));
      if (!over) return;
      const retryAfter = Math.max(1, Math.ceil(windowLeftMs / 1000));
      const headers = { 'Retry-After': String(retryAfter) };
      const message = 'Too many wrong passwords for this account. Try again later.';
      throw new APIError('TOO_MANY_REQUESTS', { code: 'RATE_LIMITED', message, retryAfter }, headers);
    },
    /** It was right after all. */
    forgive: async (email: unknown): Promise<void> => {
      if (typeof email === 'string') await limit.takeBack(keyOf(email));
    },
  };
}
