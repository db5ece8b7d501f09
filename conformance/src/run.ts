/** Runs checks one after the other against one relay, and reports the outcome of each. */
import type { Check } from './check.ts';
import { type World, type WorldOptions, createWorld } from './world.ts';

export type Outcome = 'passed' | 'failed' | 'skipped';

export interface Result {
  readonly name: string;
  readonly rows: readonly string[];
  readonly outcome: Outcome;
  /** Why it failed, with the expected and the received value; or why it was skipped. */
  readonly reason?: string;
  readonly ms: number;
}

export interface RunOptions extends WorldOptions {
  slow: boolean;
  /** Called as soon as a check is over. */
  report(result: Result): void;
}

const reasonOf = (error: unknown) =>
  error instanceof Error && error.name === 'Unmet' ? error.message : `it could not be checked: ${String(error)}`;

function skipped(check: Check, options: RunOptions): string | undefined {
  if (check.needs === 'slow' && !options.slow) return 'takes long or costs much; run with --slow';
  if (check.needs === 'other-token' && options.otherToken === undefined) return 'needs --other-token';
  return undefined;
}

async function perform(check: Check, world: World): Promise<string | undefined> {
  let reason: string | undefined;
  try {
    await check.run(world);
  } catch (error) {
    reason = reasonOf(error);
  }
  // Violations that a client noticed during the check count even if the check itself did not look.
  const violations = world.takeViolations();
  return [reason, ...violations].filter((text) => text !== undefined).join('; also: ') || undefined;
}

/** Removes everything that was created on the relay before it resolves. */
export async function runChecks(checks: readonly Check[], options: RunOptions): Promise<Result[]> {
  const world = createWorld(options);
  const results: Result[] = [];
  try {
    for (const check of checks) {
      const startedAtMs = Date.now();
      const why = skipped(check, options);
      const reason = why ?? (await perform(check, world));
      const outcome = why !== undefined ? 'skipped' : reason === undefined ? 'passed' : 'failed';
      const result: Result = {
        name: check.name,
        rows: check.rows,
        outcome,
        ...(reason === undefined ? {} : { reason }),
        ms: Date.now() - startedAtMs,
      };
      results.push(result);
      options.report(result);
    }
  } finally {
    await world.close();
  }
  return results;
}
