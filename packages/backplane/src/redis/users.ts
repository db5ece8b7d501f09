/**
 * The users this instance listens to: subscribed to their channels, and on their lists, which makes their frames come together
 * with those of others (see `script.ts`). It knows nothing of histories.
 */
import { BackplaneError } from '../errors.ts';
import { type Subscription, Subscriptions } from '../subscriptions.ts';
import type { Fleet } from './fleet.ts';
import { heldWithin } from './listening.ts';
import { type Names, partitionOf, tagged } from './names.ts';

interface Listened {
  readonly user: string;
  /** Offset of the newest entry before whatever is heard next. */
  top: string;
  /** By `performance.now()`, when it last asked to be on the list. */
  listedAt: number;
  live: Promise<void>;
}

export interface UsersOptions {
  readonly instance: string;
  readonly fleet: Fleet;
  readonly names: Names;
  /** How long a subscription may take. */
  readonly timeoutMs: number;
  /** Redis time is not later than this, in ms since 1970, where the id belongs; Infinity when that is not known. */
  redisTime(id: string): number;
  run(partition: number, args: readonly string[]): Promise<unknown>;
  onError(error: unknown): void;
}

/** A list that is not believed yet is asked for again so often at most. */
const relistMs = 1_000;

export class Users {
  readonly #options: UsersOptions;
  readonly #subscriptions: Subscriptions;
  readonly #byUser = new Map<string, Listened>();
  readonly #byChannel = new Map<string, Listened>();
  /** Records whose body is the next message of the channel. */
  readonly #bodiless = new Map<string, readonly string[]>();
  /** Users of whom something may have been missed, and who are not on the list again yet. */
  readonly #unlisted = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: UsersOptions) {
    this.#options = options;
    this.#subscriptions = new Subscriptions((error) => options.onError(error));
  }

  /** @throws BackplaneError UNAVAILABLE, CLOSED */
  async subscribe(user: string, subscription: Subscription): Promise<() => Promise<void>> {
    const listened = this.#listened(user);
    this.#subscriptions.add(user, subscription);
    const leave = async () => {
      if (this.#subscriptions.remove(user, subscription)) await this.#leave(listened);
    };
    try {
      await heldWithin(listened.live, this.#options.timeoutMs);
    } catch (error) {
      leave().catch(() => undefined);
      throw error;
    }
    if (this.#closed) throw new BackplaneError('CLOSED', 'this instance closed before the subscription was live');
    return leave;
  }

  /** True when the record was about a user, listened to or not. */
  hear(channel: string, kind: string, fields: readonly string[]): boolean {
    if (kind === 'F') {
      this.#bodiless.set(channel, fields);
      return true;
    }
    const place = kind === 'f' ? 2 : kind === 'i' ? 1 : kind === 'h' || kind === 'H' || kind === 'g' ? 0 : undefined;
    if (place === undefined) return false;
    const id = fields[place] ?? '';
    const listened = this.#byUser.get(id.slice(id.indexOf('}') + 1));
    const own = this.#byChannel.get(channel);
    // A frozen Redis says it late: what it shows has been overtaken, and who sent it was told that it failed.
    if (kind === 'H' && this.#options.redisTime(id) > Number(fields[2])) return true;
    // A long hot frame comes here whether there is a list or not.
    if (own && kind !== 'H' && performance.now() - own.listedAt > relistMs) this.#list(own).catch(() => undefined);
    if (listened) this.#hear(listened, kind, fields);
    // On a list by mistake: the word that it left was lost.
    else if (!own && !this.#closed) this.#unlist(id).catch(() => undefined);
    return true;
  }

  /** True when the text is the body of the record before it. */
  hearBody(channel: string, text: string): boolean {
    const fields = this.#bodiless.size > 0 ? this.#bodiless.get(channel) : undefined;
    if (!fields) return false;
    this.#bodiless.delete(channel);
    return this.hear(channel, 'f', [...fields.slice(0, 3), text]);
  }

  /** These channels were dead for a while and are live again. */
  restored(channels: readonly string[]): void {
    for (const channel of channels) this.#bodiless.delete(channel);
    for (const channel of channels) {
      const listened = this.#byChannel.get(channel);
      if (listened) this.#unlisted.add(listened.user);
    }
    this.up();
  }

  /** Redis can be asked: whoever waits for it is put on the list, and told then that something may have been missed. */
  up(): void {
    for (const user of this.#unlisted) {
      const listened = this.#byUser.get(user);
      this.#unlisted.delete(user);
      if (!listened) continue;
      this.#list(listened).then(
        () => this.#subscriptions.interrupted(user),
        () => {
          this.#unlisted.add(user);
          this.#again();
        },
      );
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#subscriptions.clear();
    this.#byUser.clear();
    this.#byChannel.clear();
    this.#unlisted.clear();
  }

  #hear(listened: Listened, kind: string, fields: readonly string[]): void {
    const { user } = listened;
    if (kind === 'f') {
      const [offset = '', previous = '', , body = ''] = fields;
      listened.top = offset;
      this.#subscriptions.hear(user, { body, offset, previous, hot: false });
    } else if (kind === 'h' || kind === 'H') {
      this.#subscriptions.hear(user, { body: fields[1] ?? '', offset: listened.top, hot: true });
    } else if (kind === 'i') {
      listened.top = fields[0] ?? '';
    } else {
      listened.top = '';
      this.#subscriptions.interrupted(user);
    }
  }

  #listened(user: string): Listened {
    const known = this.#byUser.get(user);
    if (known) return known;
    const channel = this.#options.names.user(user);
    const listened: Listened = { user, top: '', listedAt: performance.now(), live: Promise.resolve() };
    this.#byUser.set(user, listened);
    this.#byChannel.set(channel, listened);
    listened.live = this.#options.fleet.hold(partitionOf(user), channel).then(() => this.#list(listened));
    // Everybody who waits for it hears it; nobody may be waiting any more.
    listened.live.catch(() => undefined);
    return listened;
  }

  async #leave(listened: Listened): Promise<void> {
    if (this.#closed || this.#byUser.get(listened.user) !== listened) return;
    const channel = this.#options.names.user(listened.user);
    this.#byUser.delete(listened.user);
    this.#byChannel.delete(channel);
    this.#unlisted.delete(listened.user);
    await this.#options.fleet.drop(channel);
    // Somebody may have come meanwhile.
    if (this.#closed || this.#byUser.has(listened.user)) return;
    await this.#unlist(tagged(partitionOf(listened.user), listened.user)).catch(() => undefined);
  }

  async #list(listened: Listened): Promise<void> {
    if (this.#byUser.get(listened.user) !== listened) return;
    listened.listedAt = performance.now();
    const partition = partitionOf(listened.user);
    const id = tagged(partition, listened.user);
    const heard = await this.#options.run(partition, ['u', id, this.#options.instance, String(id.length)]);
    if (heard === 0) throw new BackplaneError('UNAVAILABLE', 'this instance does not hear what is sent to it');
  }

  #unlist(id: string): Promise<unknown> {
    const partition = Number(/^\{(\d+)\}/.exec(id)?.[1] ?? 0);
    return this.#options.run(partition, ['y', id, this.#options.instance]);
  }

  #again(): void {
    if (this.#timer || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.up();
    }, relistMs);
    this.#timer.unref();
  }
}
