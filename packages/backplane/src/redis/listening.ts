/**
 * The channels this instance listens to, on one server: subscribed in batches, subscribed again when the connection was lost,
 * and then said to have been interrupted. It knows nothing of what is heard.
 */
import type { Redis } from 'ioredis';
import { BackplaneError } from '../errors.ts';
import { keepAlive } from './connection.ts';

interface Channel {
  readonly name: string;
  /** Channels of one slot may share a command; elsewhere all have the same. */
  readonly slot: number;
  wanted: boolean;
  /** The last that was sent on this connection is a SUBSCRIBE. */
  asked: boolean;
  live: boolean;
  /** Counts what was sent about it: the answer to an older word says nothing about now. */
  word: number;
  /** It was live and is not since: something may have been missed. */
  interrupted: boolean;
  waiting: (() => void)[];
}

export interface ListeningEvents {
  onMessage(channel: string, text: string): void;
  /** Everything that is wanted is live again; these were not for a while. */
  onRestored(interrupted: readonly string[]): void;
  /** The server says that a channel belongs to another one. */
  onMoved(): void;
}

/** Names in one SUBSCRIBE. */
const batch = 512;

export class Listening {
  readonly #connection: Redis;
  readonly #sharded: boolean;
  readonly #events: ListeningEvents;
  readonly #channels = new Map<string, Channel>();
  readonly #changed = new Set<Channel>();
  #up = false;
  #scheduled = false;
  #closed = false;
  #heardAt = performance.now();

  /** `connection` belongs to it from now on. */
  constructor(connection: Redis, sharded: boolean, events: ListeningEvents) {
    this.#connection = connection;
    this.#sharded = sharded;
    this.#events = events;
    connection.on(sharded ? 'smessage' : 'message', (channel: string, text: string) => {
      this.#heardAt = performance.now();
      events.onMessage(channel, text);
    });
    connection.on('ready', () => this.#begin());
    connection.on('close', () => this.#lose());
    keepAlive(connection, () => this.#closed);
    connection.on('moved', () => events.onMoved());
    if (connection.status === 'ready') this.#begin();
  }

  get up(): boolean {
    return this.#up;
  }

  isLive(name: string): boolean {
    return this.#channels.get(name)?.live === true;
  }

  /** By `performance.now()`, when something was last heard or a connection began. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** Resolves when the channel is live; stays wanted until `drop`. `interrupted`: it comes from another server. */
  hold(name: string, slot: number, interrupted = false): Promise<void> {
    const channel = this.#channel(name, slot);
    channel.wanted = true;
    channel.interrupted ||= interrupted;
    if (channel.live) return Promise.resolve();
    this.#change(channel);
    return new Promise((resolve) => channel.waiting.push(resolve));
  }

  /** Resolves when nothing of the channel is heard any more. */
  drop(name: string): Promise<void> {
    const channel = this.#channels.get(name);
    if (!channel) return Promise.resolve();
    channel.wanted = false;
    if (!channel.asked) {
      this.#forget(channel);
      return Promise.resolve();
    }
    this.#change(channel);
    return new Promise((resolve) => channel.waiting.push(resolve));
  }

  /** Ends the connection and makes a new one. */
  rebuild(): void {
    this.#connection.disconnect(true);
  }

  /** Says goodbye, and waits at most so long until the server has heard it. */
  async leave(withinMs: number): Promise<void> {
    this.#closed = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
    const gone = this.#up ? this.#connection.quit().catch(() => undefined) : undefined;
    await Promise.race([gone, late]);
    clearTimeout(timer);
  }

  close(): void {
    this.#closed = true;
    this.#connection.disconnect();
    for (const channel of this.#channels.values()) this.#settle(channel);
    this.#channels.clear();
  }

  #channel(name: string, slot: number): Channel {
    const known = this.#channels.get(name);
    if (known) return known;
    const channel = { name, slot, wanted: true, asked: false, live: false, word: 0, interrupted: false, waiting: [] };
    this.#channels.set(name, channel);
    return channel;
  }

  #change(channel: Channel): void {
    this.#changed.add(channel);
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#up) void this.#apply();
    });
  }

  #begin(): void {
    this.#up = true;
    this.#heardAt = performance.now();
    for (const channel of this.#channels.values()) this.#changed.add(channel);
    void this.#apply(true);
  }

  #lose(): void {
    this.#up = false;
    for (const channel of this.#channels.values()) {
      channel.asked = false;
      channel.word += 1;
      if (channel.live) channel.interrupted = true;
      channel.live = false;
      if (!channel.wanted) this.#forget(channel);
    }
  }

  /** What is sent on one connection is carried out in order, so that only the last word about a channel counts. */
  async #apply(beginning = false): Promise<void> {
    const [coming, going]: [Channel[], Channel[]] = [[], []];
    for (const channel of this.#changed) {
      if (channel.wanted === channel.asked) continue;
      channel.asked = channel.wanted;
      channel.live = false;
      channel.word += 1;
      (channel.wanted ? coming : going).push(channel);
    }
    this.#changed.clear();
    const answers = await Promise.allSettled([
      ...batches(going).map((channels) => this.#unsubscribe(channels)),
      ...batches(coming).map((channels) => this.#subscribe(channels)),
    ]);
    if (this.#closed) return;
    const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
    // Refused for a reason of its own, or not answered: what the connection holds is not known any more.
    if (refusals.some(({ message }) => !message.startsWith('MOVED'))) return this.rebuild();
    if (refusals.length > 0) this.#askAgain(coming);
    const interrupted = coming.filter((channel) => channel.live && channel.interrupted);
    for (const channel of interrupted) channel.interrupted = false;
    if (beginning || interrupted.length > 0) this.#events.onRestored(interrupted.map(({ name }) => name));
  }

  /** They belong to another server, or soon will: whoever knows which takes them away; until then this one is asked again. */
  #askAgain(channels: readonly Channel[]): void {
    this.#events.onMoved();
    const timer = setTimeout(() => {
      for (const channel of channels) {
        if (channel.live || this.#channels.get(channel.name) !== channel) continue;
        channel.asked = false;
        this.#change(channel);
      }
    }, 200);
    timer.unref();
  }

  async #subscribe(channels: readonly Channel[]): Promise<void> {
    const names = channels.map(({ name }) => name);
    const words = channels.map(({ word }) => word);
    await (this.#sharded ? this.#connection.ssubscribe(...names) : this.#connection.subscribe(...names));
    for (const [n, channel] of channels.entries()) {
      if (!channel.asked || channel.word !== words[n]) continue;
      channel.live = true;
      this.#settle(channel);
    }
  }

  async #unsubscribe(channels: readonly Channel[]): Promise<void> {
    const names = channels.map(({ name }) => name);
    await (this.#sharded ? this.#connection.sunsubscribe(...names) : this.#connection.unsubscribe(...names));
    for (const channel of channels) if (!channel.wanted && !channel.asked) this.#forget(channel);
  }

  #forget(channel: Channel): void {
    if (this.#channels.get(channel.name) === channel) this.#channels.delete(channel.name);
    this.#changed.delete(channel);
    this.#settle(channel);
  }

  #settle(channel: Channel): void {
    const waiting = channel.waiting;
    channel.waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** By slot, and no more than so many in one. */
function batches(channels: readonly Channel[]): Channel[][] {
  const full: Channel[][] = [];
  const open = new Map<number, Channel[]>();
  for (const channel of channels) {
    const names = open.get(channel.slot);
    if (names && names.length < batch) {
      names.push(channel);
      continue;
    }
    const begun = [channel];
    full.push(begun);
    open.set(channel.slot, begun);
  }
  return full;
}

/** Waits for `held`, at most so long. @throws BackplaneError UNAVAILABLE */
export async function heldWithin(held: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new BackplaneError('UNAVAILABLE', `Redis did not subscribe within ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
  try {
    await Promise.race([held, late]);
  } finally {
    clearTimeout(timer);
  }
}
