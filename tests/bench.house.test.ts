import { describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setTimeout as tick } from 'node:timers/promises';
import { itWith } from '@relay/testing/needs';
import { regressions } from '../scripts/bench-history.mjs';

const main = fileURLToPath(new URL('../bench/run.mjs', import.meta.url));
const history = fileURLToPath(new URL('../scripts/bench-history.mjs', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const execute = promisify(execFile);
const few = ['--only', 'lists', '--rounds', '1', '--share', '0.02'];
const bench = (...words: string[]) =>
  promisify(execFile)(process.execPath, [main, ...words], { timeout: 240_000, maxBuffer: 16 * 1024 * 1024 });

interface Night {
  before: string;
  rounds: number;
  ratios: Record<string, { median: number }>;
}

interface Result {
  tables: { title: string; rows: Record<string, Record<string, { median: number; rounds: number }>> }[];
}

describe('the bench', () => {
  it('prints its options', async () => {
    const { stdout } = await bench('--help');
    expect(stdout).toMatch(/--only[\s\S]*--rounds[\s\S]*--quick[\s\S]*--json/);
  });

  it('refuses an unknown name', async () => {
    await expect(bench('--only', 'nothing')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/nothing/),
    });
  });

  itWith(
    ['postgresql', 'redis-server'],
    'measures the relay next to the physical limit and Socket.IO, and exits',
    async () => {
      const { stdout } = await bench('--only', 'events,counts', '--rounds', '1', '--share', '0.01', '--json');
      const { tables } = JSON.parse(stdout) as Result;
      const ratios = tables.filter(({ title }) => /ratios/.test(title));
      expect(ratios.map(({ rows }) => Object.keys(rows).length)).toEqual([6]);
      for (const { rows } of ratios)
        for (const row of Object.values(rows))
          for (const cell of Object.values(row)) expect(cell.median).toBeGreaterThan(0);
      const statements = tables.find(({ title }) => title.startsWith('Statements'));
      expect(statements?.rows['nothing changed']?.statements?.median).toBe(0);
    },
    300_000,
  );

  it('names each cost that is outside the spread, and no time of a clock', () => {
    const [more, spread] = [
      { median: 1.3, min: 1.12, max: 1.5, rounds: 5 },
      { median: 1.3, min: 1.05, max: 1.5, rounds: 5 },
    ];
    const ratios = {
      'Events: CPU: a': more,
      'Events: CPU: b': spread,
      'Events: CPU: c': { ...more, rounds: 2 },
      'Events: wall clock: p50 ms': more,
      'Turns: statements: d': more,
    };
    expect(regressions(ratios)).toEqual(['Events: CPU: a', 'Turns: statements: d']);
  });

  itWith(
    ['postgresql', 'redis-server'],
    'compares two builds, and appends the ratios of each night to a file',
    async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'relay-bench-test-')), 'history.jsonl');
      const { stdout } = await execute(process.execPath, [history, file, '--compare', root, ...few]);
      expect(stdout).toMatch(/one at a time: relay.*instance and Redis/);
      const { ratios, ...night } = JSON.parse(readFileSync(file, 'utf8')) as Night;
      expect(night).toMatchObject({ before: root, rounds: 1 });
      expect(Object.keys(ratios)).toEqual(
        expect.arrayContaining([expect.stringMatching(/^A list of 20 .*: one at a time/)]),
      );
      for (const { median } of Object.values(ratios)) expect(median).toBeGreaterThan(0);
    },
    300_000,
  );

  itWith(
    ['postgresql', 'redis-server'],
    'stops all processes that it started when it gets SIGTERM',
    async () => {
      const child = spawn(process.execPath, [main, '--only', 'lists', '--rounds', '1'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(child, 'exit');
      for await (const said of child.stderr) if (/warming up/.test(String(said))) break;
      const started = descendantsOf(child.pid!);
      expect(started.length).toBeGreaterThan(5);
      child.kill('SIGTERM');
      expect(await ended).toEqual([143, null]);
      // The kernel shows whether the servers have exited.
      while (started.some((pid) => existsSync(`/proc/${pid}`))) await tick(50);
    },
    240_000,
  );
});

/** All descendants of this process. */
function descendantsOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}
