/**
 * Promise: the first commands of an operator still work as far as possible while PostgreSQL or Redis is down, and name
 * the one that is.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type TestPostgres, startPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';

const program = fileURLToPath(new URL('../apps/standalone/dist/admin.js', import.meta.url));

describeWith(['postgresql', 'redis-server'], 'relay-admin, of several instances', () => {
  let postgres: TestPostgres;
  let redis: TestRedis;
  let there: { DATABASE_URL: string; REDIS_URL: string };
  let away: typeof there;

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    there = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url };
    // No process listens there. Another test could take a free port.
    const nowhere = '127.0.0.1:1';
    away = { DATABASE_URL: `postgresql://relay@${nowhere}/relay`, REDIS_URL: `redis://${nowhere}` };
    admin(there, 'status');
  }, 120_000);
  afterAll(() => Promise.all([postgres.stop(), redis.stop()]));

  const admin = (parts: typeof there, ...args: string[]) => {
    const secret = 'a secret of thirty-two characters';
    const env = { AUTH_BUILTIN: 'on', AUTH_SECRET: secret, PUSH_SECRET: secret, PUBLIC_URL: 'https://relay.invalid' };
    return spawnSync(process.execPath, [program, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...env, ...parts },
    });
  };
  const found = (parts: typeof there) => {
    const { status, stdout } = admin(parts, 'doctor', '--json');
    // PUBLIC_URL of this test is never reachable.
    expect(status).toBe(1);
    const lines = stdout.trim().split('\n');
    const findings = lines.map((line) => JSON.parse(line) as { what: string; ok: boolean; say: string });
    return Object.fromEntries(findings.map((finding) => [finding.what, finding]));
  };

  it('with both up, finds fault only with the address of this test', () => {
    const { database, backplane, schema, PUBLIC_URL, certificate } = found(there);
    expect([database, backplane, schema].map((one) => one?.ok)).toEqual([true, true, true]);
    expect([PUBLIC_URL, certificate].map((one) => one?.ok)).toEqual([false, false]);
  });

  it('without Redis, reports that and still shows devices and queues', () => {
    const parts = { ...there, REDIS_URL: away.REDIS_URL };
    const { database, backplane, accounts } = found(parts);
    expect([database?.ok, backplane?.ok, accounts?.what]).toEqual([true, false, 'accounts']);
    expect(backplane?.say).toMatch(/Redis was not reached.*look at Redis/);
    expect(admin(parts, 'queues')).toMatchObject({ status: 0, stdout: 'No messages are queued.\n' });
    expect(admin(parts, 'devices')).toMatchObject({ status: 0, stdout: 'No devices yet.\n' });
    expect(admin(parts, 'status').stdout).toMatch(/database ok .*, backplane NOT READY/);
    expect(admin(parts, 'invite')).toMatchObject({ status: 1, stdout: '' });
    const asked = admin(parts, 'redis');
    expect(asked).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^relay-admin: Redis was not reached: .*\n$/),
    });
  }, 120_000);

  it('without PostgreSQL, reports that and still shows the state of Redis', () => {
    const parts = { ...there, DATABASE_URL: away.DATABASE_URL };
    const { database, backplane, accounts } = found(parts);
    expect([database?.ok, backplane?.ok, accounts]).toEqual([false, true, undefined]);
    expect(database?.say).toMatch(/PostgreSQL/);
    expect(admin(parts, 'redis').stdout).toMatch(/Redis \d+\.\d+/);
    expect(admin(parts, 'queues')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/PostgreSQL/),
    });
  }, 120_000);

  it('with an external sign-in, names its issuer and creates no link', () => {
    const issuer = 'https://id.example.com';
    const issuers = JSON.stringify([{ issuer, audience: 'relay' }]);
    const elsewhere = { ...there, AUTH_BUILTIN: 'off', AUTH_ISSUERS: issuers };
    expect(found(elsewhere).accounts).toMatchObject({ ok: true, say: expect.stringContaining(issuer) });
    expect(admin(elsewhere, 'people')).toMatchObject({ status: 0, stdout: expect.stringContaining(issuer) });
    for (const words of [['setup-link'], ['invite'], ['reset-password', 'ada@example.com']])
      expect(admin(elsewhere, ...words)).toMatchObject({
        status: 2,
        stdout: '',
        stderr: expect.stringMatching(/no sign-in of its own.*https:\/\/id\.example\.com/),
      });
    expect(found(there).accounts).toMatchObject({ ok: false });
  }, 120_000);

  it('without both, reports both', () => {
    const { database, backplane } = found(away);
    expect([database?.ok, backplane?.ok]).toEqual([false, false]);
  }, 60_000);
});
