/** Redis servers that belong together: a cluster of three masters, and a master with a replica watched by sentinels. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './programs.ts';
import { type TestRedis, startRedis } from './redis.ts';

const patienceMs = 30_000;

export interface TestRedisCluster {
  /** `redis+cluster://…` with all nodes. */
  readonly url: string;
  readonly nodes: readonly TestRedis[];
  /** Empties every node. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts three masters that share the slots; resolves when all agree. While a node is away, only its slots are
 * unusable.
 */
export async function startRedisCluster(): Promise<TestRedisCluster> {
  const nodes = await Promise.all(
    [0, 1, 2].map(async () => {
      const busPort = await freePort();
      return startRedis({
        config: [
          ['cluster-enabled', 'yes'],
          ['cluster-port', String(busPort)],
          ['cluster-config-file', 'nodes.conf'],
          ['cluster-node-timeout', '2000'],
          ['cluster-require-full-coverage', 'no'],
        ],
      });
    }),
  );
  const [first, ...others] = nodes;
  const share = Math.ceil(16384 / nodes.length);
  const busOf = async (node: TestRedis) => (await node.command('CONFIG', 'GET', 'cluster-port')).split('\n')[1] ?? '';
  await Promise.all([
    ...nodes.map((node, n) =>
      node.command('CLUSTER', 'ADDSLOTSRANGE', String(n * share), String(Math.min(16383, (n + 1) * share - 1))),
    ),
    ...nodes.map((node, n) => node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1))),
  ]);
  for (const node of others) await first!.command('CLUSTER', 'MEET', node.host, String(node.port), await busOf(node));
  for (const node of nodes) {
    await until('the cluster agrees', async () => {
      const info = await node.command('CLUSTER', 'INFO');
      return /cluster_state:ok/.test(info) && /cluster_slots_ok:16384/.test(info) && /cluster_size:3/.test(info);
    });
  }
  return {
    url: `redis+cluster://${nodes.map(({ host, port }) => `${host}:${port}`).join(',')}`,
    nodes,
    flush: async () => void (await Promise.all(nodes.map((node) => node.flush()))),
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}

/** Moves the first `count` slots of one node to another, with their keys, as an operator would; takes some seconds. */
export async function moveSlots(cluster: TestRedisCluster, from: number, to: number, count: number): Promise<void> {
  const [source, target] = [cluster.nodes[from]!, cluster.nodes[to]!];
  const idOf = (node: TestRedis) => node.command('CLUSTER', 'MYID');
  const ids = await Promise.all([idOf(source), idOf(target)]);
  await source.cli(
    ...['--cluster', 'reshard', `${source.host}:${source.port}`, '--cluster-from', ids[0], '--cluster-to', ids[1]],
    ...['--cluster-slots', String(count), '--cluster-yes'],
  );
}

export interface TestSentinel {
  /** `redis+sentinel://…/relay` with all sentinels. */
  readonly url: string;
  /** The servers that began as master and as replica. */
  readonly master: TestRedis;
  readonly replica: TestRedis;
  readonly sentinels: readonly TestRedis[];
  /** Resolves when the sentinels name this server as the master and it agrees. */
  follows(server: TestRedis): Promise<void>;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a master, a replica and three sentinels that fail over after `downAfterMs`; resolves when they know each other. */
export async function startSentinel({ downAfterMs = 1_000 } = {}): Promise<TestSentinel> {
  const master = await startRedis({ config: [['repl-diskless-sync-delay', '0']] });
  const replica = await startRedis({ config: [['replicaof', `${master.host} ${master.port}`]] });
  await until('the replica follows', async () =>
    (await replica.command('INFO', 'replication')).includes('master_link_status:up'),
  );
  const folder = mkdtempSync(path.join(os.tmpdir(), 'relay-sentinel-'));
  const sentinels = await Promise.all(
    [1, 2, 3].map((number) => {
      const configFile = path.join(folder, `${number}.conf`);
      writeFileSync(
        configFile,
        [
          `sentinel monitor relay ${master.host} ${master.port} 2`,
          `sentinel down-after-milliseconds relay ${downAfterMs}`,
          'sentinel failover-timeout relay 5000',
          '',
        ].join('\n'),
      );
      return startRedis({ program: 'redis-sentinel', configFile });
    }),
  );
  for (const sentinel of sentinels) {
    await until('the sentinels know each other', async () => {
      const reply = (await sentinel.command('SENTINEL', 'MASTER', 'relay')).split('\n');
      const of = (name: string) => reply[reply.indexOf(name) + 1];
      return of('num-other-sentinels') === '2' && of('num-slaves') === '1';
    });
  }
  return {
    url: `redis+sentinel://${sentinels.map(({ host, port }) => `${host}:${port}`).join(',')}/relay`,
    master,
    replica,
    sentinels,
    follows: (server) =>
      until('the sentinels follow', async () => {
        for (const sentinel of sentinels) {
          const [, port] = (await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'relay')).split('\n');
          if (port !== String(server.port)) return false;
        }
        return (await server.command('ROLE')).startsWith('master');
      }),
    flush: async () => void (await Promise.allSettled([master.flush(), replica.flush()])),
    stop: async () => {
      await Promise.all([...sentinels, master, replica].map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
