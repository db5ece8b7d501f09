/** The number of sockets this process can hold: better noticed at the start than by the daemons. */
import { readFileSync } from 'node:fs';

/** Fewer than this and one door cannot take the 5,000 daemons or apps that an autoscaler gives it, twice over. */
const enough = 10_000;

/**
 * The soft limit of open files, which includes sockets. Undefined if the system does not report it (read from Linux).
 * Node raises the soft limit to the hard limit at its start, so this is the effective limit.
 */
export function openFilesLimit(file = '/proc/self/limits'): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(text)?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

/** The warning for the operator about a small limit; undefined when it is large enough or unknown. */
export function openFilesWarning(limit: number | undefined): string | undefined {
  if (limit === undefined || limit >= enough) return undefined;
  return `Only ${limit} files may be open at a time, and every daemon and app is one. Raise the limit (ulimit -n, LimitNOFILE) to ${enough} or more.`;
}
