/** The channel of one instance: what is posted in this tick of the event loop is delivered in the next, in order. */
import type { InstanceMessage } from '../instance-message.ts';
import type { UserFrame } from '../user-frames.ts';

export type Delivery =
  | InstanceMessage
  | { readonly kind: 'frame'; readonly user: string; readonly frame: UserFrame }
  | { readonly kind: 'control'; readonly body: string }
  | { readonly kind: 'probe'; readonly received: () => void };

/** Deliveries that may wait for one tick. Later ones are lost, as by a subscriber that cannot keep up. */
const maxWaiting = 100_000;

export class Mailbox {
  readonly #deliver: (delivery: Delivery) => void;
  #waiting: Delivery[] = [];
  #open = true;

  constructor(deliver: (delivery: Delivery) => void) {
    this.#deliver = deliver;
  }

  post(delivery: Delivery): void {
    if (!this.#open || this.#waiting.length >= maxWaiting) return;
    if (this.#waiting.length === 0) setImmediate(() => this.#drain());
    this.#waiting.push(delivery);
  }

  close(): void {
    this.#open = false;
    this.#waiting = [];
  }

  #drain(): void {
    const deliveries = this.#waiting;
    this.#waiting = [];
    for (const delivery of deliveries) {
      // A listener may close the instance half-way.
      if (!this.#open) return;
      this.#deliver(delivery);
    }
  }
}
