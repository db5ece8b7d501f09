/**
 * Checking a password costs a tenth of a second of a core on purpose. Two run at a time, a few wait, and further callers must
 * retry: otherwise some dozens of guesses at once stop the sign-in, and everything else that needs a thread, for all users.
 */
import { APIError } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';

const atOnce = 2;
const waitingAtMost = 16;

export interface Passwords {
  hash(password: string): Promise<string>;
  verify(data: { hash: string; password: string }): Promise<boolean>;
}

export function createPasswords(library: Passwords = { hash: hashPassword, verify: verifyPassword }): Passwords {
  let running = 0;
  const waiting: (() => void)[] = [];

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (waiting.length >= waitingAtMost)
        throw new APIError('SERVICE_UNAVAILABLE', {
          error: 'Too many people sign in at this moment. Try again in a few seconds.',
        });
      // The turn is handed over: no later caller gets in between.
      await new Promise<void>((go) => waiting.push(go));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
  return {
    hash: (password) => inTurn(() => library.hash(password)),
    verify: (data) => inTurn(() => library.verify(data)),
  };
}
