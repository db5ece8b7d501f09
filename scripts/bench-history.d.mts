/** The names of the ratios whose lowest round of at least three shows a higher cost than that of the release. */
export function regressions(
  ratios: Record<string, { median: number; min: number; max: number; rounds: number }>,
): string[];
