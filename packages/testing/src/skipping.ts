/** `describe` and `it` for tests that need a program of the system. Only for files that Jest runs. */
import { describe, it } from '@jest/globals';
import { type Need, isMet } from './needs.ts';

export { type Need, allPrograms, isMet, pythonWithWebsockets } from './needs.ts';

/**
 * `describe`, skipped if a program is missing; the title then has the suffix `[needs …]`, which the final table reads.
 */
export function describeWith(required: Need | readonly Need[], title: string, body: () => void): void {
  const missing = [required].flat().filter((need) => !isMet(need));
  if (missing.length === 0) describe(title, body);
  else describe.skip(`${title} [needs ${missing.join(', ')}]`, body);
}

/** `it`, skipped like `describeWith`. */
export function itWith(
  required: Need | readonly Need[],
  title: string,
  body: () => Promise<void> | void,
  timeoutMs?: number,
): void {
  const missing = [required].flat().filter((need) => !isMet(need));
  if (missing.length === 0) it(title, body, timeoutMs);
  else it.skip(`${title} [needs ${missing.join(', ')}]`, body, timeoutMs);
}
