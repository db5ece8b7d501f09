/**
 * At most once; what matters is in the database before it is published.
 *
 * What instances say to each other: commands to the one instance that owns a device's socket, frames to all instances
 * that hold a socket of a user, control to everybody. This room carries text and knows no frame, no task and no socket.
 * Every method rejects with a `BackplaneError`: CLOSED after `close()`, UNAVAILABLE when the other instances cannot be
 * reached. A body that is not a string is our own mistake and rejects with a `TypeError`.
 */

/** Who owns a device. `fence` only ever rises for a device: whoever holds the higher one is newer. */
export interface Lease {
  readonly device: string;
  readonly connection: string;
  readonly fence: number;
  readonly instance: string;
}

/** A command as its owner hears it: deliver it only to a socket with exactly this fence. */
export interface Command {
  readonly device: string;
  readonly fence: number;
  readonly body: string;
  /** Present, together with `replyTo`, when somebody waits for an answer: hand both to `reply`. */
  readonly correlation?: string;
  readonly replyTo?: string;
}

/**
 * - `sent`: the owner has said ACK, the bytes are with the socket
 * - `offline`: nobody owns the device; nothing was sent
 * - `owner_gone`: somebody owns it and does not listen any more; nothing was sent
 * - `expired`: the deadline passed before the command left; nothing was sent
 * - `refused`: the owner said NACK, twice; nothing reached the socket
 * - `unknown`: it left and nobody confirmed it in time: it may have arrived, or may still arrive
 */
export type RouteOutcome = 'sent' | 'offline' | 'owner_gone' | 'expired' | 'refused' | 'unknown';

/** A frame for a user's apps. The same object may be given to several listeners. */
export interface UserFrame {
  /** The text exactly as it was appended or published. */
  readonly body: string;
  /** Offset of this entry; of a hot frame that of the newest entry before it, '' when there is none. */
  readonly offset: string;
  /** Offset of the predecessor, '' for the first entry of a chain. Only history entries have it. */
  readonly previous?: string;
  /** Hot frames are never in the history: who is not listening does not get them. */
  readonly hot: boolean;
}

export interface HistoryItem {
  readonly offset: string;
  readonly body: string;
}

export interface HistoryPage {
  /** Offset of the newest entry, '' when there is none. */
  readonly top: string;
  /** False: the history does not reach back to `since`, and `items` is empty. */
  readonly recovered: boolean;
  /** Everything after `since`, oldest first. */
  readonly items: readonly HistoryItem[];
}

export interface Counted {
  readonly count: number;
  readonly leftMs: number;
  readonly endsAt: number;
}

/** One state of something that changes; of two the one with the higher version is newer. */
export interface VersionedState {
  readonly key: string;
  /** A whole number that a double can hold. */
  readonly version: number;
  /** For how long an older state is refused. */
  readonly ttlMs: number;
}

export interface Backplane {
  /** `${name}-${random}`: one incarnation of a process; a restarted one has another. */
  readonly instance: string;

  /**
   * Takes a device; the newest claim wins, atomically. The fence is `max(previous fence + 1, now in ms)` and keeps rising
   * after a release and after an expiry. A live previous owner, this instance included, hears it through `onEvict`.
   */
  claim(device: string, connection: string): Promise<{ fence: number; previous?: Lease }>;

  /**
   * Prolongs leases of this instance by the lease TTL. One that went missing, or that an older owner took back after the
   * store lost data, is restored under its old fence; one that was released stays released.
   * Returns the devices that somebody newer has claimed, whether or not the newer lease is still live.
   */
  refresh(leases: readonly Pick<Lease, 'device' | 'connection' | 'fence'>[]): Promise<string[]>;

  /** Gives a device back. True when it was still held under this fence; otherwise nothing changes. */
  release(device: string, fence: number): Promise<boolean>;

  /** The live leases among these devices; a device that nobody owns is not in the map. */
  owners(devices: readonly string[]): Promise<Map<string, Lease>>;

  /**
   * Brings a command to the owner's `onCommand`. Commands from one instance to one device arrive in the order of the calls
   * as long as the first attempt succeeds. Nobody listens at the owner's: waits 250 ms and tries once more. NACK: tries
   * once more. `deadlineMs` (default 2000) covers all of it; no ACK by then is `unknown`, and so is closing meanwhile.
   * @throws BackplaneError OVERLOADED when too many calls wait for their ACK
   */
  route(device: string, body: string, deadlineMs?: number): Promise<RouteOutcome>;

  /**
   * Routes a command and waits for its one reply, at most `timeoutMs` in all.
   * @throws BackplaneError OFFLINE (no owner took it), TIMEOUT, CLOSED (this instance closed, or the one that owed the reply),
   *   OVERLOADED (too many requests wait)
   */
  request(device: string, body: string, timeoutMs: number): Promise<string>;

  /**
   * Takes the commands of the devices this instance owns. True is ACK: the bytes are with the socket. False and a throw
   * are NACK. Called in the order of arrival, without waiting for the answer to the command before. One listener only;
   * without one every command is a NACK.
   */
  onCommand(listener: (command: Command) => boolean | Promise<boolean>): void;

  /** Hears every lease of this instance that a newer claim took, with the fence it had. */
  onEvict(listener: (lease: Lease) => void): void;

  /** Answers a request. Late and unknown ones are dropped without a word. */
  reply(to: string, correlation: string, body: string): Promise<void>;

  /**
   * Adds to the user's history and tells everybody who subscribed, in one step: all hear entries in the order of the chain.
   * `receivers` counts instances; 0 is certain, more is not a delivery.
   * The history keeps the newest entries that fit into `historyBytes`, for `historyTtlMs` after the last one; an entry that is longer
   * by itself is heard and not kept. Its top is remembered for 24 hours.
   */
  append(user: string, body: string): Promise<{ offset: string; receivers: number }>;

  /**
   * `once(user, keys, ttlMs)` and, when that is true, `append`, in one step. True when it was appended. When it rejects, it may be
   * remembered as said and yet be missing: who listens is told so.
   */
  appendOnce(user: string, body: string, keys: readonly string[], ttlMs: number): Promise<boolean>;

  /**
   * `append`, unless a higher version of `state.key` was appended or published for this user by `appendNewest` or `publishNewest` within
   * its `ttlMs`; in one step. False: nothing was said.
   */
  appendNewest(user: string, body: string, state: VersionedState): Promise<boolean>;

  /** `publish` under the condition of `appendNewest`. */
  publishNewest(user: string, body: string, state: VersionedState): Promise<boolean>;

  /** Tells everybody who subscribed and keeps nothing. Returns `receivers` as above. */
  publish(user: string, body: string): Promise<number>;

  /**
   * What came after `since`. Nothing since (undefined, '') is an empty, recovered page that names the top. An offset that is
   * unknown, too old, of another chain or garbage is not recovered: entries may be missing, the reader must start afresh.
   */
  read(user: string, since?: string): Promise<HistoryPage>;

  /**
   * Forgets the entries of the user's history at once; the chain goes on from its top. Who listens misses nothing; who comes back
   * with an offset older than the top is not recovered.
   */
  forget(user: string): Promise<void>;

  /**
   * Resolves when the subscription is live: everything appended or published from then on is heard. Entries from just
   * before may be heard too; `previous` tells. Several listeners per user are independent. After the returned function has
   * been called the listener hears nothing more.
   * `onInterrupted` is called when frames may have been missed: the way to this instance was cut and is whole again, or a frame
   * was lost on the way to the history. It comes before any frame that follows the loss; the history tells what was missed,
   * unless it says that it cannot.
   */
  subscribe(
    user: string,
    listener: (frame: UserFrame) => void,
    onInterrupted?: () => void,
  ): Promise<() => Promise<void>>;

  /** How many instances hold a subscription of this user. */
  audience(user: string): Promise<number>;

  /**
   * Says one thing once. True when none of the keys was remembered; either way all are remembered afterwards, new ones for
   * `ttlMs`, those already known for the time they had left. Atomic: of two callers with a common key one gets true.
   */
  once(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean>;

  /** Remembers keys as said without asking: `once` knows all of them for `ttlMs` from now on, those already known too. */
  mark(scope: string, keys: readonly string[], ttlMs: number): Promise<void>;

  /** Get and delete, atomically: a value is handed out once. Undefined when there is none or its time is over. */
  take(key: string): Promise<string | undefined>;

  /** Keeps a value for one `take` within `ttlMs`. A second put replaces the first. */
  put(key: string, value: string, ttlMs: number): Promise<void>;

  /**
   * Counts within a fixed window that begins with the first count and lasts `windowMs`; `by` may be negative, to take back.
   * Atomic among all instances. Returns the count so far, how long the window still lasts, and when it ends: ms since 1970 by the
   * clock of the store, the same for every count of a window. All 0 when there is none.
   */
  count(key: string, by: number, windowMs: number): Promise<Counted>;

  /** Everybody hears it through `onControl`, the sender too. */
  publishControl(body: string): Promise<void>;
  onControl(listener: (body: string) => void): void;

  /**
   * Hears that this instance was cut off from the others, or they from it, and is not any more. Commands, evictions and
   * control may have been missed and leases may have ended: refresh them, look for work, and read what was revoked.
   */
  onRestored(listener: () => void): void;

  /** Whether this instance hears what is sent to it, and how long that took. Never rejects. */
  health(): Promise<{ ok: boolean; probeMs: number }>;

  /**
   * Releases the leases of this instance, tells those who wait for its replies, rejects its own requests with CLOSED and
   * ends its subscriptions. Closing twice is closing once.
   */
  close(): Promise<void>;
}

/** The cost of a history entry besides its body, in bytes: offsets, the name of the user, its place in a list. */
export const historyEntryBytes = 128;

/** What every implementation lets a deployment, or a test, choose. */
export interface BackplaneOptions {
  /** How long a lease lives without a refresh. */
  leaseTtlMs: number;
  /** The most that the entries of one user may take together: their bodies in UTF-8, and `historyEntryBytes` for each. */
  historyBytes: number;
  historyTtlMs: number;
  topTtlMs: number;
  /** How long `route` waits before it tries an owner that does not listen once more. */
  ownerGoneRetryMs: number;
  /** How many requests, and how many routes, of one instance may wait at a time. */
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
