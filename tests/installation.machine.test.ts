/**
 * Promise: one Redis serves one installation. A second one stops at its start with a reason and does not disturb the
 * first one (rules, 15.25).
 */
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Child, freePort, startProgram } from '@relay/testing';
import { type TestPostgres, startPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';

const mainOf = (role: string) => fileURLToPath(new URL(`../apps/${role}/dist/main.js`, import.meta.url));
const admin = fileURLToPath(new URL('../apps/standalone/dist/admin.js', import.meta.url));
const signIn = { AUTH_BUILTIN: 'on', AUTH_SECRET: 'a secret of this test that is long enough' };

describeWith(['postgresql', 'redis-server'], 'one Redis', () => {
  let postgres: TestPostgres;
  let redis: TestRedis;
  let first: string;
  let second: string;
  const running: Child[] = [];

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    [first, second] = await Promise.all([postgres.createDatabase(), postgres.createDatabase()]);
  }, 120_000);
  beforeEach(async () => {
    for (const child of running.splice(0)) await child.end('SIGKILL');
    await redis.flush();
  });
  afterAll(async () => {
    for (const child of running) await child.end('SIGKILL');
    await Promise.all([postgres.stop(), redis.stop()]);
  });

  const settings = (databaseUrl: string) => ({
    ...signIn,
    ...{ PATH: process.env.PATH ?? '', HOST: '127.0.0.1', METRICS_PORT: '0', PUBLIC_URL: 'https://relay.test' },
    ...{ DATABASE_URL: databaseUrl, REDIS_URL: redis.url },
  });
  const start = async (databaseUrl: string, role: 'api' | 'gateway' = 'gateway') => {
    const port = await freePort();
    const metricsPort = await freePort();
    const env = { ...settings(databaseUrl), PORT: String(port), METRICS_PORT: String(metricsPort) };
    const child = startProgram(process.execPath, [mainOf(role)], { env });
    running.push(child);
    return { child, url: `http://127.0.0.1:${port}`, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
  };
  type Started = Awaited<ReturnType<typeof start>>;
  const ready = async ({ child, url }: Started) => {
    await child.wrote(/listening on /);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  };
  const refused = async ({ child }: Started) => {
    await child.wrote(/belongs to another installation.*take-redis/);
    if (child.process.exitCode === null) await once(child.process, 'exit');
    expect(child.process.exitCode).toBe(1);
  };
  /** The key in Redis with the id of the installation. */
  const claim = async () => {
    const [key = ''] = (await redis.command('KEYS', 'relay:v:*installation')).split('\n');
    return { key, id: await redis.command('GET', key) };
  };
  const run = (databaseUrl: string, ...args: string[]) =>
    new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [admin, ...args], { env: settings(databaseUrl) }, (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });

  it('N9: refuses the second of two installations, and the first one keeps serving', async () => {
    const gateway = await start(first);
    await ready(gateway);
    const { id } = await claim();
    await refused(await start(second));
    await refused(await start(second, 'api'));
    expect(await run(second, 'people')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^relay-admin: Redis at REDIS_URL belongs to another installation/),
    });
    expect((await claim()).id).toBe(id);
    expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
    expect(gateway.child.output()).not.toMatch(/set back|another installation/);
  }, 60_000);

  it('N9: takes one of two installations that start concurrently, and all instances of that one', async () => {
    const all = await Promise.all([start(first), start(second), start(first, 'api'), start(second, 'api')]);
    const outcomes = await Promise.all(
      all.map(({ child }) =>
        Promise.race([
          child.wrote(/listening on /).then(() => 'serves'),
          child.wrote(/belongs to another installation/).then(() => 'refused'),
        ]),
      ),
    );
    expect(outcomes.toSorted()).toEqual(['refused', 'refused', 'serves', 'serves']);
    expect(outcomes[0]).toBe(outcomes[2]);
  }, 60_000);

  it('N9: gets its claim back after a restart without data, while the instance runs', async () => {
    const gateway = await start(first);
    await ready(gateway);
    const { id } = await claim();
    await redis.kill();
    await redis.restart();
    for (;;) {
      const keys = await redis.command('KEYS', 'relay:v:*installation');
      if (keys !== '') break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect((await claim()).id).toBe(id);
    await refused(await start(second));
  }, 60_000);

  it('N9: with the id of another installation does not stop a running instance, whose metric shows it', async () => {
    const gateway = await start(first);
    await ready(gateway);
    const metric = async () => {
      const text = await (await fetch(gateway.metricsUrl)).text();
      return /^relay_redis_foreign\{.*\} (\d)$/m.exec(text)?.[1];
    };
    expect(await metric()).toBe('0');
    const { key } = await claim();
    await redis.command('SET', key, 'another');
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await gateway.child.wrote(/"level":"error".*another installation/);
    expect(await metric()).toBe('1');
    expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
  }, 60_000);

  it('N9: accepts a start if the database holds a restored dump', async () => {
    await ready(await start(first));
    const dump = spawnSync(`${postgres.address.bin}/pg_dump`, ['--format=plain', first], { maxBuffer: 2 ** 28 });
    const restored = await postgres.createDatabase();
    const { status } = spawnSync(`${postgres.address.bin}/psql`, ['--quiet', restored], { input: dump.stdout });
    expect([dump.status, status]).toEqual([0, 0]);
    await ready(await start(restored));
  }, 60_000);

  it('N9: serves a new database after take-redis, which needs --yes', async () => {
    await ready(await start(first));
    for (const child of running.splice(0)) await child.end('SIGKILL');
    await refused(await start(second));
    expect(await run(second, 'take-redis')).toMatchObject({ status: 2, stdout: '' });
    await refused(await start(second));
    expect(await run(second, 'take-redis', '--yes')).toMatchObject({ status: 0, stderr: '' });
    const gateway = await start(second);
    await ready(gateway);
    expect(gateway.child.output()).not.toMatch(/set back/);
    await refused(await start(first));
  }, 60_000);
});
