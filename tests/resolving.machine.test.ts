/**
 * Promise: the log names the variable of a host that cannot be resolved, and the relay recovers once it can be (R11).
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type Child,
  type FaultProxy,
  type TestIssuer,
  freePort,
  startFaultProxy,
  startIssuer,
  startPostgres,
  startProgram,
} from '@relay/testing';
import type { TestPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, startRedis } from '@relay/testing/redis';

/** Replaces the resolver of a machine: the file decides for some names, all others resolve as usual. */
const resolver = `
import dns from 'node:dns';
import { readFileSync } from 'node:fs';
const { lookup } = dns;
dns.lookup = (name, options, callback = options) => {
  const said = JSON.parse(readFileSync(process.env.RESOLVER, 'utf8'))[name];
  if (said === undefined) return lookup(name, options, callback);
  if (said === '127.0.0.1') return lookup(said, options, callback);
  const error = Object.assign(new Error('getaddrinfo ' + said + ' ' + name), { code: said, syscall: 'getaddrinfo', hostname: name });
  process.nextTick(callback, error);
};
`;

type Names = Partial<Record<'database.test' | 'redis.test' | 'localhost', '127.0.0.1' | 'ENOTFOUND' | 'EAI_AGAIN'>>;

describeWith(['postgresql', 'redis-server'], 'R11: hosts that cannot be resolved', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-resolver-'));
  const names = join(folder, 'names.json');
  /** Replaces the file as a whole: running instances read it with every lookup. */
  const resolve = (said: Names) => {
    const unfinished = `${names}.new`;
    writeFileSync(unfinished, JSON.stringify({ 'database.test': '127.0.0.1', 'redis.test': '127.0.0.1', ...said }));
    renameSync(unfinished, names);
  };
  const running: Child[] = [];
  let postgres: TestPostgres;
  let redis: TestRedis;
  let issuer: TestIssuer;
  let wires: FaultProxy[];
  let env: Record<string, string>;

  beforeAll(async () => {
    writeFileSync(join(folder, 'resolver.mjs'), resolver);
    resolve({});
    [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    wires = [await startFaultProxy({ port: postgres.address.port }), await startFaultProxy({ port: redis.port })];
    issuer = await startIssuer('https://relay.test/api');
    const database = new URL(await postgres.createDatabase());
    database.host = `database.test:${wires[0]!.port}`;
    const { config } = issuer;
    env = {
      PATH: process.env.PATH ?? '',
      NODE_OPTIONS: `--import ${pathToFileURL(join(folder, 'resolver.mjs')).href}`,
      RESOLVER: names,
      HOST: '127.0.0.1',
      METRICS_PORT: '0',
      AUTH_BUILTIN: 'off',
      DRAIN_SECONDS: '0',
      STARTUP_TIMEOUT_SECONDS: '0',
      RATE_LIMIT_PER_MINUTE: '1000000',
      PUBLIC_URL: 'https://relay.test',
      AUTH_ISSUERS: JSON.stringify([{ ...config, jwksUri: config.jwksUri!.replace('127.0.0.1', 'localhost') }]),
      DATABASE_URL: database.href,
      REDIS_URL: `redis://redis.test:${wires[1]!.port}`,
    };
  }, 90_000);
  afterAll(async () => {
    for (const child of running) await child.end('SIGKILL');
    for (const wire of wires) await wire.close();
    await issuer.close();
    await redis.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const launch = async (role: 'api' | 'gateway') => {
    const port = await freePort();
    const main = fileURLToPath(new URL(`../apps/${role}/dist/main.js`, import.meta.url));
    const child = startProgram(process.execPath, [main], { env: { ...env, PORT: String(port) } });
    running.push(child);
    return { child, url: `http://127.0.0.1:${port}` };
  };
  const start = async (role: 'api' | 'gateway') => {
    const instance = await launch(role);
    await instance.child.wrote(/listening on /);
    return instance;
  };
  /** Waits until `/ready` answers 503, or reports that all is well, and returns its checks. */
  const readiness = async (url: string, wanted: 503 | 'ok') => {
    for (;;) {
      const response = await fetch(`${url}/ready`);
      const { status, checks } = (await response.json()) as { status: string; checks: Record<string, string> };
      if (wanted === 503 ? response.status === 503 : status === 'ok') return checks;
    }
  };
  const list = async (url: string) => {
    const headers = { Authorization: `Bearer ${issuer.token('alice')}` };
    const response = await fetch(`${url}/api/sessions`, { headers });
    return { status: response.status, ...((await response.json()) as { code?: string }) };
  };

  it.each(['ENOTFOUND', 'EAI_AGAIN'] as const)(
    'R11: make running instances answer 503 on /ready and log the variables, until they recover; %s',
    async (code) => {
      resolve({ localhost: code });
      const [api, gateway] = await Promise.all([start('api'), start('gateway')]);
      // The first token needs the keys of its issuer, which are not cached yet.
      expect(await list(api.url)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      await api.child.wrote(
        new RegExp(`localhost of the issuer .*\\(AUTH_ISSUERS\\) cannot be resolved \\(${code}\\)`),
      );
      resolve({});
      while ((await list(api.url)).status !== 200);

      resolve({ 'database.test': code, 'redis.test': code });
      for (const wire of wires) wire.reset();
      for (const { child, url } of [api, gateway]) {
        expect(await readiness(url, 503)).toMatchObject({ database: 'failed', backplane: 'failed' });
        await child.wrote(
          new RegExp(`the host of DATABASE_URL \\(database\\.test\\) cannot be resolved \\(${code}\\)`),
        );
        await child.wrote(new RegExp(`the host of REDIS_URL \\(redis\\.test\\) cannot be resolved \\(${code}\\)`));
      }
      expect(await list(api.url)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
      resolve({});
      for (const { child, url } of [api, gateway]) {
        expect(Object.values(await readiness(url, 'ok')).filter((check) => check !== 'ok')).toEqual([]);
        expect(child.process.exitCode).toBeNull();
      }
      while ((await list(api.url)).status !== 200);
      for (const { child } of [api, gateway]) await child.end('SIGTERM');
    },
    120_000,
  );

  it.each([
    ['database.test', /the host of DATABASE_URL \(database\.test\) cannot be resolved \(ENOTFOUND\)/],
    ['redis.test', /the host of REDIS_URL \(redis\.test\) cannot be resolved \(ENOTFOUND\)/],
  ] as const)(
    'R11: stop a start with a sentence that names the variable: %s',
    async (name, sentence) => {
      resolve({ [name]: 'ENOTFOUND' });
      const { child } = await launch('gateway');
      await child.wrote(sentence);
      if (child.process.exitCode === null) await once(child.process, 'exit');
      expect(child.process.exitCode).toBe(1);
      expect(child.output()).not.toMatch(/\n\s+at /);
      resolve({});
    },
    60_000,
  );
});
