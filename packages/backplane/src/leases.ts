/** The owner of a device: the instance that has the newest connection of its daemon. */

/** The ownership of a device. `fence` only ever rises for a device: of two leases the one with the higher fence is newer. */
export interface Lease {
  readonly device: string;
  readonly connection: string;
  readonly fence: number;
  readonly instance: string;
}

export interface Leases {
  /**
   * Claims a device; the newest claim wins, atomically. The fence is `max(previous fence + 1, now in ms)` and keeps rising
   * after a release and after an expiry. A live previous owner, this instance included, is notified through `onEvict`.
   */
  claim(device: string, connection: string): Promise<{ fence: number; previous?: Lease }>;

  /**
   * Extends leases of this instance by the lease TTL. Restores a lease under its old fence if it is missing, or if an
   * older owner claimed it back after the store lost data. A released lease stays released.
   * Returns the devices with a newer claim, even if that lease has expired.
   */
  refresh(leases: readonly Pick<Lease, 'device' | 'connection' | 'fence'>[]): Promise<string[]>;

  /** Releases a lease. True if it was still held under this fence; otherwise nothing changes. */
  release(device: string, fence: number): Promise<boolean>;

  /** The live leases among these devices; a device without an owner is not in the map. */
  owners(devices: readonly string[]): Promise<Map<string, Lease>>;

  /** Called with every lease of this instance that a newer claim replaced, with the fence it had. */
  onEvict(listener: (lease: Lease) => void): void;
}
