/** Mismatches between rows and names. */
export function specificationProblems(
  tables: readonly { section: string; rows: readonly string[] }[],
  suite: readonly { name: string; rows: readonly string[]; needs?: string }[],
): string[];
