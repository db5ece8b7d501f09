/** Requests that outlive an outage of the relay: the same request is made again until it is answered. */
import { BadAnswerError, NetworkError, RelayError, TimeoutError } from '@relay/client';

/** After an outage a daemon needs a moment to come back; so long its absence counts as a part of the outage. */
const returnMs = 30_000;
const longestPauseMs = 5000;

interface PersistOptions {
  signal: AbortSignal;
  /** Failures of the caller's own that pass by themselves, such as a sign-in that cannot be renewed now. */
  isPassing?: ((error: unknown) => boolean) | undefined;
}

/** The relay did not answer, or says that it has no time. The request may have been accepted: it needs an idempotency key. */
function isOutage(error: unknown): boolean {
  if (error instanceof NetworkError || error instanceof TimeoutError) return true;
  if (error instanceof BadAnswerError) return [502, 503, 504].includes(error.status);
  return error instanceof RelayError && error.code === 'SERVICE_UNAVAILABLE';
}

/** @throws the first failure that is no outage; the last one when the signal is aborted */
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
      const toldMs = error instanceof RelayError ? (error.retryAfter ?? 0) * 1000 : 0;
      await pause(Math.max(toldMs, Math.min(250 * 2 ** step, longestPauseMs)), signal);
    }
  }
}

/** Resolves after the time, or at once when there is none, or the signal is or becomes aborted. */
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
