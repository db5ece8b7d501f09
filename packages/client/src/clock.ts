/** The lengths of waits. */

/** Caps a longer Retry-After. */
const maxRetryAfterSeconds = 600;

/** Returns the header Retry-After (seconds or a date) in seconds; undefined if absent or unreadable. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')?.trim();
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), maxRetryAfterSeconds) : undefined;
}

/**
 * Returns the milliseconds of wait number `step` (0 = the first one after a lost connection). The ceiling doubles from 1 s to 30 s, and the
 * wait is random in its upper half, so that the clients of one failed relay do not all return at once. A Retry-After is the minimum; up to
 * one second is added to it. `random` is in [0, 1).
 */
export function backoffMs(step: number, random: number, retryAfter?: number): number {
  const ceiling = Math.min(1000 * 2 ** Math.min(step, 30), 30_000);
  const waitMs = Math.round(ceiling / 2 + (ceiling / 2) * random);
  return retryAfter === undefined ? waitMs : retryAfter * 1000 + Math.min(waitMs, 1000);
}
