/** The Redis servers, and which of them has a key or a channel: here one server, or the master that sentinels name; else `cluster/`. */
import type { Keys } from './keys.ts';
import { RedisServer } from './server.ts';
import { Subscriber } from './subscriber.ts';
import type { Redis } from 'ioredis';

/** One server, over three connections: long values and long messages keep no short command waiting. */
export interface RedisNode {
  readonly server: RedisServer;
  readonly longValues: RedisServer;
  readonly subscriber: Subscriber;
}

/** Ids, keys and channels are texts of `keys.ts`, whose hash tag decides where they are. */
export interface Topology {
  /** Whether every server can be asked and is subscribed to. */
  readonly up: boolean;
  /** Resolves when every server can be asked, for the first time. */
  ready(): Promise<void>;

  /** The server of an id; undefined while it is not known. */
  nodeOf(id: string): RedisNode | undefined;
  /** Ids of one lane are sent in order and together, because they stay on one server. */
  laneOf(id: string): number;
  /**
   * Calls `command` with the server of the id; again, if that server refused because the id has moved.
   * @throws BackplaneError UNAVAILABLE when no server is known
   */
  ask<Answer>(id: string, command: (node: RedisNode) => Promise<Answer>): Promise<Answer>;

  /** The channels that an instance subscribes to for messages of other instances. */
  channelsOf(instance: string): string[];
  /** The one of them to publish to. */
  channelTo(instance: string): string;
  /** Each server that has some of these channels, with one of them. */
  channelByNode(instance: string): Map<RedisNode, string>;
  /**
   * Resolves when the channel is live, on whichever server, or when the caller unsubscribed it. It stays live across
   * reconnects.
   */
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;

  /** Resolves when the servers know that this instance is gone, or after `withinMs`. */
  leave(withinMs: number): Promise<void>;
  close(): void;
}

export interface TopologyEvents {
  readonly onMessage: (channel: string, text: string) => void;
  /** The connection of these channels was lost, along with messages in flight. */
  readonly onLost: (channels: readonly string[]) => void;
  /** These channels are live again after an interruption: messages were missed. */
  readonly onRestored: (interrupted: readonly string[]) => void;
  /** A server can be asked, for the first time or again. */
  readonly onUp: () => void;
}

export class SingleServer implements Topology {
  readonly #keys: Keys;
  readonly #node: RedisNode;

  constructor(keys: Keys, script: string, commandTimeoutMs: number, open: () => Redis, events: TopologyEvents) {
    this.#keys = keys;
    this.#node = {
      server: new RedisServer(open(), script, commandTimeoutMs, events.onUp),
      longValues: new RedisServer(open(), script, commandTimeoutMs),
      subscriber: new Subscriber(open(), events),
    };
  }

  get up(): boolean {
    return this.#node.server.up && this.#node.subscriber.up;
  }

  ready(): Promise<void> {
    return this.#node.server.ready;
  }

  nodeOf(): RedisNode {
    return this.#node;
  }

  laneOf(): number {
    return 0;
  }

  ask<Answer>(_id: string, command: (node: RedisNode) => Promise<Answer>): Promise<Answer> {
    return command(this.#node);
  }

  channelsOf(instance: string): string[] {
    return [this.#keys.instance(instance)];
  }

  channelTo(instance: string): string {
    return this.#keys.instance(instance);
  }

  channelByNode(instance: string): Map<RedisNode, string> {
    return new Map([[this.#node, this.#keys.instance(instance)]]);
  }

  subscribe(channel: string): Promise<void> {
    return this.#node.subscriber.subscribe(channel);
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#node.subscriber.unsubscribe(channel);
  }

  async leave(withinMs: number): Promise<void> {
    await this.#node.subscriber.leave(withinMs);
    this.close();
  }

  close(): void {
    this.#node.server.close();
    this.#node.longValues.close();
    this.#node.subscriber.close();
  }
}
