import { describe, expect, it } from '@jest/globals';
import { createInstanceMetrics, createMetrics } from '../src/index.ts';

function start() {
  const metrics = createMetrics({ instance: 'a' });
  const observed = createInstanceMetrics(metrics, { role: 'gateway', version: '1.2.3' });
  const lines = async (name: string) =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return { observed, lines };
}

describe('the metrics of an instance', () => {
  it('names its build', async () => {
    const [line] = await start().lines('relay_build_info');
    expect(line).toMatch(/role="gateway"/);
    expect(line).toMatch(/version="1\.2\.3"/);
    expect(line).toMatch(new RegExp(`node="${process.versions.node}".* 1$`));
  });

  it('counts statements by kind and outcome', async () => {
    const { observed, lines } = start();
    observed.statement('query', 0.002, true);
    observed.statement('query', 3, false);
    expect((await lines('relay_database_seconds_count')).join()).toMatch(
      /kind="query",outcome="ok".* 1,.*kind="query",outcome="error".* 1/,
    );
  });

  it('looks at the pool whenever it is read', async () => {
    const { observed, lines } = start();
    let waiting = 0;
    observed.watchPool(() => ({ total: 10, idle: 3, waiting }));
    expect((await lines('relay_database_connections')).map((line) => line.slice(-1))).toEqual(['7', '3', '0']);
    waiting = 5;
    expect((await lines('relay_database_connections')).at(-1)).toMatch(/state="waiting".* 5$/);
  });

  it('reports which dependency answers, and passes the answer on', async () => {
    const { observed, lines } = start();
    const checks = observed.watchDependencies({
      database: () => Promise.resolve({ ok: true, probeMs: 4 }),
      backplane: () => Promise.reject(new Error('gone')),
    });
    expect(await checks['database']?.()).toEqual({ ok: true, probeMs: 4 });
    await expect(checks['backplane']?.()).rejects.toThrow('gone');
    const up = await lines('relay_dependency_up');
    expect(up.join()).toMatch(/dependency="database".* 1,.*dependency="backplane".* 0/);
    expect((await lines('relay_dependency_probe_seconds_sum')).join()).toMatch(/dependency="database".* 0\.004$/);
  });
});
