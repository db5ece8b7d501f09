/** Who listens to which user within this instance. Knows nothing of other instances. */
import type { UserFrame } from './backplane.ts';
import { tell } from './text.ts';

export interface Subscription {
  readonly listener: (frame: UserFrame) => void;
  readonly onInterrupted: (() => void) | undefined;
}

export class Subscriptions {
  readonly #byUser = new Map<string, Set<Subscription>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(user: string, subscription: Subscription): void {
    const subscriptions = this.#byUser.get(user) ?? new Set();
    this.#byUser.set(user, subscriptions.add(subscription));
  }

  /** True when it was the last one of its user. False also when it is gone already: there may be others' by now. */
  remove(user: string, subscription: Subscription): boolean {
    const subscriptions = this.#byUser.get(user);
    if (!subscriptions?.delete(subscription) || subscriptions.size > 0) return false;
    this.#byUser.delete(user);
    return true;
  }

  clear(): void {
    // A listener may clear while it is called: who comes after it hears nothing more.
    for (const subscriptions of this.#byUser.values()) subscriptions.clear();
    this.#byUser.clear();
  }

  hear(user: string, frame: UserFrame): void {
    this.#each(user, ({ listener }) => tell(listener, frame, this.#onError));
  }

  interrupted(user: string): void {
    this.#each(user, ({ onInterrupted }) => onInterrupted && tell(onInterrupted, undefined, this.#onError));
  }

  users(): string[] {
    return [...this.#byUser.keys()];
  }

  #each(user: string, act: (subscription: Subscription) => void): void {
    const subscriptions = this.#byUser.get(user);
    if (!subscriptions) return;
    // A listener may end another one's subscription, and that one hears nothing more from then on.
    for (const subscription of subscriptions.size === 1 ? subscriptions : [...subscriptions])
      if (subscriptions.has(subscription)) act(subscription);
  }
}
