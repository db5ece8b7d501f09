/**
 * The servers: one, or the masters of a cluster, each with a connection for operations and one for channels. Knows which server
 * has which partition, and moves the channels when that changes. It knows nothing of what is said.
 */
import type { Redis } from 'ioredis';
import { Listening } from './listening.ts';
import { partitions, slotOf } from './names.ts';
import { RedisServer } from './server.ts';
import type { RedisAddress, RedisNodeAddress } from './url.ts';

export interface Node {
  readonly server: RedisServer;
  /** The same server by another connection, for what is long: nothing short waits behind it. */
  readonly bulk: RedisServer;
  readonly listening: Listening;
}

export interface FleetOptions {
  readonly address: RedisAddress;
  readonly script: string;
  readonly commandTimeoutMs: number;
  /** How often the map of a cluster is read without a reason. */
  readonly mapRefreshMs: number;
  open(node: RedisNodeAddress | undefined): Redis;
  onMessage(channel: string, text: string): void;
  /** These channels are live again and were not for a while; whatever was said meanwhile was missed. */
  onRestored(interrupted: readonly string[]): void;
  /** A server can be asked, for the first time or again. */
  onUp(): void;
}

const single = 'single';

export class Fleet {
  readonly #options: FleetOptions;
  readonly #sharded: boolean;
  readonly #nodes = new Map<string, Node>();
  /** Of each partition the key of its node. */
  #map: (string | undefined)[] = [];
  readonly #wanted = new Map<string, number>();
  #changed: (() => void)[] = [];
  #reading = false;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#sharded = options.address.kind === 'cluster';
    if (!this.#sharded) {
      this.#add(single, undefined);
      return;
    }
    this.#addSeeds();
    this.#plan();
  }

  nodeOf(partition: number): Node | undefined {
    return this.#nodes.get(this.#sharded ? (this.#map[partition] ?? '') : single);
  }

  /** Every server that has a partition, with one of them. */
  owners(): Map<Node, number> {
    const owners = new Map<Node, number>();
    for (let partition = 0; partition < (this.#sharded ? partitions : 1); partition++) {
      const node = this.nodeOf(partition);
      if (node && !owners.has(node)) owners.set(node, partition);
    }
    return owners;
  }

  /** Whether every partition has a server that can be asked and heard. */
  get up(): boolean {
    for (let partition = 0; partition < (this.#sharded ? partitions : 1); partition++) {
      const node = this.nodeOf(partition);
      if (!node?.server.up || !node.listening.up) return false;
    }
    return true;
  }

  /** Resolves when it is up, for the first time or again, or closed. */
  async ready(): Promise<void> {
    while (!this.#closed && !this.up) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  /** Resolves when the channel is live, wherever it lies by then, or was dropped. */
  async hold(partition: number, channel: string): Promise<void> {
    this.#wanted.set(channel, partition);
    while (!this.#closed && this.#wanted.has(channel)) {
      const node = this.nodeOf(partition);
      if (node) await node.listening.hold(channel, this.#slot(partition));
      else await new Promise<void>((resolve) => this.#changed.push(resolve));
      if (this.nodeOf(partition)?.listening.isLive(channel)) return;
    }
  }

  async drop(channel: string): Promise<void> {
    const partition = this.#wanted.get(channel);
    this.#wanted.delete(channel);
    if (partition !== undefined) await this.nodeOf(partition)?.listening.drop(channel);
  }

  /** Something contradicted the map: it is read again, soon. */
  look(): void {
    if (this.#sharded) void this.#read();
  }

  /** Resolves when the servers know that nobody listens here any more, or after `withinMs`. */
  async leave(withinMs: number): Promise<void> {
    this.#wanted.clear();
    await Promise.all([...this.#nodes.values()].map(({ listening }) => listening.leave(withinMs)));
    this.close();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const key of [...this.#nodes.keys()]) this.#remove(key);
    this.#wake();
  }

  #slot(partition: number): number {
    return this.#sharded ? partition : 0;
  }

  #add(key: string, address: RedisNodeAddress | undefined): void {
    const { script, commandTimeoutMs } = this.#options;
    const open = (node: RedisNodeAddress | undefined) => this.#options.open(node);
    const onMessage = (channel: string, text: string) => this.#options.onMessage(channel, text);
    const onRestored = (interrupted: readonly string[]) => {
      this.#wake();
      this.#options.onRestored(interrupted);
    };
    const onMoved = () => this.look();
    const onUp = () => {
      this.look();
      this.#wake();
      this.#options.onUp();
    };
    this.#nodes.set(key, {
      server: new RedisServer(open(address), script, commandTimeoutMs, { onUp, onMoved }),
      bulk: new RedisServer(open(address), script, commandTimeoutMs, { onUp: () => undefined, onMoved }),
      listening: new Listening(open(address), this.#sharded, { onMessage, onRestored, onMoved }),
    });
  }

  #addSeeds(): void {
    for (const node of this.#options.address.nodes) {
      const key = keyOf(node.host, node.port);
      if (!this.#nodes.has(key)) this.#add(key, node);
    }
  }

  #remove(key: string): void {
    const node = this.#nodes.get(key);
    this.#nodes.delete(key);
    node?.server.close();
    node?.bulk.close();
    node?.listening.close();
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const ms = this.#options.mapRefreshMs * (0.8 + Math.random() * 0.4);
    this.#timer = setTimeout(() => void this.#read(), ms);
    this.#timer.unref();
  }

  async #read(): Promise<void> {
    if (this.#reading || this.#closed) return;
    this.#reading = true;
    try {
      const slots = await this.#ask();
      if (slots && !this.#closed) this.#follow(slots);
    } finally {
      this.#reading = false;
      this.#plan();
    }
  }

  async #ask(): Promise<ClusterSlots | undefined> {
    const up = [...this.#nodes].filter(([, { server }]) => server.up);
    for (const [key, { server }] of up) {
      try {
        const slots = (await server.call('CLUSTER', 'SLOTS')) as ClusterSlots;
        if (slots.length > 0) return slots.map(([from, to, [host, port]]) => [from, to, [host || hostOf(key), port]]);
      } catch {
        // Another one may know.
      }
    }
    // Nobody we know answers; perhaps all of them have new addresses by now.
    if (up.length === 0) this.#addSeeds();
    return undefined;
  }

  #follow(slots: ClusterSlots): void {
    const map: (string | undefined)[] = [];
    const addresses = new Map<string, RedisNodeAddress>();
    for (let partition = 0; partition < partitions; partition++) {
      const slot = slotOf(partition);
      const range = slots.find(([from, to]) => from <= slot && slot <= to);
      if (!range) continue;
      const [host, port] = range[2];
      const key = keyOf(host, port);
      map[partition] = key;
      addresses.set(key, { host, port });
    }
    for (const [key, address] of addresses) if (!this.#nodes.has(key)) this.#add(key, address);
    const before = this.#map;
    this.#map = map;
    for (const [channel, partition] of this.#wanted) {
      if (map[partition] === before[partition]) continue;
      void this.#nodes.get(before[partition] ?? '')?.listening.drop(channel);
      void this.nodeOf(partition)?.listening.hold(channel, partition, before[partition] !== undefined);
    }
    for (const key of [...this.#nodes.keys()]) if (!addresses.has(key)) this.#remove(key);
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#changed;
    this.#changed = [];
    for (const resolve of waiting) resolve();
  }
}

type ClusterSlots = [from: number, to: number, master: [host: string, port: number, ...unknown[]], ...unknown[]][];

const keyOf = (host: string, port: number) => `${host}:${port}`;
const hostOf = (key: string) => key.slice(0, key.lastIndexOf(':'));
