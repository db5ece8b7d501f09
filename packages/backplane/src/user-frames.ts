/** Frames for the apps of a user: published to every instance that subscribes, and kept in a short history. */

/** A frame for a user's apps. The same object may be given to several listeners. */
export interface UserFrame {
  /** The text exactly as it was appended or published. */
  readonly body: string;
  /** Offset of this entry; of a hot frame that of the newest entry before it, '' when there is none. */
  readonly offset: string;
  /** Offset of the predecessor, '' for the first entry of a chain. Only history entries have it. */
  readonly previous?: string;
  /** Hot frames are never in the history: an app that is not subscribed does not get them. */
  readonly hot: boolean;
  /** When this entry was appended, by the clock of the instance that did (ms since 1970). Absent: hot, read from the history, or not known. */
  readonly appendedAtMs?: number | undefined;
}

interface HistoryItem {
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

/** One state of a subject that changes; of two the one with the higher version is newer. */
export interface VersionedState {
  readonly key: string;
  /** A whole number that a double can hold. */
  readonly version: number;
  /** For how long an older state is refused. */
  readonly ttlMs: number;
}

/** The cost of a history entry in addition to its body, in bytes: offsets, the name of the user, its place in a list. */
export const historyEntryBytes = 128;

export interface UserFrames {
  /**
   * Adds to the user's history and publishes to all subscribers, in one step: all receive entries in the order of the chain.
   * `receivers` counts instances; 0 is certain, more is not a delivery.
   * The history keeps the newest entries that fit into `historyBytes`, for `historyTtlMs` after the last one; an entry that is longer
   * by itself is published and not kept. Its top is remembered for 24 hours.
   */
  append(user: string, body: string): Promise<{ offset: string; receivers: number }>;

  /**
   * `once(user, keys, ttlMs)` and, when that is true, `append`, in one step. True when it was appended. When it rejects, the keys
   * may be remembered although the frame is missing: subscribers are notified of the gap.
   */
  appendOnce(user: string, body: string, keys: readonly string[], ttlMs: number): Promise<boolean>;

  /**
   * `append`, unless a higher version of `state.key` was appended or published for this user by `appendNewest` or `publishNewest` within
   * its `ttlMs`; in one step. False: nothing was published.
   */
  appendNewest(user: string, body: string, state: VersionedState): Promise<boolean>;

  /** `publish` under the condition of `appendNewest`. */
  publishNewest(user: string, body: string, state: VersionedState): Promise<boolean>;

  /** Publishes a hot frame to all subscribers and keeps nothing. Returns `receivers` as above. */
  publish(user: string, body: string): Promise<number>;

  /**
   * The entries after `since`. Without `since` (undefined, '') it is an empty, recovered page that names the top. An offset that is
   * unknown, too old, of another chain or garbage is not recovered: entries may be missing, the reader must resync.
   */
  read(user: string, since?: string): Promise<HistoryPage>;

  /**
   * Discards the entries of the user's history at once; the chain continues from its top. Subscribers miss nothing; an app that
   * returns with an offset older than the top is not recovered.
   */
  forget(user: string): Promise<void>;

  /**
   * Resolves when the subscription is live: everything appended or published from then on is received. Entries from just
   * before may be received too; `previous` tells. Several listeners per user are independent. After the returned function has
   * been called the listener is not called again.
   * `onInterrupted` is called when frames may have been missed: the connection to this instance was lost and is restored, or a
   * frame was lost on the way to the history. It comes before any frame that follows the loss; the history holds what was missed,
   * unless it answers that it cannot.
   */
  subscribe(
    user: string,
    listener: (frame: UserFrame) => void,
    onInterrupted?: () => void,
  ): Promise<() => Promise<void>>;

  /** The number of instances that hold a subscription of this user. */
  audience(user: string): Promise<number>;
}
