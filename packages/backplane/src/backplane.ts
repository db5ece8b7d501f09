/**
 * At most once; what matters is in the database before it is published.
 *
 * The channel between instances, in four parts: leases on devices, commands to the owner of a device, frames to the apps of a user,
 * and small shared state. A function that needs one part takes only that part. This package carries text and knows no frame, no
 * task and no socket. Every method rejects with a `BackplaneError`: CLOSED after `close()`, UNAVAILABLE when the other instances
 * cannot be reached. A body that is not a string is a programming error and rejects with a `TypeError`.
 */
import type { Commands } from './commands.ts';
import type { Leases } from './leases.ts';
import type { Shared } from './shared.ts';
import type { UserFrames } from './user-frames.ts';

/** The instance itself: its name, its connection to the others, its end. */
export interface BackplaneInstance {
  /** `${name}-${random}`: one incarnation of a process; a restarted one has another. */
  readonly instance: string;

  /**
   * Called when this instance was cut off from the others, or they from it, and is connected again. Commands, evictions and
   * control messages may have been missed and leases may have ended: refresh them, look for work, and read what was revoked.
   */
  onRestored(listener: () => void): void;

  /** Whether this instance receives what is sent to it, and how long that took. Never rejects. */
  health(): Promise<{ ok: boolean; probeMs: number }>;

  /**
   * Releases the leases of this instance, notifies those that wait for its replies, rejects its own requests with CLOSED and
   * ends its subscriptions. Closing twice is closing once.
   */
  close(): Promise<void>;
}

export interface Backplane extends BackplaneInstance, Leases, Commands, UserFrames, Shared {}

/** The choices that every implementation leaves to a deployment, or a test. */
export interface BackplaneOptions {
  /** How long a lease lives without a refresh. */
  leaseTtlMs: number;
  /** The most that the entries of one user may take together: their bodies in UTF-8, and `historyEntryBytes` for each. */
  historyBytes: number;
  historyTtlMs: number;
  topTtlMs: number;
  /** How long `route` waits before it retries an owner that does not listen. */
  ownerGoneRetryMs: number;
  /** The most requests, and the most routes, of one instance that wait at a time. */
  maxPending: number;
}

export function withDefaults(options: Partial<BackplaneOptions> = {}): BackplaneOptions {
  return {
    leaseTtlMs: options.leaseTtlMs ?? 60_000,
    historyBytes: options.historyBytes ?? 2 ** 20,
    historyTtlMs: options.historyTtlMs ?? 5 * 60_000,
    topTtlMs: options.topTtlMs ?? 24 * 60 * 60_000,
    ownerGoneRetryMs: options.ownerGoneRetryMs ?? 250,
    maxPending: options.maxPending ?? 10_000,
  };
}
