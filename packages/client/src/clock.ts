/** The length of waits. */

/** Longer waits are answered as this one. */
const maxRetryAfterSeconds = 600;

/** A header Retry-After (seconds or a date) in seconds; undefined when absent or unreadable. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')?.trim();
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), maxRetryAfterSeconds) : undefined;
}

/**
 * Milliseconds of the wait number `step` (0 = the first one after a connection was lost): the ceiling doubles from 1 s to 30 s,
 * and the wait lies anywhere in its upper half, so that clients that lost the same relay do not return in the same instant. A
 * Retry-After is added to, never undercut. `random` is in [0, 1).
 */
export function backoffMs(step: number, random: number, retryAfter?: number): number {
  const ceiling = Math.min(1000 * 2 ** Math.min(step, 30), 30_000);
  const waitMs = Math.round(ceiling / 2 + (ceiling / 2) * random);
  return retryAfter === undefined ? waitMs : retryAfter * 1000 + Math.min(waitMs, 1000);
}
