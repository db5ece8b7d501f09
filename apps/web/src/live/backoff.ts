/** How long to wait before the next attempt: doubled up to half a minute, spread so that not everybody comes back at once. */
const firstMs = 1000;
const longestMs = 30_000;

/** `attempt` counts from 0; `random` is from 0 to 1. */
export const backoffMs = (attempt: number, random: number): number =>
  Math.round(Math.min(longestMs, firstMs * 2 ** attempt) * (0.7 + 0.3 * random));
