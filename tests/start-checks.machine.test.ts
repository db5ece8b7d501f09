/**
 * Promise: a wrong or missing setting stops the start, or causes a warning, with a sentence that explains the remedy.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Child, freePort, runProgram, startProgram } from '@relay/testing';
import { describeWith, itWith } from '@relay/testing/needs';
import { type TestPostgres, startPostgres } from '@relay/testing/database';
import { startRedis } from '@relay/testing/redis';
import { openDatabase } from '@relay/database';

const mainOf = (role: string) => fileURLToPath(new URL(`../apps/${role}/dist/main.js`, import.meta.url));
const migrate = fileURLToPath(new URL('../packages/database/dist/migrate-cli.js', import.meta.url));
const exitCodeOf = async ({ process: child }: Child) => {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
};
const good = {
  PORT: '0',
  METRICS_PORT: '0',
  HOST: '127.0.0.1',
  PUBLIC_URL: 'https://relay.test',
  AUTH_SECRET: 'a secret of this test that is long enough',
  // No process listens there.
  DATABASE_URL: 'postgres://relay@127.0.0.1:1/relay',
  REDIS_URL: 'redis://127.0.0.1:1',
};

describe('an instance', () => {
  const running: Child[] = [];
  afterAll(async () => {
    for (const child of running) await child.end('SIGKILL');
  });

  /** `prefix` is a program that starts the instance. */
  const start = (role: 'api' | 'gateway', changes: Partial<typeof good>, prefix: readonly string[] = []) => {
    const [command = '', ...args] = [...prefix, process.execPath, mainOf(role)];
    const env = { PATH: process.env.PATH ?? '', ...good, ...changes };
    const child = startProgram(command, args, {
      env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
    });
    running.push(child);
    return child;
  };

  it.each([
    ['api', 'without the secret of the sign-in', { AUTH_SECRET: '' }, /AUTH_SECRET is missing/],
    ['api', 'without TLS', { PUBLIC_URL: 'http://relay.test' }, /PUBLIC_URL is "http:\/\/relay\.test".*must be https/],
    ['gateway', 'without TLS', { PUBLIC_URL: 'http://relay.test' }, /PUBLIC_URL.*must be https/],
    ['api', 'without Redis', { REDIS_URL: '' }, /REDIS_URL is missing; .*several instances/],
    ['gateway', 'without Redis', { REDIS_URL: '' }, /REDIS_URL is missing; .*several instances/],
    ['gateway', 'without PostgreSQL', { DATABASE_URL: '' }, /DATABASE_URL is missing/],
  ] as const)('of the role %s does not start %s', async (role, _, changes, sentence) => {
    const child = start(role, changes);
    await child.wrote(sentence);
    expect(await exitCodeOf(child)).toBe(1);
  });

  it('warns about a low limit of open files', async () => {
    const child = start('gateway', {}, ['/bin/sh', '-c', 'ulimit -n 1024 && exec "$0" "$@"']);
    await child.wrote(/"level":"warn".*Only 1024 files may be open/);
  });

  describeWith('postgresql', 'on a database of a newer release', () => {
    let postgres: TestPostgres;
    let url: string;
    beforeAll(async () => {
      postgres = await startPostgres();
      url = await postgres.createDatabase();
      runProgram('/usr/bin/env', [`DATABASE_URL=${url}`, process.execPath, migrate]);
      const database = await openDatabase({ url });
      await database.sql.execute`
        INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '29991231000000_later', now())`;
      await database.close();
    });
    afterAll(() => postgres.stop());

    it.each(['api', 'gateway'] as const)('of the role %s exits, and names the unknown migration', async (role) => {
      const child = start(role, { DATABASE_URL: url });
      await child.wrote(/29991231000000_later.*newer release/);
      expect(await exitCodeOf(child)).toBe(1);
    });

    itWith('redis-server', 'starts if the newer schema is compatible, and shows it in /ready', async () => {
      const redis = await startRedis();
      try {
        const { bin, port } = postgres.address;
        const where = [
          '--host=127.0.0.1',
          `--port=${port}`,
          '--username=postgres',
          `--dbname=${new URL(url).pathname.slice(1)}`,
        ];
        const floor = "INSERT INTO _relay_migrations VALUES ('29991231000000_later', '1.0.0')";
        runProgram(`${bin}/psql`, [...where, '--no-psqlrc', '--quiet', `--command=${floor}`]);
        for (const role of ['api', 'gateway'] as const) {
          const own = await freePort();
          const child = start(role, { DATABASE_URL: url, REDIS_URL: redis.url, PORT: String(own) });
          await child.wrote(/listening on /);
          const answer = await fetch(`http://127.0.0.1:${own}/ready`);
          expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ schema: 'newer' })]);
        }
      } finally {
        await redis.stop();
      }
    });
  });
});
