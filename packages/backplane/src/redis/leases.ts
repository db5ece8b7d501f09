/** The leases of one instance: what it claimed, and what it asks about those of others. Knows nothing of mail. */
import type { Lease } from '../backplane.ts';
import { leaseRest, readLease } from './lease.ts';

/** One operation on what belongs to a device. */
type Run = (device: string, letter: string, ...args: string[]) => Promise<unknown>;

export class Leases {
  readonly #instance: string;
  readonly #run: Run;
  /** Fences of the devices this instance has claimed, to give them back. Bound: its connections. */
  readonly #held = new Map<string, number>();

  constructor(instance: string, run: Run) {
    this.#instance = instance;
    this.#run = run;
  }

  async claim(device: string, connection: string): Promise<{ fence: number; previous?: Lease }> {
    const claimed = (await this.#run(device, 'c', this.#instance, leaseRest(device, connection))) as string;
    const space = claimed.indexOf(' ');
    const fence = Number(space === -1 ? claimed : claimed.slice(0, space));
    this.#held.set(device, Math.max(fence, this.#held.get(device) ?? 0));
    return space === -1 ? { fence } : { fence, previous: readLease(claimed.slice(space + 1)) };
  }

  async refresh(leases: readonly Pick<Lease, 'device' | 'connection' | 'fence'>[]): Promise<string[]> {
    const kept = await Promise.all(
      leases.map(({ device, connection, fence }) =>
        this.#run(device, 'r', String(fence), this.#instance, leaseRest(device, connection)),
      ),
    );
    const lost = leases.filter((_, n) => kept[n] !== 1);
    for (const { device, fence } of lost) this.letGo(device, fence);
    return lost.map(({ device }) => device);
  }

  async release(device: string, fence: number): Promise<boolean> {
    const released = await this.#run(device, 'x', String(fence));
    this.letGo(device, fence);
    return released === 1;
  }

  /** Asks for all of it in this turn; rejects with none. */
  async releaseAll(): Promise<void> {
    const held = [...this.#held];
    this.#held.clear();
    await Promise.allSettled(held.map(([device, fence]) => this.#run(device, 'x', String(fence))));
  }

  async owners(devices: readonly string[]): Promise<Map<string, Lease>> {
    const values = (await Promise.all(devices.map((device) => this.#run(device, 'o')))) as string[];
    const leases = values.filter((value) => value !== '').map((value) => readLease(value));
    return new Map(leases.map((lease) => [lease.device, lease]));
  }

  /** Somebody newer has it. */
  letGo(device: string, fence: number): void {
    if (this.#held.get(device) === fence) this.#held.delete(device);
  }
}
