/**
 * The backplane between the instances of a test: in memory by default, on one real Redis with TEST_BACKPLANE=redis, so that the
 * same tests run on both.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type Backplane,
  type BackplaneOptions,
  type RedisBackplane,
  createMemoryBus,
  createRedisBackplane,
} from '@relay/backplane';
import { startRedis } from './redis.ts';

/** Set by `prepareTestBus` for the processes of the test run: the address of Redis. */
const redisVariable = 'RELAY_TEST_REDIS';

interface TestBus {
  connect(name: string): Promise<Backplane>;
  /** The instance vanishes like a killed process. */
  kill(backplane: Backplane): void;
}

function wantsRedis(): boolean {
  const wanted = process.env.TEST_BACKPLANE ?? 'memory';
  if (wanted === 'redis') return true;
  if (wanted === 'memory') return false;
  throw new Error(`TEST_BACKPLANE must be "memory" or "redis", not "${wanted}"`);
}

/** Called before the first test of a run. The server stops with this process. */
export async function prepareTestBus(): Promise<void> {
  if (wantsRedis()) process.env[redisVariable] = (await startRedis()).url;
}

/** A bus that no other test shares. */
export function openTestBus(options: Pick<BackplaneOptions, 'leaseTtlMs' | 'historyBytes' | 'historyTtlMs'>): TestBus {
  if (!wantsRedis()) {
    const bus = createMemoryBus(options);
    return {
      connect: async (name) => Promise.resolve(bus.connect(name)),
      kill: (backplane) => bus.kill(backplane.instance),
    };
  }
  const url = process.env[redisVariable];
  if (url === undefined) throw new Error('TEST_BACKPLANE=redis works in a test run only: its start sets up the server');
  const prefix = `test-${randomUUID()}`;
  return {
    connect: (name) => createRedisBackplane({ ...options, url, name, prefix }),
    kill: (backplane) => (backplane as RedisBackplane).vanish(),
  };
}

/** Everything in the Redis of the test run, from all tests, as text; empty without Redis. */
export async function dumpTestBus(): Promise<string> {
  const url = process.env[redisVariable];
  return url === undefined ? '' : dumpRedis(url);
}

/** Everything in this Redis as text. */
export async function dumpRedis(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const read = `local out = {}
    for _, key in ipairs(redis.call('KEYS', '*')) do
      local kind = redis.call('TYPE', key).ok
      out[#out + 1] = key
      if kind == 'string' then out[#out + 1] = redis.call('GET', key)
      elseif kind == 'list' then for _, item in ipairs(redis.call('LRANGE', key, 0, -1)) do out[#out + 1] = item end
      else return redis.error_reply('a key of kind ' .. kind) end
    end
    return out`;
  const { stdout } = await promisify(execFile)('redis-cli', ['-h', hostname, '-p', port, 'EVAL', read, '0'], {
    maxBuffer: 256 * 1024 * 1024,
  });
  if (stdout.includes('a key of kind')) throw new Error(stdout);
  return stdout;
}
