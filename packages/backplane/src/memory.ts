/**
 * The backplane of a single process. It behaves like one between machines: several instances share a bus, they hear each
 * other asynchronously, and only text passes. Redis must be able to do everything that is done here, and nothing else is.
 */
import { randomBytes } from 'node:crypto';
import {
  type Backplane,
  type Command,
  type BackplaneOptions,
  type VersionedState,
  type Counted,
  type UserFrame,
  type Lease,
  withDefaults,
} from './backplane.ts';
import { Commands } from './commands.ts';
import { BackplaneError } from './errors.ts';
import { type Post, Inbox } from './memory/inbox.ts';
import { Store } from './memory/store.ts';
import { Subscriptions } from './subscriptions.ts';
import { requireText, tell } from './text.ts';

export interface MemoryBusOptions extends Partial<BackplaneOptions> {
  /** Milliseconds since 1970. Leases, histories, tickets and what is remembered follow it; deadlines and timeouts do not. */
  now?: () => number;
  /** How many keys `once`, and how many values `put`, remember at most; the oldest go first. Default 100,000. */
  maxKeys?: number;
  /** Hears what a listener threw. Default: a process warning. */
  onError?: (error: unknown) => void;
}

export interface MemoryBus {
  connect(name: string): Backplane;
  /** For tests: the instance vanishes like a killed process. Nothing is released, nobody is told. */
  kill(instance: string): void;
  /** For tests: everything stored is lost, as from a store that was emptied. Instances and subscriptions stay. */
  flush(): void;
  /** For tests: the instance may have missed what was said to it, as after a connection that was lost. */
  interrupt(instance: string): void;
  /** Closes every instance. */
  close(): Promise<void>;
}

export function createMemoryBus(options: MemoryBusOptions = {}): MemoryBus {
  const settings = withDefaults(options);
  const store = new Store(settings, options.maxKeys ?? 100_000, options.now ?? Date.now);
  const onError = options.onError ?? ((error) => process.emitWarning(`a backplane listener threw: ${String(error)}`));
  const members = new Map<string, MemoryBackplane>();
  return {
    connect(name) {
      const member = new MemoryBackplane(name, store, settings, onError, () => members.delete(member.instance));
      members.set(member.instance, member);
      return member;
    },
    kill: (instance) => members.get(instance)?.vanish(),
    flush: () => store.forget(),
    interrupt: (instance) => members.get(instance)?.interrupted(),
    close: async () => {
      await Promise.all([...members.values()].map((member) => member.close()));
    },
  };
}

class MemoryBackplane implements Backplane {
  readonly instance: string;
  readonly #store: Store;
  readonly #commands: Commands;
  readonly #onError: (error: unknown) => void;
  readonly #onLeave: () => void;
  readonly #evictListeners: ((lease: Lease) => void)[] = [];
  readonly #controlListeners: ((body: string) => void)[] = [];
  readonly #restoredListeners: (() => void)[] = [];
  readonly #subscriptions: Subscriptions;
  #closed = false;

  constructor(
    name: string,
    store: Store,
    options: BackplaneOptions,
    onError: (error: unknown) => void,
    onLeave: () => void,
  ) {
    this.instance = `${name}-${randomBytes(6).toString('hex')}`;
    this.#store = store;
    this.#onError = onError;
    this.#onLeave = onLeave;
    this.#subscriptions = new Subscriptions(onError);
    const post = {
      toOwner: (id: string, command: Omit<Command, 'fence'>, deadline: number) =>
        Promise.resolve(store.postToOwner(id, this.instance, command, deadline)),
      toInstance: (to: string, mail: Post) => {
        // The ACK of a command that was being delivered when this instance went is lost with it.
        if (!this.#closed) store.post(to, mail);
        return Promise.resolve();
      },
    };
    this.#commands = new Commands(this.instance, post, options, onError);
    store.join(this.instance, new Inbox((post) => this.#receive(post)));
  }

  // Methods are async so that a refusal is a rejection here as it is over a network.
  /* eslint-disable @typescript-eslint/require-await */

  async claim(device: string, connection: string): Promise<{ fence: number; previous?: Lease }> {
    this.#requireOpen();
    return this.#store.claim(device, connection, this.instance);
  }

  async refresh(leases: readonly Pick<Lease, 'device' | 'connection' | 'fence'>[]): Promise<string[]> {
    this.#requireOpen();
    return leases
      .filter((lease) => !this.#store.leases.refresh(lease.device, lease.connection, lease.fence, this.instance))
      .map((lease) => lease.device);
  }

  async release(device: string, fence: number): Promise<boolean> {
    this.#requireOpen();
    return this.#store.leases.release(device, fence);
  }

  async owners(devices: readonly string[]): Promise<Map<string, Lease>> {
    this.#requireOpen();
    const leases = devices.map((device) => this.#store.leases.get(device)).filter((lease) => lease !== undefined);
    return new Map(leases.map((lease) => [lease.device, lease]));
  }

  async route(device: string, body: string, deadlineMs?: number): ReturnType<Backplane['route']> {
    this.#requireOpen();
    requireText(body);
    return this.#commands.route(device, body, deadlineMs);
  }

  async request(device: string, body: string, timeoutMs: number): Promise<string> {
    this.#requireOpen();
    requireText(body);
    return this.#commands.request(device, body, timeoutMs);
  }

  onCommand(listener: (command: Command) => boolean | Promise<boolean>): void {
    this.#commands.listen(listener);
  }

  onEvict(listener: (lease: Lease) => void): void {
    this.#evictListeners.push(listener);
  }

  async reply(to: string, correlation: string, body: string): Promise<void> {
    this.#requireOpen();
    requireText(body);
    return this.#commands.reply(to, correlation, body);
  }

  async append(user: string, body: string): Promise<{ offset: string; receivers: number }> {
    this.#requireOpen();
    requireText(body);
    return this.#store.append(user, body);
  }

  async appendOnce(user: string, body: string, keys: readonly string[], ttlMs: number): Promise<boolean> {
    this.#requireOpen();
    requireText(body);
    const isFirst = this.#store.once(user, keys, ttlMs);
    if (isFirst) this.#store.append(user, body);
    return isFirst;
  }

  async appendNewest(user: string, body: string, state: VersionedState): Promise<boolean> {
    this.#requireOpen();
    requireText(body);
    const isNewest = this.#store.isNewest(user, state);
    if (isNewest) this.#store.append(user, body);
    return isNewest;
  }

  async publishNewest(user: string, body: string, state: VersionedState): Promise<boolean> {
    this.#requireOpen();
    requireText(body);
    const isNewest = this.#store.isNewest(user, state);
    if (isNewest) this.#store.publish(user, body);
    return isNewest;
  }

  async publish(user: string, body: string): Promise<number> {
    this.#requireOpen();
    requireText(body);
    return this.#store.publish(user, body);
  }

  async read(user: string, since?: string): ReturnType<Backplane['read']> {
    this.#requireOpen();
    return this.#store.histories.read(user, since);
  }

  async forget(user: string): Promise<void> {
    this.#requireOpen();
    this.#store.histories.forget(user);
  }

  async subscribe(
    user: string,
    listener: (frame: UserFrame) => void,
    onInterrupted?: () => void,
  ): Promise<() => Promise<void>> {
    this.#requireOpen();
    const subscription = { listener, onInterrupted };
    this.#subscriptions.add(user, subscription);
    this.#store.subscribe(user, this.instance);
    return async () => {
      if (this.#subscriptions.remove(user, subscription)) this.#store.unsubscribe(user, this.instance);
    };
  }

  async audience(user: string): Promise<number> {
    this.#requireOpen();
    return this.#store.audience(user);
  }

  async once(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean> {
    this.#requireOpen();
    return this.#store.once(scope, keys, ttlMs);
  }

  async mark(scope: string, keys: readonly string[], ttlMs: number): Promise<void> {
    this.#requireOpen();
    this.#store.mark(scope, keys, ttlMs);
  }

  async take(key: string): Promise<string | undefined> {
    this.#requireOpen();
    return this.#store.values.take(key);
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    this.#requireOpen();
    requireText(value);
    this.#store.values.set(key, value, ttlMs);
  }

  async count(key: string, by: number, windowMs: number): Promise<Counted> {
    this.#requireOpen();
    return this.#store.count(key, by, windowMs);
  }

  async publishControl(body: string): Promise<void> {
    this.#requireOpen();
    requireText(body);
    this.#store.postAll({ kind: 'control', body });
  }

  onControl(listener: (body: string) => void): void {
    this.#controlListeners.push(listener);
  }

  onRestored(listener: () => void): void {
    this.#restoredListeners.push(listener);
  }

  async health(): Promise<{ ok: boolean; probeMs: number }> {
    if (this.#closed) return { ok: false, probeMs: 0 };
    const startedAt = performance.now();
    // Closing while the probe is under way drops it, so the answer comes with the turn at the latest.
    const heard = await new Promise<boolean>((resolve) => {
      this.#store.post(this.instance, { kind: 'probe', heard: () => resolve(true) });
      setImmediate(() => setImmediate(resolve, false));
    });
    return { ok: heard, probeMs: performance.now() - startedAt };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#store.leases.releaseAll(this.instance);
    const told = this.#commands.close();
    this.#leave();
    await told;
  }

  /* eslint-enable @typescript-eslint/require-await */

  /** What `kill` does: gone without a word. */
  vanish(): void {
    this.#leave();
    void this.#commands.close();
  }

  /** What `interrupt` does. */
  interrupted(): void {
    this.#restoredListeners.forEach((listener) => tell(listener, undefined, this.#onError));
    for (const user of this.#subscriptions.users()) this.#subscriptions.interrupted(user);
  }

  #leave(): void {
    this.#closed = true;
    this.#store.leave(this.instance);
    this.#subscriptions.clear();
    this.#onLeave();
  }

  #receive(post: Post): void {
    if (post.kind === 'frame') return this.#subscriptions.hear(post.user, post.frame);
    if (post.kind === 'probe') return post.heard();
    if (post.kind === 'control') return this.#tellAll(this.#controlListeners, post.body);
    if (post.kind === 'evicted') return this.#tellAll(this.#evictListeners, post.lease);
    // An event loop that was stuck: whoever sent it has given up.
    if (post.kind === 'command' && performance.now() > post.deadline) return;
    this.#commands.receive(post);
  }

  #tellAll<T>(listeners: readonly ((said: T) => void)[], said: T): void {
    for (const listener of listeners) tell(listener, said, this.#onError);
  }

  #requireOpen(): void {
    if (this.#closed) throw new BackplaneError('CLOSED', `${this.instance} is closed`);
  }
}
