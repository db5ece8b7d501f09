/** The contents of Redis, for an operator: counted from a sample, so that the report does not hold up a full Redis. Reads only. */
import type { Redis } from 'ioredis';
import { BackplaneError } from '../errors.ts';
import { openConnection } from './connection.ts';
import { createKeys } from './keys.ts';
import type { ClusterSlots } from './cluster/slots.ts';
import { parseRedisUrl, type RedisNodeAddress } from './url.ts';

/** Records of one kind. */
interface RedisKind {
  kind: string;
  /** Estimate for the whole database, from the sample. */
  records: number;
  bytes: number;
}

interface RedisContents {
  server: string;
  version: string;
  usedBytes: number;
  /** 0: no bound. */
  maxBytes: number;
  policy: string;
  evicted: number;
  keys: number;
  /** The number of examined keys. */
  sampled: number;
  /** Sorted by bytes, largest first. */
  kinds: RedisKind[];
  /** The largest keys of the sample. */
  largest: { key: string; bytes: number }[];
}

/** Keyed by the letter after the prefix. */
const kindNames: Readonly<Record<string, string>> = {
  l: 'leases',
  h: 'frames of people',
  b: 'sizes of frames',
  t: 'newest offsets',
  n: 'newest versions',
  s: 'subscribers',
  o: 'once-only marks',
  v: 'values',
  k: 'counters',
};
const perScan = 500;
const largestShown = 10;

/**
 * Describes every master. Looks at `sample` keys of each; SCAN returns keys in hash order, which is a fair sample.
 * @throws TypeError for an unusable address; any error that Redis returns
 */
export async function describeRedis(url: string, sample = 20_000, prefix = 'relay'): Promise<RedisContents[]> {
  const address = parseRedisUrl(url);
  const times = { commandTimeoutMs: 2_500, connectTimeoutMs: 5_000, reconnectMs: 2_000 };
  const ask = async <T>(work: (redis: Redis) => Promise<T>, node?: RedisNodeAddress): Promise<T> => {
    let reason = 'no answer';
    const redis = openConnection(address, times, (why) => (reason = why), node);
    try {
      await new Promise<void>((resolve, reject) => {
        redis.once('ready', resolve);
        setTimeout(
          () => reject(new BackplaneError('UNAVAILABLE', `Redis was not reached: ${reason}`)),
          times.connectTimeoutMs,
        ).unref();
      });
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  };
  const look = (redis: Redis, name: string) => contentsOf(redis, name, createKeys(prefix, false).prefix, sample);
  if (address.kind !== 'cluster') return [await ask((redis) => look(redis, address.nodes[0]!.host))];
  const slots = await ask((redis) => redis.call('CLUSTER', 'SLOTS') as Promise<ClusterSlots>);
  const masters = new Map(slots.map(([, , [host, port]]) => [`${host}:${port}`, { host, port }]));
  return Promise.all([...masters].map(([name, node]) => ask((redis) => look(redis, name), node)));
}

async function contentsOf(redis: Redis, server: string, prefix: string, sample: number): Promise<RedisContents> {
  const info = await redis.info();
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1] ?? '';
  const keys = await redis.dbsize();
  const seen: { key: string; bytes: number }[] = [];
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'COUNT', perScan);
    cursor = next;
    const sizes = await Promise.all(found.map((key) => redis.memory('USAGE', key, 'SAMPLES', 5)));
    // Null: the key expired after the scan.
    for (const [n, key] of found.entries()) if (sizes[n]) seen.push({ key, bytes: sizes[n] });
  } while (cursor !== '0' && seen.length < sample);
  const scale = cursor === '0' || seen.length === 0 ? 1 : keys / seen.length;
  const kinds = new Map<string, RedisKind>();
  for (const { key, bytes } of seen) {
    const letter = key.startsWith(prefix) ? key.slice(prefix.length).split(':', 1)[0]! : '';
    const kind = kindNames[letter] ?? 'of other programs';
    const sum = kinds.get(kind) ?? { kind, records: 0, bytes: 0 };
    kinds.set(kind, { kind, records: sum.records + 1, bytes: sum.bytes + bytes });
  }
  return {
    server,
    version: field('redis_version'),
    usedBytes: Number(field('used_memory')),
    maxBytes: Number(field('maxmemory')),
    policy: field('maxmemory_policy'),
    evicted: Number(field('evicted_keys')),
    keys,
    sampled: seen.length,
    kinds: [...kinds.values()]
      .map(({ kind, records, bytes }) => ({
        kind,
        records: Math.round(records * scale),
        bytes: Math.round(bytes * scale),
      }))
      .sort((a, b) => b.bytes - a.bytes),
    largest: seen.sort((a, b) => b.bytes - a.bytes).slice(0, largestShown),
  };
}
