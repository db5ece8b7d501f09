/**
 * The channels that this instance subscribes to on one server. After a lost connection all of them are subscribed again, in batches, and
 * reported as interrupted. (The library resubscribes too, but does not report when which channel is live again.)
 */
import type { Redis } from 'ioredis';
import { within } from '../within.ts';
import { keepAlive } from './connection.ts';

export interface Channel {
  readonly name: string;
  /** SUBSCRIBE was sent on this connection. */
  sent: boolean;
  live: boolean;
  /** The channel lost its subscription: messages might have been lost. */
  interrupted: boolean;
  readonly waiting: (() => void)[];
}

export interface SubscriberEvents {
  readonly onMessage: (channel: string, text: string) => void;
  /** The connection of these channels was lost. Comes before any message of the next one. */
  readonly onLost: (channels: readonly string[]) => void;
  /** Every channel is live again; these channels were interrupted. */
  readonly onRestored: (interrupted: readonly string[]) => void;
}

/** Channels in one SUBSCRIBE. */
const maxBatch = 512;

export class Subscriber {
  protected readonly connection: Redis;
  readonly #events: SubscriberEvents;
  readonly #channels = new Map<string, Channel>();
  #scheduled: Channel[] = [];
  #up = false;
  #closed = false;
  #receivedAt = performance.now();

  /** The subscriber owns the connection from now on. */
  constructor(connection: Redis, events: SubscriberEvents, messageEvent: 'message' | 'smessage' = 'message') {
    this.connection = connection;
    this.#events = events;
    connection.on(messageEvent, (channel: string, text: string) => {
      this.#receivedAt = performance.now();
      events.onMessage(channel, text);
    });
    connection.on('ready', () => this.#onReady());
    connection.on('close', () => this.#onClose());
    keepAlive(connection, () => this.#closed);
  }

  get up(): boolean {
    return this.#up;
  }

  /** When the last message arrived or the connection began (`performance.now()`). */
  get receivedAt(): number {
    return this.#receivedAt;
  }

  isLive(name: string): boolean {
    return this.#channels.get(name)?.live === true;
  }

  /** Resolves when the channel is live, or was unsubscribed. `interrupted`: messages were missed before. */
  subscribe(name: string, interrupted = false): Promise<void> {
    let channel = this.#channels.get(name);
    if (!channel) {
      channel = { name, sent: false, live: false, interrupted, waiting: [] };
      this.#channels.set(name, channel);
      this.schedule(channel);
    }
    const { live, waiting } = channel;
    return live ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
  }

  /** Resolves when no more messages of the channel come. */
  async unsubscribe(name: string): Promise<void> {
    const channel = this.#channels.get(name);
    if (!channel) return;
    this.#channels.delete(name);
    settle(channel);
    if (this.#up && channel.sent) await this.sendUnsubscribe(name).catch(() => this.#up && this.rebuild());
  }

  /** Closes the connection and opens a new one. */
  rebuild(): void {
    this.connection.disconnect(true);
  }

  /** Closes the connection, and waits at most this long for the server to confirm it. */
  async leave(withinMs: number): Promise<void> {
    this.#closed = true;
    if (this.#up) await within(this.connection.quit(), withinMs, 'no goodbye').catch(() => undefined);
  }

  close(): void {
    this.#closed = true;
    this.connection.disconnect();
    for (const channel of this.#channels.values()) settle(channel);
    this.#channels.clear();
  }

  /** Subscribes to it with the others of this tick. */
  protected schedule(channel: Channel): void {
    if (this.#scheduled.push(channel) > 1) return;
    setImmediate(() => {
      const channels = this.#scheduled;
      this.#scheduled = [];
      if (this.#up) void this.#send(channels.filter((each) => !each.sent && this.isWanted(each)));
    });
  }

  protected isWanted(channel: Channel): boolean {
    return this.#channels.get(channel.name) === channel;
  }

  protected async sendSubscribe(names: readonly string[]): Promise<void> {
    await this.connection.subscribe(...names);
  }

  protected async sendUnsubscribe(name: string): Promise<void> {
    await this.connection.unsubscribe(name);
  }

  /** Groups channels that can share a command. */
  protected groupsOf(channels: readonly Channel[]): Channel[][] {
    return [[...channels]];
  }

  /** False: the subscriptions of this connection are unknown. */
  protected isRecoverable(_error: Error, _refused: readonly Channel[]): boolean {
    return false;
  }

  #onReady(): void {
    this.#up = true;
    this.#receivedAt = performance.now();
    this.#scheduled = [];
    void this.#send([...this.#channels.values()], true);
  }

  #onClose(): void {
    this.#up = false;
    for (const channel of this.#channels.values()) {
      channel.interrupted ||= channel.live;
      channel.live = false;
      channel.sent = false;
    }
    this.#events.onLost([...this.#channels.keys()]);
  }

  async #send(channels: readonly Channel[], isNewConnection = false): Promise<void> {
    const batches = this.groupsOf(channels).flatMap((group) => inBatches(group));
    const recovered = await Promise.all(batches.map((batch) => this.#sendBatch(batch)));
    if (this.#closed) return;
    if (recovered.includes(false)) return this.rebuild();
    const interrupted = channels.filter((channel) => channel.live && channel.interrupted);
    for (const channel of interrupted) channel.interrupted = false;
    if (isNewConnection || interrupted.length > 0) this.#events.onRestored(interrupted.map(({ name }) => name));
  }

  async #sendBatch(channels: readonly Channel[]): Promise<boolean> {
    for (const channel of channels) channel.sent = true;
    try {
      await this.sendSubscribe(channels.map(({ name }) => name));
    } catch (error) {
      return this.isRecoverable(error as Error, channels);
    }
    for (const channel of channels) {
      // An answer arrives before the loss of its connection; the channel might have become unwanted.
      channel.live = this.isWanted(channel);
      if (channel.live) settle(channel);
    }
    return true;
  }
}

function settle(channel: Channel): void {
  for (const resolve of channel.waiting.splice(0)) resolve();
}

function inBatches(channels: readonly Channel[]): Channel[][] {
  const count = Math.ceil(channels.length / maxBatch);
  return Array.from({ length: count }, (_, n) => channels.slice(n * maxBatch, (n + 1) * maxBatch));
}
