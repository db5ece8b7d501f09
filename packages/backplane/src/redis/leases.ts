/** The leases of one instance on Redis, and lookups of other instances' leases. */
import type { Lease, Leases } from '../leases.ts';
import type { Listeners } from '../listeners.ts';
import { idOf } from './keys.ts';
import type { Run } from './operations.ts';
import { encodeKeys } from './shared.ts';
import { decodeFields, encodeFields } from './wire.ts';

type Renewed = Pick<Lease, 'device' | 'connection' | 'fence'>;

/** Leases in one operation: Redis serves no other client while it works on them. */
const maxTogether = 256;

export class RedisLeases implements Leases {
  readonly #instance: string;
  readonly #run: Run;
  readonly #laneOf: (id: string) => number;
  readonly #evictions: Listeners<Lease>;
  /** Fences of the devices this instance has claimed, to release them. Bound: its connections. */
  readonly #held = new Map<string, number>();

  constructor(instance: string, run: Run, laneOf: (id: string) => number, evictions: Listeners<Lease>) {
    this.#instance = instance;
    this.#run = run;
    this.#laneOf = laneOf;
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

  async refresh(leases: readonly Renewed[]): Promise<string[]> {
    const lost: string[] = [];
    await this.#together(leases, async (some, id) => {
      let text = '';
      for (const { device, connection, fence } of some) {
        const [id, rest] = [idOf(device), encodeRest(device, connection)];
        text += `${Buffer.byteLength(id)},${Buffer.byteLength(rest)},${fence}:${id}${rest}`;
      }
      for (const place of await this.#run('refresh', { id, instance: this.#instance, leases: text })) {
        const { device, fence } = some[place]!;
        this.#letGo(device, fence);
        lost.push(device);
      }
    });
    return lost;
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
    const found = new Map<string, Lease>();
    const wanted = devices.map((device) => ({ device }));
    await this.#together(wanted, async (some, id) => {
      const ids = encodeKeys(some.map(({ device }) => idOf(device)));
      for (const value of await this.#run('owners', { id, ids })) {
        const lease = decodeLease(value);
        found.set(lease.device, lease);
      }
    });
    return found;
  }

  /** Calls `work` with parts of the list that one operation can take, and the id of each operation; one after another, so that no burst leaves. */
  async #together<T extends { readonly device: string }>(
    all: readonly T[],
    work: (some: readonly T[], id: string) => Promise<void>,
  ): Promise<void> {
    const lanes = new Map<number, T[]>();
    for (const one of all) {
      const lane = this.#laneOf(idOf(one.device));
      const others = lanes.get(lane);
      if (others) others.push(one);
      else lanes.set(lane, [one]);
    }
    const errors: unknown[] = [];
    const inParts = async (lane: readonly T[]) => {
      for (let from = 0; from < lane.length; from += maxTogether) {
        const some = lane.slice(from, from + maxTogether);
        // A part that fails does not take the renewal of the others.
        await work(some, idOf(some[0]!.device)).catch((error: unknown) => errors.push(error));
      }
    };
    await Promise.all([...lanes.values()].map(inParts));
    if (errors.length > 0) throw errors[0];
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
