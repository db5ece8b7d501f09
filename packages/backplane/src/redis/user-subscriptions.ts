/**
 * The users whose frames this instance receives: it subscribes to their channels and puts itself on their lists, so
 * that their frames arrive together with frames of other users (see `script.ts`). It does not know histories.
 */
import { BackplaneError } from '../errors.ts';
import { type ChannelSubscription, Subscriptions } from '../subscriptions.ts';
import { within } from '../within.ts';
import { type Keys, idOf, timeOfOffset } from './keys.ts';
import type { Run } from './operations.ts';
import type { Topology } from './topology.ts';
import type { WireRecord } from './wire.ts';

interface SubscribedUser {
  readonly user: string;
  readonly channel: string;
  /** Offset of the newest entry before the next frame. */
  top: string;
  /** When the instance last put itself on the list (`performance.now()`). */
  listedAt: number;
  live: Promise<void>;
}

interface UserSubscriptionsOptions {
  readonly instance: string;
  readonly topology: Topology;
  readonly keys: Keys;
  /** Time limit of a subscription. */
  readonly timeoutMs: number;
  /** Redis time is not later than this, in ms since 1970, on the server of the id; Infinity when that is not known. */
  redisTime(id: string): number;
  readonly run: Run;
  onError(error: unknown): void;
}

/** How often an instance puts itself on a list again that is missing or not complete. */
const relistMs = 1_000;

export class UserSubscriptions {
  readonly #options: UserSubscriptionsOptions;
  readonly #subscriptions: Subscriptions;
  readonly #byUser = new Map<string, SubscribedUser>();
  readonly #byChannel = new Map<string, SubscribedUser>();
  /** Long frames whose body is the next message of the channel. */
  readonly #withoutBody = new Map<string, WireRecord<'longFrame'>>();
  /** Users with possibly lost frames, until the instance is on their list again. */
  readonly #unlisted = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: UserSubscriptionsOptions) {
    this.#options = options;
    this.#subscriptions = new Subscriptions((error) => options.onError(error));
  }

  /** @throws BackplaneError UNAVAILABLE, CLOSED */
  async subscribe(user: string, subscription: ChannelSubscription): Promise<() => Promise<void>> {
    const subscribed = this.#user(user);
    this.#subscriptions.add(user, subscription);
    const leave = async () => {
      if (this.#subscriptions.remove(user, subscription)) await this.#leave(subscribed);
    };
    const { timeoutMs } = this.#options;
    try {
      await within(subscribed.live, timeoutMs, `Redis did not subscribe within ${timeoutMs} ms`);
    } catch (error) {
      leave().catch(() => undefined);
      throw error;
    }
    if (this.#closed) throw new BackplaneError('CLOSED', 'this instance closed before the subscription was live');
    return leave;
  }

  /** False: the record is not about a user. */
  receive(channel: string, record: WireRecord): boolean {
    switch (record.kind) {
      case 'longFrame':
        this.#withoutBody.set(channel, record);
        return true;
      case 'longHotFrame':
        // A frozen Redis delivers it late: it shows a state of the past, and its sender got an error.
        if (this.#options.redisTime(record.id) <= record.until) this.#deliver(channel, record);
        return true;
      case 'frame':
      case 'hotFrame':
      case 'top':
      case 'brokenChain': {
        // It came through the channel of the user, so the list is missing or not complete.
        const own = this.#byChannel.get(channel);
        if (own && performance.now() - own.listedAt > relistMs) this.#list(own).catch(() => undefined);
        this.#deliver(channel, record);
        return true;
      }
      default:
        return false;
    }
  }

  /** True when the message is the body of the long frame before it: one of another length is not, and the body was lost. */
  receiveBody(channel: string, body: string): boolean {
    const frame = this.#withoutBody.size > 0 ? this.#withoutBody.get(channel) : undefined;
    if (!frame) return false;
    this.#withoutBody.delete(channel);
    const { offset, previous, id, bodyLength } = frame;
    return body.length === bodyLength && this.receive(channel, { kind: 'frame', offset, previous, id, body });
  }

  /** The connection of these channels was lost, and with it each body that was on its way: the next message is something else. */
  onLost(channels: readonly string[]): void {
    for (const channel of channels) this.#withoutBody.delete(channel);
  }

  /** These channels were interrupted and are live again. */
  onRestored(channels: readonly string[]): void {
    for (const channel of channels) {
      const subscribed = this.#byChannel.get(channel);
      if (subscribed) this.#unlisted.add(subscribed.user);
    }
    this.onUp();
  }

  /** Redis is reachable again: puts the instance on the lists and then reports that frames might have been lost. */
  onUp(): void {
    for (const user of this.#unlisted) {
      const subscribed = this.#byUser.get(user);
      this.#unlisted.delete(user);
      if (!subscribed) continue;
      this.#list(subscribed).then(
        () => this.#subscriptions.interrupt(user),
        () => {
          this.#unlisted.add(user);
          this.#retry();
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

  #deliver(channel: string, record: WireRecord<'frame' | 'hotFrame' | 'longHotFrame' | 'top' | 'brokenChain'>): void {
    const { id } = record;
    const user = id.slice(id.indexOf('}') + 1);
    const subscribed = this.#byUser.get(user);
    if (!subscribed) {
      // On a list by mistake: the message that it left was lost.
      if (!this.#byChannel.has(channel) && !this.#closed) void this.#unlist(id);
      return;
    }
    switch (record.kind) {
      case 'frame': {
        const { offset, previous, body } = record;
        subscribed.top = offset;
        const appendedAtMs = timeOfOffset(offset);
        this.#subscriptions.deliver(user, { body, offset, previous, hot: false, appendedAtMs });
        break;
      }
      case 'hotFrame':
      case 'longHotFrame':
        this.#subscriptions.deliver(user, { body: record.body, offset: subscribed.top, hot: true });
        break;
      case 'top':
        subscribed.top = record.offset;
        break;
      case 'brokenChain':
        subscribed.top = '';
        this.#subscriptions.interrupt(user);
    }
  }

  #user(user: string): SubscribedUser {
    const existing = this.#byUser.get(user);
    if (existing) return existing;
    const { keys, topology } = this.#options;
    const channel = keys.user(user);
    const subscribed = { user, channel, top: '', listedAt: performance.now(), live: Promise.resolve() };
    this.#byUser.set(user, subscribed);
    this.#byChannel.set(channel, subscribed);
    subscribed.live = topology.subscribe(channel).then(() => this.#list(subscribed));
    // Every waiting caller gets the error; there might not be any.
    subscribed.live.catch(() => undefined);
    return subscribed;
  }

  async #leave(subscribed: SubscribedUser): Promise<void> {
    const { user, channel } = subscribed;
    if (this.#closed || this.#byUser.get(user) !== subscribed) return;
    this.#byUser.delete(user);
    this.#byChannel.delete(channel);
    this.#unlisted.delete(user);
    await this.#options.topology.unsubscribe(channel);
    // A new subscriber of the user might have arrived.
    if (!this.#closed && !this.#byUser.has(user)) await this.#unlist(idOf(user));
  }

  async #list(subscribed: SubscribedUser): Promise<void> {
    if (this.#byUser.get(subscribed.user) !== subscribed) return;
    subscribed.listedAt = performance.now();
    const id = idOf(subscribed.user);
    const { instance, run } = this.#options;
    const received = await run('listSubscriber', { id, instance, idLength: id.length });
    if (received === 0) throw new BackplaneError('UNAVAILABLE', 'this instance does not receive what is sent to it');
  }

  /** If it fails, the next frame that comes by the list leads here again. */
  async #unlist(id: string): Promise<void> {
    const { instance, run } = this.#options;
    await run('unlistSubscriber', { id, instance }).catch(() => undefined);
  }

  #retry(): void {
    if (this.#timer || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.onUp();
    }, relistMs);
    this.#timer.unref();
  }
}
