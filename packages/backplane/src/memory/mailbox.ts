/** The channel of one instance: delivers the messages of one event-loop tick in the next tick, in order. */
import type { InstanceMessage } from '../instance-message.ts';
import type { UserFrame } from '../user-frames.ts';

export type MailboxEntry =
  | InstanceMessage
  | { readonly kind: 'frame'; readonly user: string; readonly frame: UserFrame }
  | { readonly kind: 'control'; readonly body: string }
  | { readonly kind: 'probe'; readonly received: () => void };

/** Deliveries that can wait for one tick. Later ones are lost, as with a subscriber that cannot keep up. */
const maxWaiting = 100_000;

export class Mailbox {
  readonly #deliver: (delivery: MailboxEntry) => void;
  #waiting: MailboxEntry[] = [];
  #open = true;

  constructor(deliver: (delivery: MailboxEntry) => void) {
    this.#deliver = deliver;
  }

  post(delivery: MailboxEntry): void {
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
      // A listener can close the instance half-way.
      if (!this.#open) return;
      this.#deliver(delivery);
    }
  }
}
