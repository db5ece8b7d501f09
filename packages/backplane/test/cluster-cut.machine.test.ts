/** A cluster with one partitioned master that the relay can still reach. */
import net from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type TestRedis, freePort, startRedis } from '@relay/testing/redis';
import { until } from './contract/harness.ts';
import { createTroupe, endOf, healthy, obey } from './stage.ts';

/** The address the first node uses to reach its peers. */
const own = '127.0.0.2';

/** The way to the bus of one node. */
async function openWay(busPort: number) {
  const pairs = new Set<[net.Socket, net.Socket]>();
  let isShut: (from: string) => boolean = () => false;
  const server = net.createServer((near) => {
    if (isShut(near.remoteAddress ?? '')) return void near.destroy();
    const far = net.connect(busPort, '127.0.0.1');
    const pair: [net.Socket, net.Socket] = [near, far];
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const shut = (from: typeof isShut) => {
    isShut = from;
    for (const [near] of pairs) if (isShut(near.remoteAddress ?? '')) near.destroy();
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    shut,
    close: () => {
      shut(() => true);
      server.close();
    },
  };
}

async function openNode(n: number) {
  const busPort = await freePort();
  const way = await openWay(busPort);
  const redis = await startRedis({
    config: [
      ['cluster-enabled', 'yes'],
      ['cluster-port', String(busPort)],
      ['cluster-announce-ip', '127.0.0.1'],
      ['cluster-announce-bus-port', String(way.port)],
      ['cluster-config-file', 'nodes.conf'],
      ['cluster-node-timeout', '2000'],
      ['cluster-require-full-coverage', 'no'],
      ['repl-diskless-sync-delay', '0'],
      ...(n === 0 ? ([['bind-source-addr', own]] as const) : []),
    ],
  });
  return { redis, way };
}

const says =
  (redis: TestRedis, pattern: RegExp, ...words: string[]) =>
  async () =>
    pattern.test(await redis.command(...words).catch(() => ''));

describeWith('redis-server', 'a cluster of three masters, the first with a replica', () => {
  let nodes: Awaited<ReturnType<typeof openNode>>[];
  let troupe: ReturnType<typeof createTroupe>;

  beforeAll(async () => {
    nodes = await Promise.all([0, 1, 2, 3].map(openNode));
    const [first, ...others] = nodes.map(({ redis }) => redis) as [TestRedis, ...TestRedis[]];
    const share = Math.ceil(16384 / 3);
    for (const [n, node] of [first, ...others.slice(0, 2)].entries()) {
      await node.command('CLUSTER', 'ADDSLOTSRANGE', String(n * share), String(Math.min(16383, (n + 1) * share - 1)));
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1));
    }
    for (const { redis, way } of nodes.slice(1))
      await first.command('CLUSTER', 'MEET', redis.host, String(redis.port), String(way.port));
    for (const { redis } of nodes) await until('all agree', says(redis, /known_nodes:4[^]*size:3/, 'CLUSTER', 'INFO'));
    const replica = nodes[3]!.redis;
    await replica.command('CLUSTER', 'REPLICATE', await first.command('CLUSTER', 'MYID'));
    await until('the replica follows', says(replica, /master_link_status:up/, 'INFO', 'replication'));
    for (const { redis } of nodes) await until('all know it', says(redis, /slave [0-9a-f]{40}/, 'CLUSTER', 'NODES'));
  }, 60_000);
  afterAll(async () => {
    await troupe.leave();
    for (const { redis, way } of nodes) {
      await redis.stop();
      way.close();
    }
  });

  it('continues with the replica when a partitioned master still claims its slots', async () => {
    const [first, , , replica] = nodes.map(({ redis }) => redis) as [TestRedis, TestRedis, TestRedis, TestRedis];
    const seeds = nodes.slice(0, 3).map(({ redis }) => `${redis.host}:${redis.port}`);
    troupe = createTroupe({
      url: `redis+cluster://${seeds.join(',')}`,
      prefix: 'cluster-cut',
      commandTimeoutMs: 1_000,
      mapRefreshMs: 500,
    });
    const [api, gateway] = await Promise.all([troupe.join('api'), troupe.join('gateway')]);
    obey(gateway);
    const devices = Array.from({ length: 30 }, (_, n) => `device-${n}`);
    for (const [n, { way }] of nodes.entries()) way.shut((from) => n === 0 || from === own);
    await until('the others have made the replica a master', says(replica, /^master/, 'ROLE'));
    await until('the first one is alone', says(first, /cluster_state:fail/, 'CLUSTER', 'INFO'));
    // Its own map is unchanged.
    expect(await first.command('CLUSTER', 'SLOTS')).toContain(String(first.port));
    await healthy(api, gateway);
    await Promise.all(devices.map((device) => gateway.claim(device, `c of ${device}`)));
    const answers = await Promise.all(devices.map((device) => endOf(api.request(device, 'hello', 5_000))));
    expect(new Set(answers)).toEqual(new Set(['hello']));
  });
});
