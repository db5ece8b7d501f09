/**
 * The backplane of a single process. It behaves like one between machines: several instances share a bus, they hear each
 * other asynchronously, and only text passes. Redis must be able to do everything that is done here, and nothing else is.
 */
import { randomBytes } from 'node:crypto';
import { withDefaults } from './backplane.ts';
import type { Backplane, BackplaneOptions, Command, Lease, UserFrame } from './backplane.ts';
import { Commands } from './commands.ts';
import { BackplaneError } from './errors.ts';
import { Inbox } from './memory/inbox.ts';
import type { Post } from './memory/inbox.ts';
import { Store } from './memory/store.ts';

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
    close: async () => {
      await Promise.all([...members.values()].map((member) => member.close()));
    },
  };
}

interface Subscription {
  readonly listener: (frame: UserFrame) => void;
}

class MemoryBackplane implements Backplane {
  readonly instance: string;
  readonly #store: Store;
  readonly #commands: Commands;
  readonly #onError: (error: unknown) => void;
  readonly #onLeave: () => void;
  readonly #evictListeners: ((lease: Lease) => void)[] = [];
  readonly #controlListeners: ((body: string) => void)[] = [];
  readonly #subscriptions = new Map<string, Set<Subscription>>();
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
    const post = {
      toOwner: (id: string, command: Omit<Command, 'fence'>) =>
        Promise.resolve(store.postToOwner(id, this.instance, command)),
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

  async publish(user: string, body: string): Promise<number> {
    this.#requireOpen();
    requireText(body);
    return this.#store.publish(user, body);
  }

  async read(user: string, since?: string): ReturnType<Backplane['read']> {
    this.#requireOpen();
    return this.#store.histories.read(user, since);
  }

  async subscribe(user: string, listener: (frame: UserFrame) => void): Promise<() => Promise<void>> {
    this.#requireOpen();
    const subscription = { listener };
    const subscriptions = this.#subscriptions.get(user) ?? new Set();
    this.#subscriptions.set(user, subscriptions.add(subscription));
    this.#store.subscribe(user, this.instance);
    return async () => {
      // Twice, or after close: there may be others' subscriptions of the same user by now.
      if (!subscriptions.delete(subscription) || subscriptions.size > 0 || this.#closed) return;
      this.#subscriptions.delete(user);
      this.#store.unsubscribe(user, this.instance);
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

  async take(key: string): Promise<string | undefined> {
    this.#requireOpen();
    return this.#store.values.take(key);
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    this.#requireOpen();
    requireText(value);
    this.#store.values.set(key, value, ttlMs);
  }

  async publishControl(body: string): Promise<void> {
    this.#requireOpen();
    requireText(body);
    this.#store.postAll({ kind: 'control', body });
  }

  onControl(listener: (body: string) => void): void {
    this.#controlListeners.push(listener);
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

  #leave(): void {
    this.#closed = true;
    this.#store.leave(this.instance);
    this.#subscriptions.clear();
    this.#onLeave();
  }

  #receive(post: Post): void {
    if (post.kind === 'frame') return this.#hear(post.user, post.frame);
    if (post.kind === 'probe') return post.heard();
    if (post.kind === 'control') return this.#controlListeners.forEach((listener) => this.#tell(listener, post.body));
    if (post.kind === 'evicted') return this.#evictListeners.forEach((listener) => this.#tell(listener, post.lease));
    this.#commands.receive(post);
  }

  #hear(user: string, frame: UserFrame): void {
    const subscriptions = this.#subscriptions.get(user) ?? new Set();
    for (const subscription of [...subscriptions]) {
      // A listener may end another one's subscription, and that one hears nothing more from then on.
      if (subscriptions.has(subscription)) this.#tell(subscription.listener, frame);
    }
  }

  #tell<T>(listener: (said: T) => void, said: T): void {
    try {
      listener(said);
    } catch (error) {
      this.#onError(error);
    }
  }

  #requireOpen(): void {
    if (this.#closed) throw new BackplaneError('CLOSED', `${this.instance} is closed`);
  }
}

function requireText(body: unknown): void {
  if (typeof body !== 'string') throw new TypeError(`the backplane carries text, not ${typeof body}`);
}
