/** Repeatable random choices: the same seed makes the same choices. */
export interface Chance {
  /** From 0 to `n` - 1. */
  below(n: number): number;
  between(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Mulberry32. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return {
    below,
    between: (from, to) => from + below(to - from + 1),
    pick: (items) => items[below(items.length)]!,
  };
}
