export interface Ceilings {
  /** The time of the last `--write-initial`. */
  initial: string;
  /** Ceilings by room and habit. */
  rooms: Record<string, Record<string, { rate: number; count: number }>>;
}

/** The room of a file (from the top). Undefined for a file without our text. */
export function roomOf(path: string): string | undefined;

/** The length of a text in words, and the lines of each habit, once per occurrence. */
export function measure(
  path: string,
  text: string,
): { words: number; lines: Record<string, { number: number; sentence: string }[]> };

/** Ceilings that are higher than in an earlier version, or missing although their room `exists`, as sentences. */
export function raised(before: Ceilings, now: Ceilings, exists?: (room: string) => boolean): string[];

/** The rate per 1,000 words, and the count, of each habit in a new room. */
export const goals: Record<string, { rate: number; count: number }>;
