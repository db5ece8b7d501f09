/** Frames for the apps of a user: published to every instance that subscribes, and kept in a short history. */

/** A frame for a user's apps. Several listeners can receive the same object. */
export interface UserFrame {
  /** The text exactly as it was appended or published. */
  readonly body: string;
  /** Offset of this entry; for a hot frame the offset of the newest entry before it, '' if the history is empty. */
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
  /** Offset of the newest entry, '' if the history is empty. */
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
  /** How long older states are refused. */
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
   * `once(user, keys, ttlMs)` and, if that is true, `append`, in one step. True if it appended the frame. After a
   * rejection the keys can be known although the frame is missing; subscribers are then notified of the gap.
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
   * Returns the entries after `since`. If `since` is undefined or '', returns an empty, recovered page that names the
   * top. An offset that is unknown, too old, of another chain or garbage is not recovered: entries might be missing,
   * the reader must resync.
   */
  read(user: string, since?: string): Promise<HistoryPage>;

  /**
   * Discards the entries of the user's history at once; the chain continues from its top. Subscribers miss nothing; an app that
   * returns with an offset older than the top is not recovered.
   */
  forget(user: string): Promise<void>;

  /**
   * Resolves when the subscription is live: the listener receives every frame appended or published from then on. It
   * can also receive frames from just before; compare `previous`. Several listeners per user are independent. The
   * returned function stops the listener.
   * `onInterrupted` runs when frames might have been lost: this instance lost its connection and restored it, or a
   * frame failed on the way to the history. It comes before any frame that follows the loss. The history holds the lost
   * frames, unless it reports that it cannot recover them.
   */
  subscribe(
    user: string,
    listener: (frame: UserFrame) => void,
    onInterrupted?: () => void,
  ): Promise<() => Promise<void>>;

  /** The number of instances that hold a subscription of this user. */
  audience(user: string): Promise<number>;
}
