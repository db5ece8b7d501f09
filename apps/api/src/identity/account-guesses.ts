/** Wrong passwords per account, wherever they come from: the limit per address does not stop an attacker who has many. */
import { createHash } from 'node:crypto';
import { APIError } from 'better-auth/api';
import { createAccountLimit } from '../http/rate-limit.ts';
import type { IdentityDeps } from './deps.ts';

/** Keys are hashes: an address of a person is nothing for the backplane, and accounts that are not there count the same. */
const keyOf = (email: string) => createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');

export function accountGuesses(deps: Pick<IdentityDeps, 'backplane'>) {
  const limit = createAccountLimit(deps.backplane);
  return {
    /** Counts a try before it is looked at. @throws APIError 429 */
    count: async (email: unknown): Promise<void> => {
      if (typeof email !== 'string') return;
      const retryAfter = await limit.consume(keyOf(email));
      if (retryAfter === undefined) return;
      const headers = { 'Retry-After': String(retryAfter) };
      const message = 'Too many wrong passwords for this account. Try again later.';
      throw new APIError('TOO_MANY_REQUESTS', { code: 'RATE_LIMITED', message, retryAfter }, headers);
    },
    /** It was right after all. */
    forgive: async (email: unknown): Promise<void> => {
      if (typeof email === 'string') await limit.reward(keyOf(email));
    },
  };
}
