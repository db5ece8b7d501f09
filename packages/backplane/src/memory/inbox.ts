/** The channel of one instance: what is posted in this turn of the event loop is delivered in the next, in order. */
import type { UserFrame } from '../backplane.ts';
import type { Mail } from '../mail.ts';

export type Post =
  | Mail
  | { readonly kind: 'frame'; readonly user: string; readonly frame: UserFrame }
  | { readonly kind: 'control'; readonly body: string }
  | { readonly kind: 'probe'; readonly heard: () => void };

/** Posts that may wait for one turn. What is posted past it is lost, as from a subscriber that cannot keep up. */
const maxWaiting = 100_000;

export class Inbox {
  readonly #deliver: (post: Post) => void;
  #waiting: Post[] = [];
  #open = true;

  constructor(deliver: (post: Post) => void) {
    this.#deliver = deliver;
  }

  post(post: Post): void {
    if (!this.#open || this.#waiting.length >= maxWaiting) return;
    if (this.#waiting.length === 0) setImmediate(() => this.#drain());
    this.#waiting.push(post);
  }

  close(): void {
    this.#open = false;
    this.#waiting = [];
  }

  #drain(): void {
    const posts = this.#waiting;
    this.#waiting = [];
    for (const post of posts) {
      // A listener may close the instance half-way.
      if (!this.#open) return;
      this.#deliver(post);
    }
  }
}
