/**
 * Paces the bytes of bodies, because reading them takes the event loop from other requests. A person or an address sends a burst
 * at full speed, one body of the largest size, and further bytes at a steady rate (rules, 6.7).
 */
import { limits } from '@relay/protocol';

/** About 1 % of the time of an instance. */
const bytesPerMs = (4 * 1024 * 1024) / 1000;
const burstMs = limits.imageRequestBytes / bytesPerMs;
const maxPayers = 10_000;

export class BodyPace {
  readonly #now: () => number;
  /** When the bytes of each payer will be paid for. */
  readonly #paidAt = new Map<string, number>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds that the payer waits before it sends more, after these bytes. 0 within its burst. */
  charge(payer: string, bytes: number): number {
    const now = this.#now();
    const from = Math.max(this.#paidAt.get(payer) ?? 0, now - burstMs);
    const paidAt = from + bytes / bytesPerMs;
    if (this.#paidAt.size >= maxPayers) this.#forgetRested(now);
    this.#paidAt.set(payer, paidAt);
    return Math.max(0, Math.ceil(paidAt - now));
  }

  #forgetRested(now: number): void {
    for (const [payer, paidAt] of this.#paidAt) if (paidAt <= now - burstMs) this.#paidAt.delete(payer);
    // So many at once are strangers: each begins with a whole burst.
    if (this.#paidAt.size >= maxPayers) this.#paidAt.clear();
  }
}
