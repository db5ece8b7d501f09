/**
 * Keeps the daemons of a fleet spread over its gateways (rules, 9.16). Each gateway adds its count to one shared number
 * per window, so it knows the mean of the last window. A gateway that holds clearly more releases some daemons and does
 * not take a released daemon back immediately:
 * an edge that hashes would return it to the same gateway.
 */
import type { Shared } from '@relay/backplane';

export const windowMs = 10_000;
/** A gateway releases daemons above this share of the mean, if it has at least this number more than the mean. */
const tooMuch = 1.2;
const tooMany = 50;
/** Every released daemon connects again somewhere: spread this load. */
export const closesPerSecond = 10;
/** How long a released daemon is redirected, once. */
const sentOnMs = 60_000;
/** Encodes two counters in one number: each gateway adds 1, each of its daemons adds this. */
const perDaemon = 65_536;

export class Balance {
  readonly #backplane: Pick<Shared, 'count'>;
  readonly #now: () => number;
  /** Devices that were let go, and until when they are sent on. The oldest first. */
  readonly #sentOn = new Map<string, number>();
  #counted = -1;

  constructor(backplane: Pick<Shared, 'count'>, now: () => number = Date.now) {
    this.#backplane = backplane;
    this.#now = now;
  }

  /**
   * Adds the `size` daemons of this gateway to the count and returns its surplus: 0 unless it holds more than its
   * share.
   */
  async surplus(size: number): Promise<number> {
    const window = Math.floor(this.#now() / windowMs);
    const keyOf = (number: number) => `balance ${number}`;
    if (window !== this.#counted) {
      this.#counted = window;
      await this.#backplane.count(keyOf(window), size * perDaemon + 1, 4 * windowMs);
    }
    const { count } = await this.#backplane.count(keyOf(window - 1), 0, 4 * windowMs);
    const gateways = count % perDaemon;
    if (gateways < 2) return 0;
    const mean = Math.floor(count / perDaemon) / gateways;
    return size > tooMuch * mean && size > mean + tooMany ? Math.ceil(size - tooMuch * mean) : 0;
  }

  /** Remembers that the device was let go. */
  letGo(deviceId: string): void {
    for (const [released, until] of this.#sentOn) {
      if (until > this.#now()) break;
      this.#sentOn.delete(released);
    }
    this.#sentOn.delete(deviceId);
    this.#sentOn.set(deviceId, this.#now() + sentOnMs);
  }

  /** Whether the device was let go a moment ago. Only once: where the edge knows no other gateway, it must not stay outside. */
  sendsOn(deviceId: string): boolean {
    const until = this.#sentOn.get(deviceId);
    this.#sentOn.delete(deviceId);
    return until !== undefined && until > this.#now();
  }
}
