/**
 * Redis Cluster: the masters, each with three connections, and the map from partition to master. The channels move when
 * the map changes. (The library's cluster client resends after a lost connection and does not report which channel was
 * interrupted.)
 */
import type { Redis } from 'ioredis';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { BackplaneError } from '../../errors.ts';
import { type Keys, partitionOf, partitions } from '../keys.ts';
import { MovedError, RedisServer } from '../server.ts';
import type { RedisNode, Topology, TopologyEvents } from '../topology.ts';
import type { RedisNodeAddress } from '../url.ts';
import { ShardedSubscriber } from './sharded-subscriber.ts';
import { type ClusterSlots, mastersOf, partitionIn } from './slots.ts';

interface RedisClusterOptions {
  /** Some nodes; the others are learned from them. */
  readonly seeds: readonly RedisNodeAddress[];
  readonly keys: Keys;
  readonly script: string;
  readonly commandTimeoutMs: number;
  /** How often the map is read without a reason. */
  readonly mapRefreshMs: number;
  readonly open: (node: RedisNodeAddress) => Redis;
}

/** How long a command waits for the new map after a node refused it. */
const moveMs = 100;

export class RedisCluster implements Topology {
  readonly #options: RedisClusterOptions;
  readonly #events: TopologyEvents;
  readonly #nodes = new Map<string, RedisNode>();
  /** Maps a partition to the key of its node. */
  #map: (string | undefined)[] = new Array<undefined>(partitions).fill(undefined);
  readonly #subscribed = new Set<string>();
  /** Emits `changed` when a call that waits for a node should look again. */
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #reading = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: RedisClusterOptions, events: TopologyEvents) {
    this.#options = options;
    this.#events = events;
    this.#addSeeds();
    this.#planRead();
  }

  get up(): boolean {
    return this.#map.every((key) => {
      const node = this.#nodes.get(key ?? '');
      return node?.server.up === true && node.subscriber.up;
    });
  }

  async ready(): Promise<void> {
    while (!this.#closed && !this.up) await once(this.#changes, 'changed');
  }

  nodeOf(id: string): RedisNode | undefined {
    return this.#nodes.get(this.#map[partitionIn(id)] ?? '');
  }

  laneOf(id: string): number {
    return partitionIn(id);
  }

  async ask<Answer>(id: string, command: (node: RedisNode) => Promise<Answer>): Promise<Answer> {
    for (let retried = false; ; retried = true) {
      const node = this.nodeOf(id);
      if (!node) throw new BackplaneError('UNAVAILABLE', 'no server is known for this part of the cluster');
      try {
        return await command(node);
      } catch (error) {
        if (!(error instanceof MovedError) || retried) throw error;
        // Nothing was carried out. The map is being read; until then the same node gives the same answer.
        await delay(moveMs);
      }
    }
  }

  channelsOf(instance: string): string[] {
    return this.#map.map((_, partition) => this.#options.keys.instance(instance, partition));
  }

  channelTo(instance: string): string {
    // An instance subscribes on every node. The partition of its name comes first, so that messages to it are joined.
    const own = partitionOf(instance);
    const order = this.#map.map((_, n) => (own + n) % partitions);
    const partition = order.find((each) => this.#nodes.get(this.#map[each] ?? '')?.server.up) ?? own;
    return this.#options.keys.instance(instance, partition);
  }

  channelByNode(instance: string): Map<RedisNode, string> {
    const channels = new Map<RedisNode, string>();
    for (const channel of this.channelsOf(instance)) {
      const node = this.nodeOf(channel);
      if (node && !channels.has(node)) channels.set(node, channel);
    }
    return channels;
  }

  async subscribe(channel: string): Promise<void> {
    this.#subscribed.add(channel);
    while (!this.#closed && this.#subscribed.has(channel)) {
      const node = this.nodeOf(channel);
      if (node) await node.subscriber.subscribe(channel);
      else await once(this.#changes, 'changed');
      if (this.nodeOf(channel)?.subscriber.isLive(channel)) return;
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    if (this.#subscribed.delete(channel)) await this.nodeOf(channel)?.subscriber.unsubscribe(channel);
  }

  async leave(withinMs: number): Promise<void> {
    this.#subscribed.clear();
    await Promise.all([...this.#nodes.values()].map(({ subscriber }) => subscriber.leave(withinMs)));
    this.close();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const key of [...this.#nodes.keys()]) this.#remove(key);
    this.#changes.emit('changed');
  }

  #add(address: RedisNodeAddress): void {
    const { open, script, commandTimeoutMs } = this.#options;
    const onMoved = () => void this.#readMap();
    const onUp = () => {
      onMoved();
      this.#changes.emit('changed');
      this.#events.onUp();
    };
    const onRestored = (interrupted: readonly string[]) => {
      this.#changes.emit('changed');
      this.#events.onRestored(interrupted);
    };
    const { onMessage, onLost } = this.#events;
    this.#nodes.set(keyOf(address), {
      server: new RedisServer(open(address), script, commandTimeoutMs, onUp, onMoved),
      longValues: new RedisServer(open(address), script, commandTimeoutMs, undefined, onMoved),
      subscriber: new ShardedSubscriber(open(address), { onMessage, onLost, onRestored }, onMoved),
    });
  }

  #addSeeds(): void {
    for (const seed of this.#options.seeds) if (!this.#nodes.has(keyOf(seed))) this.#add(seed);
  }

  #remove(key: string): void {
    const node = this.#nodes.get(key);
    this.#nodes.delete(key);
    node?.server.close();
    node?.longValues.close();
    node?.subscriber.close();
  }

  #planRead(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.#readMap(), this.#options.mapRefreshMs * (0.8 + Math.random() * 0.4));
    this.#timer.unref();
  }

  async #readMap(): Promise<void> {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    try {
      const slots = await this.#askForSlots();
      if (slots && !this.#closed) this.#apply(slots);
    } finally {
      this.#reading = false;
      this.#planRead();
    }
  }

  /** Asks the node with the newest config epoch: a partitioned master keeps claiming the role. */
  async #askForSlots(): Promise<ClusterSlots | undefined> {
    const up = await Promise.all(
      [...this.#nodes]
        .filter(([, { server }]) => server.up)
        .map(async ([key, { server }]) => ({ key, server, epoch: await epochOf(server) })),
    );
    for (const { key, server } of up.sort((a, b) => (a.epoch === b.epoch ? 0 : b.epoch - a.epoch))) {
      try {
        const slots = (await server.call('CLUSTER', 'SLOTS')) as ClusterSlots;
        // A node without a host of its own gets the host we used to reach it.
        if (slots.length > 0) return slots.map(([from, to, [host, port]]) => [from, to, [host || hostOf(key), port]]);
      } catch {
        // Ask the next node.
      }
    }
    // No known node answers; perhaps all of them have new addresses by now.
    if (up.length === 0) this.#addSeeds();
    return undefined;
  }

  #apply(slots: ClusterSlots): void {
    const masters = mastersOf(slots);
    for (const master of masters) if (master && !this.#nodes.has(keyOf(master))) this.#add(master);
    const before = this.#map;
    this.#map = masters.map((master) => master && keyOf(master));
    for (const channel of this.#subscribed) {
      const from = before[partitionIn(channel)];
      if (from === this.#map[partitionIn(channel)]) continue;
      void this.#nodes.get(from ?? '')?.subscriber.unsubscribe(channel);
      void this.nodeOf(channel)?.subscriber.subscribe(channel, from !== undefined);
    }
    for (const key of [...this.#nodes.keys()]) if (!this.#map.includes(key)) this.#remove(key);
    this.#changes.emit('changed');
  }
}

/**
 * The newest config epoch the node knows, negative on a node without a majority: a replica there raises its epoch but
 * cannot win. -Infinity if the node does not report one.
 */
const epochOf = (server: RedisServer): Promise<number> =>
  server.call('CLUSTER', 'INFO').then(
    (info) => {
      const epoch = Number(/^cluster_current_epoch:(\d+)/m.exec(String(info))?.[1] ?? -Infinity);
      return /^cluster_state:ok/m.test(String(info)) ? epoch : epoch - Number.MAX_SAFE_INTEGER;
    },
    () => -Infinity,
  );

const keyOf = ({ host, port }: RedisNodeAddress) => `${host}:${port}`;
const hostOf = (key: string) => key.slice(0, key.lastIndexOf(':'));
