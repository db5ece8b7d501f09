/**
 * Delays repeated refusals (rules, 6.10): a client that keeps asking despite refusals waits for each answer, so its loop takes
 * little from other clients. A client that stops after the first refusals notices nothing.
 */

const windowMs = 60_000;
const promptRefusals = 100;
const lateMs = 1000;
/** Answers held back at a time on this instance. Each holds a socket; beyond this bound answers are prompt again. */
const maxWaiting = 1000;
const maxPeople = 10_000;

export class LateRefusals {
  /** Refusals in the current window, by person or address. */
  readonly #refused = new Map<string, { count: number; until: number }>();
  #waiting = 0;

  /** Counts a refusal. Resolves when to send it: at once for the first 100 in a minute, a second later from then on. */
  async pause(who: string): Promise<void> {
    const now = performance.now();
    if (this.#refused.size >= maxPeople) this.#refused.clear();
    const previous = this.#refused.get(who);
    const refused = previous && previous.until > now ? previous : { count: 0, until: now + windowMs };
    this.#refused.set(who, refused);
    refused.count += 1;
    if (refused.count <= promptRefusals || this.#waiting >= maxWaiting) return;
    this.#waiting += 1;
    await new Promise<void>((resolve) => void setTimeout(resolve, lateMs).unref());
    this.#waiting -= 1;
  }
}
