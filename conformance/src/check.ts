/** A check: a sentence, the rows of the specification it covers, and a function that throws when it does not hold. */
import type { World } from './world.ts';

export interface Check {
  /** A sentence in the present tense that begins with its source: `specification §6.3 …` or `rules, 9.3: …`. */
  readonly name: string;
  /** Rows of `specification-rows.json` that this check covers, as `§6.3 status`. */
  readonly rows: readonly string[];
  /** Its precondition: the token of another user; or patience, with the protocol's own times or with many requests. */
  readonly needs?: Need;
  run(world: World): Promise<void>;
}

export type Need = 'other-token' | 'slow';

type Run = Check['run'];

/**
 * A check of a rule that only docs/rules.md states. `number` is the rule's number, plus a route if that helps: `7.9
 * DELETE /api/devices/:id`.
 */
export const rule = (number: string, sentence: string, run: Run, needs?: Need): Check => ({
  name: `rules, ${number}: ${sentence}`,
  rows: [],
  run,
  ...(needs ? { needs } : {}),
});

/** A check of rows of the specification: `rows` are labels of one section, the first of them is in the name. */
export const specification = (
  section: string,
  rows: string | readonly string[],
  sentence: string,
  run: Run,
  more: { also?: readonly string[]; needs?: Need } = {},
): Check => {
  const labels = typeof rows === 'string' ? [rows] : rows;
  return {
    name: `specification ${section} ${labels.join(', ')}: ${sentence}`,
    rows: [...labels.map((label) => `${section} ${label}`), ...(more.also ?? [])],
    run,
    ...(more.needs ? { needs: more.needs } : {}),
  };
};
