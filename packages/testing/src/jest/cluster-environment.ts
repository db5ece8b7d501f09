/**
 * The environment of the cluster suites: after a failed test, prints what the instances logged during it. A rare
 * failure cannot be repeated, and its cause needs the log.
 */
import { runningInstances } from '../running-instances.ts';
import { NativeEnvironment } from './environment.ts';

const linesOfEach = 100;

interface TestEvent {
  readonly name: string;
  readonly test?: { readonly name: string; readonly errors: readonly unknown[]; readonly startedAt?: number | null };
}

/** The newest lines of each instance since `sinceMs` (ms since 1970); '' when nothing was logged. */
export function loggedSince(instances: Iterable<{ name: string; logged(): string[] }>, sinceMs: number): string {
  return [...instances]
    .map((instance) => ({ name: instance.name, lines: instance.logged().filter((line) => timeOf(line) >= sinceMs) }))
    .filter(({ lines }) => lines.length > 0)
    .map(({ name, lines }) => `${name}, ${lines.length} lines:\n${lines.slice(-linesOfEach).join('\n')}\n`)
    .join('');
}

/** ms since 1970; Infinity for a line that was cut off: it is shown. */
function timeOf(line: string): number {
  const time = /"time":"([^"]+)"/.exec(line)?.[1];
  return time === undefined ? Infinity : Date.parse(time);
}

export default class ClusterEnvironment extends NativeEnvironment {
  handleTestEvent({ name, test }: TestEvent): void {
    if (name !== 'test_done' || !test || test.errors.length === 0) return;
    const logged = loggedSince(runningInstances, test.startedAt ?? 0);
    process.stderr.write(`While "${test.name}" ran, the instances logged ${logged ? `\n${logged}` : 'nothing.\n'}`);
  }
}
