/**
 * The channel between instances, in four parts: leases on devices, commands to the owner of a device, frames to the
 * apps of a user, and small shared state. A function that needs one part takes only that part. Delivery is at most
 * once: callers write important data to the database before they publish it. This package carries text and does not
 * know frames, tasks or sockets. Every method rejects with a `BackplaneError`: CLOSED after `close()`, UNAVAILABLE when
 * this instance cannot reach the others. A body that is not a string is a programming error and rejects with a
 * `TypeError`.
 */
import type { Commands } from './commands.ts';
import type { Leases } from './leases.ts';
import type { Shared } from './shared.ts';
import type { UserFrames } from './user-frames.ts';

/** The instance itself: its name, its connection to the other instances, and how to close it. */
export interface BackplaneInstance {
  /** `${name}-${random}`: one incarnation of a process; a restarted one has another. */
  readonly instance: string;

  /**
   * Called when this instance reconnects after a loss of contact with the other instances. It might have missed
   * commands, evictions and control messages, and its leases might have expired: refresh leases, look for work, and
   * read revocations again.
   */
  onRestored(listener: () => void): void;

  /** Whether this instance receives its own probe, and the probe's round-trip time. Never rejects. */
  health(): Promise<{ ok: boolean; probeMs: number }>;

  /**
   * Releases the leases of this instance, notifies the instances that wait for its replies, rejects its own requests
   * with CLOSED and stops its subscriptions. A second call has no effect.
   */
  close(): Promise<void>;
}

export interface Backplane extends BackplaneInstance, Leases, Commands, UserFrames, Shared {}

/** The choices that every implementation leaves to a deployment, or a test. */
export interface BackplaneOptions {
  /** How long a lease lives without a refresh. */
  leaseTtlMs: number;
  /** Memory limit for the entries of one user: their bodies in UTF-8, plus `historyEntryBytes` for each. */
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
