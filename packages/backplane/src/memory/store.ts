/** The state that all instances of one process share, in place of Redis. Every method is one atomic step. */
import type { BackplaneOptions } from '../backplane.ts';
import type { Command } from '../commands.ts';
import type { Lease } from '../leases.ts';
import type { Counted } from '../shared.ts';
import type { UserFrame, VersionedState } from '../user-frames.ts';
import { Expiring } from './expiring.ts';
import { Histories } from './histories.ts';
import { LeaseTable } from './lease-table.ts';
import type { Mailbox, MailboxEntry } from './mailbox.ts';

interface Kept {
  leases: LeaseTable;
  histories: Histories;
  remembered: Expiring<true>;
  values: Expiring<string>;
  counts: Expiring<number>;
  versions: Expiring<number>;
}

export class Store {
  readonly #create: () => Kept;
  readonly #mailboxes = new Map<string, Mailbox>();
  readonly #subscribers = new Map<string, Set<string>>();
  readonly #now: () => number;
  #kept: Kept;

  constructor(options: BackplaneOptions, maxKeys: number, now: () => number) {
    this.#create = () => ({
      leases: new LeaseTable(now, options.leaseTtlMs),
      histories: new Histories(now, options),
      remembered: new Expiring(now, maxKeys),
      values: new Expiring(now, maxKeys),
      counts: new Expiring(now, maxKeys),
      versions: new Expiring(now, maxKeys),
    });
    this.#now = now;
    this.#kept = this.#create();
  }

  get leases(): LeaseTable {
    return this.#kept.leases;
  }

  get histories(): Histories {
    return this.#kept.histories;
  }

  get values(): Expiring<string> {
    return this.#kept.values;
  }

  /** Loses everything that is stored; subscriptions stay. */
  forget(): void {
    this.#kept = this.#create();
  }

  join(instance: string, mailbox: Mailbox): void {
    this.#mailboxes.set(instance, mailbox);
  }

  /** Nothing more is delivered to the instance. Its leases are not touched. */
  leave(instance: string): void {
    this.#mailboxes.get(instance)?.close();
    this.#mailboxes.delete(instance);
    for (const user of [...this.#subscribers.keys()]) this.unsubscribe(user, instance);
  }

  /** False when the instance is unknown. */
  post(instance: string, delivery: MailboxEntry): boolean {
    const mailbox = this.#mailboxes.get(instance);
    mailbox?.post(delivery);
    return mailbox !== undefined;
  }

  postAll(delivery: MailboxEntry): void {
    for (const mailbox of this.#mailboxes.values()) mailbox.post(delivery);
  }

  claim(device: string, connection: string, instance: string): { fence: number; previous?: Lease } {
    const claimed = this.leases.claim(device, connection, instance);
    if (claimed.previous) this.post(claimed.previous.instance, { kind: 'evicted', lease: { ...claimed.previous } });
    return claimed;
  }

  postToOwner(
    id: string,
    from: string,
    command: Omit<Command, 'fence'>,
    deadline: number,
  ): 'posted' | 'offline' | 'owner_gone' {
    const lease = this.leases.get(command.device);
    if (!lease) return 'offline';
    const message = { kind: 'command', id, from, command: { ...command, fence: lease.fence }, deadline } as const;
    return this.post(lease.instance, message) ? 'posted' : 'owner_gone';
  }

  append(user: string, body: string): { offset: string; receivers: number } {
    const { offset, previous } = this.histories.append(user, body);
    return { offset, receivers: this.#deliver(user, { body, offset, previous, hot: false, appendedAtMs: Date.now() }) };
  }

  publish(user: string, body: string): number {
    return this.#deliver(user, { body, offset: this.histories.top(user), hot: true });
  }

  subscribe(user: string, instance: string): void {
    const instances = this.#subscribers.get(user) ?? new Set();
    this.#subscribers.set(user, instances.add(instance));
  }

  unsubscribe(user: string, instance: string): void {
    const instances = this.#subscribers.get(user);
    instances?.delete(instance);
    if (instances?.size === 0) this.#subscribers.delete(user);
  }

  audience(user: string): number {
    return this.#subscribers.get(user)?.size ?? 0;
  }

  once(scope: string, keys: readonly string[], ttlMs: number): boolean {
    const names = [...new Set(keys)].map((key) => JSON.stringify([scope, key]));
    const unknown = names.filter((name) => !this.#kept.remembered.get(name));
    for (const name of unknown) this.#kept.remembered.set(name, true, ttlMs);
    return unknown.length === names.length;
  }

  /** False: a newer version is known. */
  isNewest(scope: string, { key, version, ttlMs }: VersionedState): boolean {
    const { versions } = this.#kept;
    const name = JSON.stringify([scope, key]);
    if ((versions.get(name) ?? version) > version) return false;
    versions.set(name, version, ttlMs);
    return true;
  }

  mark(scope: string, keys: readonly string[], ttlMs: number): void {
    for (const key of keys) this.#kept.remembered.set(JSON.stringify([scope, key]), true, ttlMs);
  }

  count(key: string, by: number, windowMs: number): Counted {
    const { counts } = this.#kept;
    const now = this.#now();
    const running = counts.until(key);
    if (running <= now && by <= 0) return { count: 0, leftMs: 0, endsAt: 0 };
    const endsAt = running > now ? running : now + windowMs;
    const count = (counts.get(key) ?? 0) + by;
    counts.setUntil(key, count, endsAt);
    return { count, leftMs: endsAt - now, endsAt };
  }

  #deliver(user: string, frame: UserFrame): number {
    // All listeners share the object: freeze it so that a change fails here, as it would have no effect over a network.
    Object.freeze(frame);
    const instances = this.#subscribers.get(user) ?? [];
    for (const instance of instances) this.post(instance, { kind: 'frame', user, frame });
    return this.audience(user);
  }
}
