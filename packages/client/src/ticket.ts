/**
 * The ticket of a page for its live line. After a sleep each HTTP connection that the browser kept can be dead without a sign, and a
 * request on one waits for its time-out. A browser closes the connection of a request that was aborted, and opens another one.
 */
import { RelayError } from './errors.ts';

/** `isInDoubt`: the last line was silent, or the machine may have slept. The request ends with the signal. */
export type GetTicket = (signal: AbortSignal, isInDoubt: boolean) => Promise<string>;

/** Browsers keep six connections to a host (HTTP/1.1). */
const maxRequests = 6;
const nextAfterMs = 600;

/** Asks once; in doubt again every 600 ms, until the first answer comes. @throws the error of the last request; a refusal at once */
export const createGetTicket =
  (ask: (signal: AbortSignal) => Promise<string>): GetTicket =>
  (signal, isInDoubt) =>
    new Promise((resolve, reject) => {
      const requests = new AbortController();
      let sent = 0;
      let pending = 0;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const settle = (how: () => void) => {
        how();
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        requests.abort();
      };
      const stop = () => settle(() => reject(signal.reason as Error));
      const failed = (error: Error) => {
        pending -= 1;
        if (error instanceof RelayError || pending === 0) settle(() => reject(error));
      };
      const send = () => {
        sent += 1;
        pending += 1;
        ask(requests.signal).then((ticket) => settle(() => resolve(ticket)), failed);
        if (isInDoubt && sent < maxRequests) timer = setTimeout(send, nextAfterMs);
      };
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
      else send();
    });
