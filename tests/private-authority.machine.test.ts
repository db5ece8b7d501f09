/**
 * Promise: PostgreSQL and Redis can have certificates of a private CA; an instance that does not trust it reports that
 * and exits.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Child, freePort, startProgram } from '@relay/testing';
import { type TestAuthority, type TestPostgres, makeAuthority, startPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';

describeWith(['postgresql', 'redis-server', 'openssl'], 'PostgreSQL and Redis with a private CA', () => {
  let authority: TestAuthority;
  let postgres: TestPostgres;
  let redis: TestRedis;
  let addresses: { DATABASE_URL: string; REDIS_URL: string };
  const running: Child[] = [];

  beforeAll(async () => {
    authority = makeAuthority();
    const tlsPort = await freePort();
    const { certificate, key } = authority.server;
    [postgres, redis] = await Promise.all([
      startPostgres({ tls: authority.server }),
      startRedis({
        config: [
          ['tls-port', String(tlsPort)],
          ['tls-cert-file', certificate],
          ['tls-key-file', key],
          ['tls-auth-clients', 'no'],
        ],
      }),
    ]);
    const database = (await postgres.createDatabase()).replace('127.0.0.1', 'localhost');
    addresses = { DATABASE_URL: `${database}?sslmode=verify-full`, REDIS_URL: `rediss://localhost:${tlsPort}` };
  }, 120_000);
  afterAll(async () => {
    for (const child of running) await child.end('SIGKILL');
    await Promise.all([postgres.stop(), redis.stop()]);
    authority.remove();
  });

  describe.each(['api', 'gateway'] as const)('a process of the role %s', (role) => {
    const start = (env: Partial<Record<'DATABASE_URL' | 'REDIS_URL' | 'NODE_EXTRA_CA_CERTS', string>>, port = 0) => {
      const child = startProgram(
        process.execPath,
        [fileURLToPath(new URL(`../apps/${role}/dist/main.js`, import.meta.url))],
        {
          env: {
            PATH: process.env.PATH ?? '',
            ...{ HOST: '127.0.0.1', PORT: String(port), METRICS_PORT: '0', PUBLIC_URL: 'https://relay.test' },
            AUTH_SECRET: 'a secret of this test that is long enough',
            ...addresses,
            ...env,
          },
        },
      );
      running.push(child);
      return child;
    };
    const ready = async (env: Parameters<typeof start>[0]) => {
      const port = await freePort();
      const child = start(env, port);
      await child.wrote(/listening on /);
      const answer = await fetch(`http://127.0.0.1:${port}/ready`);
      expect(await answer.json()).toMatchObject({ status: 'ok', checks: { database: 'ok', backplane: 'ok' } });
      await child.end('SIGKILL');
    };

    it('becomes ready if NODE_EXTRA_CA_CERTS or the address of PostgreSQL names the CA', async () => {
      await ready({ NODE_EXTRA_CA_CERTS: authority.file });
      const { DATABASE_URL } = addresses;
      await ready({
        DATABASE_URL: `${DATABASE_URL}&sslrootcert=${authority.file}`,
        REDIS_URL: redis.url,
      });
    });

    it.each([
      ['PostgreSQL', /PostgreSQL at localhost.*certificate/, () => ({ REDIS_URL: redis.url })],
      [
        'Redis',
        /Redis.*certificate/,
        () => ({ DATABASE_URL: addresses.DATABASE_URL.replace('verify-full', 'disable') }),
      ],
    ])('exits with the reason if it does not trust the certificate of %s', async (_, why, env) => {
      const child = start(env());
      await child.wrote(why);
      if (child.process.exitCode === null) await once(child.process, 'exit');
      expect(child.process.exitCode).toBe(1);
    });
  });
});
