/**
 * The report of a test run besides Jest's own: progress with an estimate, the CPU seconds of each file, and finally the
 * skipped suites, with the missing program and how to install it.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type GlobalConfig, SearchSource } from 'jest';
import { type CpuOfFile, cpuRecord } from './environment.ts';
import { installCommand, needsOf } from '../needs.ts';

/** The variable that names the file which receives the `TestRecord` of a run. */
const recordVariable = 'TEST_RECORD';
const progressEveryMs = 15_000;

interface FileResult {
  readonly testFilePath: string;
  readonly numFailingTests: number;
  readonly testExecError?: unknown;
  readonly perfStats: { readonly start: number; readonly end: number };
  readonly testResults: readonly { readonly fullName: string; readonly status: string }[];
}

type TestContext = ConstructorParameters<typeof SearchSource>[0];

interface Results {
  readonly testResults: readonly FileResult[];
  /** Jest sets it after the reporters have run. */
  readonly success: boolean;
}

/** The cost of a run, file by file, in seconds. */
interface TestRecord {
  readonly wall: number;
  readonly files: readonly {
    readonly file: string;
    readonly ok: boolean;
    readonly wall: number;
    readonly own: number;
    readonly children: number;
  }[];
}

interface Skipped {
  /** Path of the test file, from the root of the repository. */
  suite: string;
  tests: number;
  needs: string[];
}

/** One row per file with tests that were skipped for want of a program. */
export function skippedSuites(
  { testResults }: { testResults: readonly Pick<FileResult, 'testFilePath' | 'testResults'>[] },
  root: string,
): Skipped[] {
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

/**
 * Estimates the seconds until the other files are done. In a first run it takes them from the sizes of the files, which Jest runs from the
 * largest to the smallest. `last`: the seconds of each file in the last run, by its path; `sizes`: the bytes of each file of this run.
 */
export function secondsLeft(
  seconds: number,
  done: ReadonlySet<string>,
  last: ReadonlyMap<string, number>,
  sizes: ReadonlyMap<string, number>,
): number {
  const sum = (of: ReadonlyMap<string, number>, isDone: boolean) =>
    [...sizes.keys()].filter((file) => done.has(file) === isDone).reduce((all, file) => all + (of.get(file) ?? 0), 0);
  if ([...sizes.keys()].every((file) => last.has(file))) return sum(last, false);
  return (seconds * sum(sizes, false)) / sum(sizes, true);
}

const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

/** The cost of a run in one line, for a run of more than one file. */
function costLine({ wall, files }: TestRecord): string {
  if (files.length < 2) return '';
  const sum = files.reduce((all, { own, children }) => all + own + children, 0);
  const dearest = [...files].sort((a, b) => b.own + b.children - a.own - a.children).slice(0, 3);
  const names = dearest.map(({ file, own, children }) => `${file} ${(own + children).toFixed(0)} s`);
  return `CPU: ${sum.toFixed(0)} s in ${files.length} files, ${clock(wall)} passed. Most: ${names.join(', ')}.\n`;
}

/** Jest writes its summary after the reporters have run. */
const exitAfterMs = 10_000;

export default class RunReporter {
  readonly #root: string;
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'relay-test-cpu-'));
  readonly #startedAt = performance.now();
  readonly #last: ReadonlyMap<string, number>;
  readonly #config: GlobalConfig;
  #shownAt = performance.now();
  #sizes: ReadonlyMap<string, number> | undefined;
  readonly #done = new Set<string>();

  constructor(config: GlobalConfig) {
    const { rootDir, maxWorkers } = config;
    this.#config = config;
    this.#root = rootDir;
    process.env[cpuRecord] = path.join(this.#folder, 'cpu.jsonl');
    writeFileSync(process.env[cpuRecord], '');
    const files = readRecord()?.files ?? [];
    this.#last = new Map(files.map(({ file, wall }) => [path.join(rootDir, file), wall / maxWorkers]));
  }

  async onTestResult({ path: file, context }: { path: string; context: TestContext }): Promise<void> {
    this.#done.add(file);
    if (performance.now() - this.#shownAt < progressEveryMs) return;
    this.#shownAt = performance.now();
    const seconds = (this.#shownAt - this.#startedAt) / 1000;
    this.#sizes ??= await this.#sizesOf(context);
    const left = secondsLeft(seconds, this.#done, this.#last, this.#sizes);
    process.stderr.write(
      `${this.#done.size} of ${this.#sizes.size} files, ${clock(seconds)} passed, about ${clock(left)} left\n`,
    );
  }

  async #sizesOf(context: TestContext): Promise<Map<string, number>> {
    const { tests } = await new SearchSource(context).getTestPaths(this.#config, context.config);
    return new Map(tests.map(({ path: file }) => [file, statSync(file).size]));
  }

  onRunComplete(_contexts: unknown, results: Results): void {
    const cpu = new Map(
      readFileSync(path.join(this.#folder, 'cpu.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as CpuOfFile)
        .map((row) => [row.file, row]),
    );
    rmSync(this.#folder, { recursive: true });
    const record: TestRecord = {
      wall: (performance.now() - this.#startedAt) / 1000,
      files: results.testResults.map(({ testFilePath, numFailingTests, testExecError, perfStats }) => ({
        file: path.relative(this.#root, testFilePath),
        ok: numFailingTests === 0 && !testExecError,
        wall: (perfStats.end - perfStats.start) / 1000,
        own: cpu.get(testFilePath)?.own ?? 0,
        children: cpu.get(testFilePath)?.children ?? 0,
      })),
    };
    const to = process.env[recordVariable];
    if (to !== undefined) writeFileSync(to, JSON.stringify(record));
    process.stderr.write(costLine(record));
    process.stderr.write(tableOf(skippedSuites(results, this.#root)));
    // A hook that timed out can leave a browser or a socket open, and Jest would wait for it forever.
    setTimeout(() => process.exit(results.success ? 0 : 1), exitAfterMs).unref();
  }
}

function readRecord(): TestRecord | undefined {
  try {
    return JSON.parse(readFileSync(process.env[recordVariable] ?? '', 'utf8')) as TestRecord;
  } catch {
    return undefined;
  }
}
