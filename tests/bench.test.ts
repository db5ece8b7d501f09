import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { itWith } from '@relay/testing/needs';

const main = fileURLToPath(new URL('../bench/run.mjs', import.meta.url));
const bench = (...words: string[]) =>
  promisify(execFile)(process.execPath, [main, ...words], { timeout: 240_000, maxBuffer: 16 * 1024 * 1024 });

interface Result {
  tables: { title: string; rows: Record<string, Record<string, { median: number; rounds: number }>> }[];
}

describe('the bench', () => {
  it('says what it can do', async () => {
    const { stdout } = await bench('--help');
    expect(stdout).toMatch(/--only[\s\S]*--rounds[\s\S]*--quick[\s\S]*--json/);
  });

  it('refuses a name it does not know', async () => {
    await expect(bench('--only', 'nothing')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/nothing/),
    });
  });

  itWith(
    ['postgresql', 'redis-server'],
    'measures the relay next to the physical limit and Socket.IO, and ends',
    async () => {
      const { stdout } = await bench('--only', 'events,counts', '--rounds', '1', '--share', '0.01', '--json');
      const { tables } = JSON.parse(stdout) as Result;
      const ratios = tables.filter(({ title }) => /ratios/.test(title));
      expect(ratios.map(({ rows }) => Object.keys(rows).length)).toEqual([4]);
      for (const { rows } of ratios)
        for (const row of Object.values(rows))
          for (const cell of Object.values(row)) expect(cell.median).toBeGreaterThan(0);
      const statements = tables.find(({ title }) => title.startsWith('Statements'));
      expect(statements?.rows['nothing changed']?.statements?.median).toBe(0);
    },
    300_000,
  );
});
