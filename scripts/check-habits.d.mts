export interface Ceilings {
  /** The time of `--write-initial`. */
  initial: string;
  /** By room and habit. */
  rooms: Record<string, Record<string, { rate: number; count: number }>>;
}

/** The room of a file (from the top). Undefined for a file without text of ours. */
export function roomOf(path: string): string | undefined;

/** Words of a text, and the lines of each habit, once per occurrence. */
export function measure(
  path: string,
  text: string,
): { words: number; lines: Record<string, { number: number; sentence: string }[]> };

/** Ceilings that are higher than in an earlier version or gone from a room that `exists`, as sentences. */
export function raised(before: Ceilings, now: Ceilings, exists?: (room: string) => boolean): string[];
