/** Retries a request through an outage of the relay, until the relay responds. */
import { BadAnswerError, NetworkError, RelayError, TimeoutError } from '@relay/client';

/** A daemon needs a moment to reconnect after an outage; its absence counts as outage for this long. */
const returnMs = 30_000;
const longestPauseMs = 5000;

interface PersistOptions {
  signal: AbortSignal;
  /** Recognises the caller's own transient failures, such as a sign-in that cannot be renewed now. */
  isPassing?: ((error: unknown) => boolean) | undefined;
}

/** The relay did not respond or is overloaded. It can have accepted the request, so a retry needs an idempotency key. */
function isOutage(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof TimeoutError) return true;
  if (error instanceof BadAnswerError) return [502, 503, 504].includes(error.status);
  return error instanceof RelayError && error.code === 'SERVICE_UNAVAILABLE';
}

/** @throws the first failure that is not an outage; the last failure if the signal aborts */
export async function persist<T>(attempt: () => Promise<T>, { signal, isPassing }: PersistOptions): Promise<T> {
  let outageAt = -Infinity;
  for (let step = 0; ; step += 1) {
    try {
      return await attempt();
    } catch (error) {
      const code = error instanceof RelayError ? error.code : undefined;
      const isOut = isOutage(error) || isPassing?.(error) === true;
      const isReturning = code === 'DEVICE_OFFLINE' && Date.now() < outageAt + returnMs;
      if (signal.aborted || !(isOut || isReturning || code === 'RATE_LIMITED')) throw error;
      if (isOut) outageAt = Date.now();
      const retryAfterMs = error instanceof RelayError ? (error.retryAfter ?? 0) * 1000 : 0;
      await pause(Math.max(retryAfterMs, Math.min(250 * 2 ** step, longestPauseMs)), signal);
    }
  }
}

/** Resolves after `delayMs`; at once if it is not positive or the signal aborts. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || delayMs <= 0) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener('abort', done);
  });
}
