/** A logger whose lines a test can read. */
import { type Logger, createLogger } from '../src/index.ts';

export interface Lines {
  readonly log: Logger;
  /** All output, unchanged. */
  readonly text: () => string;
  /** The last line, parsed: a line of invalid JSON fails the test. */
  readonly last: () => Record<string, unknown>;
}

export function lines(level: 'info' | 'debug' | 'trace' = 'info', repeatedMs?: number): Lines {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  return {
    log: createLogger({
      level,
      name: 'api',
      instance: 'api-1',
      destination,
      ...(repeatedMs === undefined ? {} : { repeatedMs }),
    }),
    text: () => written.join(''),
    last: () => JSON.parse(written.at(-1) ?? 'null') as Record<string, unknown>,
  };
}
