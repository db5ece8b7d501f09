/** The connection and the instance that own a device. Sends nothing: the caller notifies the owner that was evicted. */
import type { Lease } from '../leases.ts';

interface Holding {
  fence: number;
  connection: string;
  instance: string;
  /** When the lease expires; in the past for a released lease. */
  until: number;
  /** A released fence is spent: a refresh that was under way must not restore it. */
  released: boolean;
}

/** How long a fence is remembered after its lease expires, so that it rises even if the clock steps back. */
const fenceMemoryMs = 24 * 60 * 60_000;

/** Bound: the devices that were owned within the last 24 hours, one small record each. */
export class LeaseTable {
  readonly #holdings = new Map<string, Holding>();
  readonly #now: () => number;
  readonly #ttlMs: number;
  #sweepAt: number;

  constructor(now: () => number, ttlMs: number) {
    this.#now = now;
    this.#ttlMs = ttlMs;
    this.#sweepAt = now() + ttlMs;
  }

  /** The number of devices, expired ones included until they are swept. */
  get size(): number {
    return this.#holdings.size;
  }

  claim(device: string, connection: string, instance: string): { fence: number; previous?: Lease } {
    this.#sweep();
    const previous = this.get(device);
    const fence = Math.max((this.#holdings.get(device)?.fence ?? 0) + 1, this.#now());
    this.#hold(device, connection, fence, instance);
    return previous ? { fence, previous } : { fence };
  }

  /** False when a newer claim owns the device. */
  refresh(device: string, connection: string, fence: number, instance: string): boolean {
    const holding = this.#holdings.get(device);
    if (holding && holding.fence > fence) return false;
    if (holding?.fence === fence && holding.released) return true;
    this.#hold(device, connection, fence, instance);
    return true;
  }

  release(device: string, fence: number): boolean {
    const holding = this.#holdings.get(device);
    if (holding?.fence !== fence || !this.#live(holding)) return false;
    holding.released = true;
    holding.until = this.#now();
    return true;
  }

  releaseAll(instance: string): void {
    for (const [device, holding] of this.#holdings) {
      if (holding.instance === instance) this.release(device, holding.fence);
    }
  }

  get(device: string): Lease | undefined {
    const holding = this.#holdings.get(device);
    if (!holding || !this.#live(holding)) return undefined;
    const { connection, fence, instance } = holding;
    return { device, connection, fence, instance };
  }

  #hold(device: string, connection: string, fence: number, instance: string): void {
    this.#holdings.set(device, { fence, connection, instance, until: this.#now() + this.#ttlMs, released: false });
  }

  #live(holding: Holding): boolean {
    return !holding.released && this.#now() < holding.until;
  }

  #sweep(): void {
    if (this.#now() < this.#sweepAt) return;
    this.#sweepAt = this.#now() + this.#ttlMs;
    for (const [device, holding] of this.#holdings) {
      if (holding.until + fenceMemoryMs <= this.#now()) this.#holdings.delete(device);
    }
  }
}
