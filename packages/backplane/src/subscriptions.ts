/** The listeners of each user within this instance. Knows nothing about other instances. */
import { callSafely } from './listeners.ts';
import type { UserFrame } from './user-frames.ts';

export interface ChannelSubscription {
  readonly listener: (frame: UserFrame) => void;
  readonly onInterrupted: (() => void) | undefined;
}

export class Subscriptions {
  readonly #byUser = new Map<string, Set<ChannelSubscription>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(user: string, subscription: ChannelSubscription): void {
    const subscriptions = this.#byUser.get(user) ?? new Set();
    this.#byUser.set(user, subscriptions.add(subscription));
  }

  /**
   * True when it was the user's last subscription. False also for an unknown subscription: the user can have newer
   * ones.
   */
  remove(user: string, subscription: ChannelSubscription): boolean {
    const subscriptions = this.#byUser.get(user);
    if (!subscriptions?.delete(subscription) || subscriptions.size > 0) return false;
    this.#byUser.delete(user);
    return true;
  }

  clear(): void {
    // A listener can call clear during the loop: later listeners are not called.
    for (const subscriptions of this.#byUser.values()) subscriptions.clear();
    this.#byUser.clear();
  }

  deliver(user: string, frame: UserFrame): void {
    this.#each(user, ({ listener }) => callSafely(listener, frame, this.#onError));
  }

  interrupt(user: string): void {
    this.#each(user, ({ onInterrupted }) => onInterrupted && callSafely(onInterrupted, undefined, this.#onError));
  }

  users(): string[] {
    return [...this.#byUser.keys()];
  }

  #each(user: string, act: (subscription: ChannelSubscription) => void): void {
    const subscriptions = this.#byUser.get(user);
    if (!subscriptions) return;
    // A listener can remove another subscription, which is then skipped.
    for (const subscription of subscriptions.size === 1 ? subscriptions : [...subscriptions])
      if (subscriptions.has(subscription)) act(subscription);
  }
}
