/** The leases of one instance on Redis, and lookups of other instances' leases. */
import type { Lease, Leases } from '../leases.ts';
import type { Listeners } from '../listeners.ts';
import { idOf } from './keys.ts';
import type { Run } from './operations.ts';
import { decodeFields, encodeFields } from './wire.ts';

export class RedisLeases implements Leases {
  readonly #instance: string;
  readonly #run: Run;
  readonly #evictions: Listeners<Lease>;
  /** Fences of the devices this instance has claimed, to release them. Bound: its connections. */
  readonly #held = new Map<string, number>();

  constructor(instance: string, run: Run, evictions: Listeners<Lease>) {
    this.#instance = instance;
    this.#run = run;
    this.#evictions = evictions;
  }

  async claim(device: string, connection: string): Promise<{ fence: number; previous?: Lease }> {
    const rest = encodeRest(device, connection);
    const claimed = await this.#run('claim', { id: idOf(device), instance: this.#instance, rest });
    const space = claimed.indexOf(' ');
    const fence = Number(space === -1 ? claimed : claimed.slice(0, space));
    this.#held.set(device, Math.max(fence, this.#held.get(device) ?? 0));
    return space === -1 ? { fence } : { fence, previous: decodeLease(claimed.slice(space + 1)) };
  }

  async refresh(leases: readonly Pick<Lease, 'device' | 'connection' | 'fence'>[]): Promise<string[]> {
    const instance = this.#instance;
    const kept = await Promise.all(
      leases.map(({ device, connection, fence }) =>
        this.#run('refresh', { id: idOf(device), fence, instance, rest: encodeRest(device, connection) }),
      ),
    );
    const lost = leases.filter((_, n) => !kept[n]);
    for (const { device, fence } of lost) this.#letGo(device, fence);
    return lost.map(({ device }) => device);
  }

  async release(device: string, fence: number): Promise<boolean> {
    const released = await this.#run('release', { id: idOf(device), fence });
    this.#letGo(device, fence);
    return released;
  }

  /** Releases all of them within this tick; never rejects. */
  async releaseAll(): Promise<void> {
    const held = [...this.#held];
    this.#held.clear();
    await Promise.allSettled(held.map(([device, fence]) => this.#run('release', { id: idOf(device), fence })));
  }

  async owners(devices: readonly string[]): Promise<Map<string, Lease>> {
    const values = await Promise.all(devices.map((device) => this.#run('owner', { id: idOf(device) })));
    const leases = values.filter((value) => value !== '').map((value) => decodeLease(value));
    return new Map(leases.map((lease) => [lease.device, lease]));
  }

  onEvict(listener: (lease: Lease) => void): void {
    this.#evictions.add(listener);
  }

  /** A newer claim owns the device. */
  evicted(lease: Lease): void {
    this.#letGo(lease.device, lease.fence);
    this.#evictions.emit(lease);
  }

  #letGo(device: string, fence: number): void {
    if (this.#held.get(device) === fence) this.#held.delete(device);
  }
}

/** The part of a lease that scripts keep as it came. */
function encodeRest(device: string, connection: string): string {
  const { lengths, fields } = encodeFields([device, connection]);
  return `${lengths}:${fields}`;
}

/** `fence until instance rest`. */
function decodeLease(value: string): Lease {
  const [fence = '', until = '', instance = ''] = value.split(' ', 3);
  const [device = '', connection = ''] = decodeFields(value.slice(fence.length + until.length + instance.length + 3));
  return { device, connection, fence: Number(fence), instance };
}
