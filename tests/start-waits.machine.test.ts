/**
 * Promise: an instance that starts before PostgreSQL and Redis waits for them, and /ready names the missing one (rules,
 * 15.24).
 */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Child, freePort, startProgram } from '@relay/testing';
import { type TestPostgres, startPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';

const main = fileURLToPath(new URL('../apps/gateway/dist/main.js', import.meta.url));

describeWith(['postgresql', 'redis-server'], 'a start before its dependencies', () => {
  let postgres: TestPostgres;
  let redis: TestRedis;
  let databaseUrl: string;
  const running: Child[] = [];

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    databaseUrl = await postgres.createDatabase();
    await Promise.all([postgres.halt(), redis.kill()]);
  }, 120_000);
  afterAll(async () => {
    for (const child of running) await child.end('SIGKILL');
    await Promise.all([postgres.stop(), redis.stop()]);
  });

  const start = async (seconds: number) => {
    const port = await freePort();
    const child = startProgram(process.execPath, [main], {
      env: {
        ...{ PATH: process.env.PATH ?? '', PORT: String(port), HOST: '127.0.0.1', METRICS_PORT: '0' },
        ...{ PUBLIC_URL: 'https://relay.test', DATABASE_URL: databaseUrl, REDIS_URL: redis.url },
        STARTUP_TIMEOUT_SECONDS: String(seconds),
      },
    });
    running.push(child);
    return { child, url: `http://127.0.0.1:${port}` };
  };
  /** Resolves once /ready has this status and these checks. */
  const isReady = async (url: string, status: number, checks: object) => {
    for (;;) {
      const answer = await fetch(`${url}/ready`).catch(() => undefined);
      const body = (await answer?.json()) as { checks?: object } | undefined;
      if (answer?.status === status && JSON.stringify(body?.checks) === JSON.stringify(checks)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  it('K7: waits and answers /health, while /ready names the missing one until both are up', async () => {
    const { child, url } = await start(600);
    await isReady(url, 503, { database: 'failed' });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const other = await fetch(`${url}/ws/daemon`);
    expect([other.status, other.headers.get('retry-after')]).toEqual([503, '5']);
    await postgres.resume();
    await isReady(url, 503, { backplane: 'failed' });
    await redis.restart();
    await child.wrote(/listening on /);
    await isReady(url, 200, { database: 'ok', backplane: 'ok', claims: 'ok' });
  }, 180_000);

  it('K7: exits with the reason after the time for the start', async () => {
    await postgres.halt();
    const { child } = await start(0);
    await child.wrote(/PostgreSQL at .* does not answer/);
    if (child.process.exitCode === null) await once(child.process, 'exit');
    expect(child.process.exitCode).toBe(1);
    await postgres.resume();
  }, 60_000);
});
