/**
 * The ticket of a page for its live line. After a sleep each HTTP connection that the browser kept can be dead without a sign, and a
 * request on one waits for its time-out. A browser closes the connection of a request that was aborted, and takes another one.
 */
import { TimeoutError } from './errors.ts';

/** `isInDoubt`: the last line was silent, or the machine may have slept. The request ends with the signal. */
export type GetTicket = (signal: AbortSignal, isInDoubt: boolean) => Promise<string>;

/** In doubt the first four requests have 500 ms each, and every later one twice as long as the one before. */
export const createGetTicket =
  (ask: (how: { signal: AbortSignal; timeoutMs?: number }) => Promise<string>): GetTicket =>
  async (signal, isInDoubt) => {
    for (let tries = 0; ; tries += 1)
      try {
        return await ask(isInDoubt ? { signal, timeoutMs: 500 * 2 ** Math.max(0, tries - 3) } : { signal });
      } catch (error) {
        if (!isInDoubt || !(error instanceof TimeoutError)) throw error;
      }
  };
