/** The closing table of a test run: which suites were skipped, for want of which program, and what brings it. */
import path from 'node:path';
import { installCommand, needsOf } from '../needs.ts';

interface Results {
  readonly testResults: readonly {
    readonly testFilePath: string;
    readonly testResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

interface Skipped {
  /** Path of the test file, from the root of the repository. */
  suite: string;
  tests: number;
  needs: string[];
}

/** One row per file with tests that were skipped for want of a program. */
export function skippedSuites({ testResults }: Results, root: string): Skipped[] {
  return testResults
    .map(({ testFilePath, testResults: tests }) => {
      const skipped = tests.filter(({ status, fullName }) => status === 'pending' && needsOf(fullName).length > 0);
      const needs = new Set(skipped.flatMap(({ fullName }) => needsOf(fullName)));
      return { suite: path.relative(root, testFilePath), tests: skipped.length, needs: [...needs].sort() };
    })
    .filter(({ tests }) => tests > 0)
    .sort((one, other) => (one.suite < other.suite ? -1 : 1));
}

export function tableOf(rows: readonly Skipped[]): string {
  if (rows.length === 0) return '';
  const width = Math.max(...rows.map(({ suite }) => suite.length));
  const lines = rows.map(
    ({ suite, tests, needs }) => `  ${suite.padEnd(width)}  ${String(tests).padStart(4)}  ${needs.join(', ')}`,
  );
  const tests = rows.reduce((sum, row) => sum + row.tests, 0);
  return [
    '',
    `SKIPPED: ${tests} tests of ${rows.length} suites, because something is missing that npm cannot install.`,
    `  ${'Suite'.padEnd(width)}  Tests  Needs`,
    ...lines,
    `To run them too, on Debian 12 or newer: ${installCommand}`,
    ...(rows.some(({ needs }) => needs.includes('root'))
      ? ['Tests that need root mount a small disk: run them as root.']
      : []),
    '`npm run test:all` fails when a program is missing.',
    '',
  ].join('\n');
}

export default class SkippedReporter {
  readonly #root: string;
  constructor({ rootDir }: { rootDir: string }) {
    this.#root = rootDir;
  }
  onRunComplete(_contexts: unknown, results: Results): void {
    process.stderr.write(tableOf(skippedSuites(results, this.#root)));
  }
}
