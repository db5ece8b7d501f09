/**
 * The ticket of a page for its live connection. After a sleep each HTTP connection that the browser kept can be dead without a sign, and a
 * request on it waits for its time-out. If a request is aborted, the browser closes its connection and opens another.
 */
import { TimeoutError } from './errors.ts';

/** `isInDoubt`: the last connection was silent, or the machine may have slept. Aborting `signal` aborts the request. */
export type GetTicket = (signal: AbortSignal, isInDoubt: boolean) => Promise<string>;

/** In doubt, the first four requests have 500 ms each; the time of every later request doubles. */
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
