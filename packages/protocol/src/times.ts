/** Times and waits as peers in the field write them. */

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(2200, 0, 1);

/**
 * The moment that `text` names; undefined when it cannot be parsed, or no conversation can be from that time: before 1970 or after
 * 2199. JavaScript reads years from -271821 to 275760, which PostgreSQL does not take (rules, 1.9).
 */
export function readTime(text: string): Date | undefined {
  const at = new Date(text);
  const time = at.getTime();
  return time >= earliest && time < latest ? at : undefined;
}

/** A header Retry-After (seconds or a date) in milliseconds, at most ten minutes; undefined when absent or unreadable. */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  if (!header) return undefined;
  const waitMs = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(waitMs) ? Math.min(Math.max(waitMs, 0), 600_000) : undefined;
}
