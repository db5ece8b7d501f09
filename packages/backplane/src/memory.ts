/**
 * The backplane of a single process. It behaves like one between machines: several instances share a bus, they receive each
 * other's messages asynchronously, and only text passes. It does nothing that Redis cannot do.
 */
import { randomBytes } from 'node:crypto';
import { type Backplane, type BackplaneOptions, withDefaults } from './backplane.ts';
import { CommandExchange } from './command-exchange.ts';
import { compose } from './compose.ts';
import type { Lease, Leases } from './leases.ts';
import { Listeners } from './listeners.ts';
import { Mailbox, type MailboxEntry } from './memory/mailbox.ts';
import { Store } from './memory/store.ts';
import type { Shared } from './shared.ts';
import { Subscriptions } from './subscriptions.ts';
import type { UserFrames } from './user-frames.ts';

interface MemoryBusOptions extends Partial<BackplaneOptions> {
  /** Milliseconds since 1970. Leases, histories, tickets and remembered keys follow it; deadlines and timeouts do not. */
  now?: () => number;
  /** The most keys of `once`, and the most values of `put`, that are remembered; the oldest go first. Default 100,000. */
  maxKeys?: number;
  /** Called with errors that listeners throw. Default: a process warning. */
  onError?: (error: unknown) => void;
}

export interface MemoryBus {
  connect(name: string): Backplane;
  /** Test hook: the instance vanishes like a killed process. It releases nothing and notifies no other instance. */
  kill(instance: string): void;
  /** Test hook: empties the store. Instances and subscriptions stay. */
  flush(): void;
  /** Test hook: acts as if the instance lost messages during a disconnect. */
  interrupt(instance: string): void;
  /** Closes every instance. */
  close(): Promise<void>;
}

export function createMemoryBus(options: MemoryBusOptions = {}): MemoryBus {
  const settings = withDefaults(options);
  const store = new Store(settings, options.maxKeys ?? 100_000, options.now ?? Date.now);
  const onError = options.onError ?? ((error) => process.emitWarning(`a backplane listener threw: ${String(error)}`));
  const members = new Map<string, MemoryInstance>();
  return {
    connect(name) {
      const member = new MemoryInstance(name, store, settings, onError, () => members.delete(member.instance));
      members.set(member.instance, member);
      return member.backplane();
    },
    kill: (instance) => members.get(instance)?.vanish(),
    flush: () => store.forget(),
    interrupt: (instance) => members.get(instance)?.interrupt(),
    close: async () => {
      await Promise.all([...members.values()].map((member) => member.close()));
    },
  };
}

class MemoryInstance {
  readonly instance: string;
  readonly #store: Store;
  readonly #onLeave: () => void;
  readonly #commands: CommandExchange;
  readonly #subscriptions: Subscriptions;
  readonly #evictions: Listeners<Lease>;
  readonly #control: Listeners<string>;
  readonly #restored: Listeners;
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
    this.#onLeave = onLeave;
    this.#subscriptions = new Subscriptions(onError);
    this.#evictions = new Listeners(onError);
    this.#control = new Listeners(onError);
    this.#restored = new Listeners(onError);
    const transport: ConstructorParameters<typeof CommandExchange>[1] = {
      toOwner: (id, command, deadline) => Promise.resolve(store.postToOwner(id, this.instance, command, deadline)),
      toInstance: (to, answer) => {
        // The acknowledgement of a command that was being delivered when this instance closed is lost with it.
        if (!this.#closed) store.post(to, answer);
        return Promise.resolve();
      },
    };
    this.#commands = new CommandExchange(this.instance, transport, options, onError);
    store.join(this.instance, new Mailbox((delivery) => this.#receive(delivery)));
  }

  backplane(): Backplane {
    const self = {
      instance: this.instance,
      onRestored: (listener: () => void) => this.#restored.add(listener),
      health: () => this.#health(),
      close: () => this.close(),
    };
    const parts = {
      leases: this.#leases(),
      commands: this.#commands,
      frames: this.#frames(),
      shared: this.#shared(),
    };
    return compose(parts, self, () => this.#closed);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#store.leases.releaseAll(this.instance);
    const notified = this.#commands.close();
    this.#leave();
    await notified;
  }

  /** Stops the instance for `kill`: it sends no message to any other instance. */
  vanish(): void {
    this.#leave();
    void this.#commands.close();
  }

  interrupt(): void {
    this.#restored.emit();
    for (const user of this.#subscriptions.users()) this.#subscriptions.interrupt(user);
  }

  // Methods are async so that a refusal is a rejection here as it is over a network.
  /* eslint-disable @typescript-eslint/require-await */

  #leases(): Leases {
    const store = this.#store;
    return {
      claim: async (device, connection) => store.claim(device, connection, this.instance),
      refresh: async (leases) =>
        leases
          .filter((lease) => !store.leases.refresh(lease.device, lease.connection, lease.fence, this.instance))
          .map((lease) => lease.device),
      release: async (device, fence) => store.leases.release(device, fence),
      owners: async (devices) => {
        const leases = devices.map((device) => store.leases.get(device)).filter((lease) => lease !== undefined);
        return new Map(leases.map((lease) => [lease.device, lease]));
      },
      onEvict: (listener) => this.#evictions.add(listener),
    };
  }

  #frames(): UserFrames {
    const store = this.#store;
    return {
      append: async (user, body) => store.append(user, body),
      appendOnce: async (user, body, keys, ttlMs) => {
        const isFirst = store.once(user, keys, ttlMs);
        if (isFirst) store.append(user, body);
        return isFirst;
      },
      appendNewest: async (user, body, state) => {
        const isNewest = store.isNewest(user, state);
        if (isNewest) store.append(user, body);
        return isNewest;
      },
      publishNewest: async (user, body, state) => {
        const isNewest = store.isNewest(user, state);
        if (isNewest) store.publish(user, body);
        return isNewest;
      },
      publish: async (user, body) => store.publish(user, body),
      read: async (user, since) => store.histories.read(user, since),
      forget: async (user) => store.histories.forget(user),
      subscribe: async (user, listener, onInterrupted) => {
        const subscription = { listener, onInterrupted };
        this.#subscriptions.add(user, subscription);
        store.subscribe(user, this.instance);
        return async () => {
          if (this.#subscriptions.remove(user, subscription)) store.unsubscribe(user, this.instance);
        };
      },
      audience: async (user) => store.audience(user),
    };
  }

  #shared(): Shared {
    const store = this.#store;
    return {
      once: async (scope, keys, ttlMs) => store.once(scope, keys, ttlMs),
      mark: async (scope, keys, ttlMs) => store.mark(scope, keys, ttlMs),
      take: async (key) => store.values.take(key),
      peek: async (key) => store.values.get(key),
      put: async (key, value, ttlMs) => store.values.set(key, value, ttlMs),
      keepFirst: async (key, value, ttlMs) => {
        const kept = store.values.get(key) ?? value;
        if (kept === value) store.values.set(key, value, ttlMs);
        return kept;
      },
      extend: async (key, more, ttlMs) => {
        const value = store.values.get(key);
        if (value !== undefined) store.values.set(key, value + more, ttlMs);
        return value !== undefined;
      },
      count: async (key, by, windowMs) => store.count(key, by, windowMs),
      publishControl: async (body) => store.postAll({ kind: 'control', body }),
      onControl: (listener) => this.#control.add(listener),
    };
  }

  /* eslint-enable @typescript-eslint/require-await */

  async #health(): Promise<{ ok: boolean; probeMs: number }> {
    if (this.#closed) return { ok: false, probeMs: 0 };
    const startedAt = performance.now();
    // Closing while the probe is under way discards it, so the answer comes with the next tick at the latest.
    const ok = await new Promise<boolean>((resolve) => {
      this.#store.post(this.instance, { kind: 'probe', received: () => resolve(true) });
      setImmediate(() => setImmediate(resolve, false));
    });
    return { ok, probeMs: performance.now() - startedAt };
  }

  #leave(): void {
    this.#closed = true;
    this.#store.leave(this.instance);
    this.#subscriptions.clear();
    this.#onLeave();
  }

  #receive(delivery: MailboxEntry): void {
    if (delivery.kind === 'frame') return this.#subscriptions.deliver(delivery.user, delivery.frame);
    if (delivery.kind === 'probe') return delivery.received();
    if (delivery.kind === 'control') return this.#control.emit(delivery.body);
    if (delivery.kind === 'evicted') return this.#evictions.emit(delivery.lease);
    // The event loop was stuck: the sender has given up.
    if (delivery.kind === 'command' && performance.now() > delivery.deadline) return;
    this.#commands.receive(delivery);
  }
}
