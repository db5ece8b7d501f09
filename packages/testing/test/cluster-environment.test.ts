import { describe, expect, it } from '@jest/globals';
import { loggedSince } from '../src/jest/cluster-environment.ts';

describe('the environment of the cluster suites, after a test that failed,', () => {
  const line = (atMs: number, msg: string) =>
    JSON.stringify({ level: 'warn', time: new Date(atMs).toISOString(), msg });
  const instance = (name: string, ...lines: string[]) => ({ name, logged: () => lines });

  it('prints the lines that each instance logged while it ran', () => {
    const api = instance('api-0', line(1_000, 'before'), line(2_000, 'meanwhile'), '{"level":"warn","cut off');
    const printed = loggedSince([api, instance('gateway-0', line(1_999, 'before'))], 2_000);
    expect(printed).toBe(`api-0, 2 lines:\n${line(2_000, 'meanwhile')}\n{"level":"warn","cut off\n`);
  });

  it('prints the newest hundred lines of each', () => {
    const lines = Array.from({ length: 150 }, (_, n) => line(n, `line ${n}`));
    const printed = loggedSince([instance('gateway-1', ...lines)], 0).split('\n');
    expect(printed[0]).toBe('gateway-1, 150 lines:');
    expect(printed.slice(1)).toEqual([...lines.slice(50), '']);
  });
});
