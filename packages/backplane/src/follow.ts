/**
 * A user's frames as one app reads them: the missed ones, then live, without gap or duplicate, or with a notice that there is a gap.
 * Frames that this instance received are delivered after a gap too: some readers cannot resync, and have nothing else.
 * Works on any backplane: it only subscribes and reads, and trusts the chain of offsets instead of the order of arrival.
 */
import type { UserFrame, UserFrames } from './user-frames.ts';

/** Called one at a time, in order. They must not throw. */
interface FollowHandlers {
  onFrame(frame: UserFrame): void;
  /** Entries might be missing before the next frame: the reader must resync. */
  onGap(): void;
}

export interface Following {
  /**
   * Delivers every entry after `since`, then live frames; resolves when the reader has caught up. Called once.
   * If `since` is undefined or '', delivery begins with the first frame after `follow` resolved.
   * Never rejects: an unreadable history counts as a gap.
   */
  resume(since?: string): Promise<void>;
  /** Nothing is delivered from the moment of the call. */
  stop(): Promise<void>;
}

/**
 * Frames that can wait during a read of the history. Beyond this limit they are discarded, and the history is read
 * again.
 */
const maxWaiting = 256;

/** Resolves when the subscription is live. Nothing is delivered before `resume`. */
export async function follow(
  backplane: Pick<UserFrames, 'subscribe' | 'read'>,
  user: string,
  handlers: FollowHandlers,
): Promise<Following> {
  let state: 'waiting' | 'reading' | 'live' | 'stopped' = 'waiting';
  let waiting: UserFrame[] = [];
  let overflowed = false;
  /** Offset the reader is at; undefined until a reader without `since` has its first frame. */
  let last: string | undefined;
  /** The read of the history failed: the reader's position is unknown, and the next frame can follow a gap. */
  let isLost = false;
  /** Offsets that the last read of the history delivered: the same frames can still arrive live. */
  let delivered = new Set<string>();

  const isStopped = () => state === 'stopped';

  /**
   * Returns false if the frame does not follow the last entry: it is a late duplicate, or frames before it were lost. A
   * hot frame counts too: a reader continues from the offset it carries.
   */
  const deliver = (frame: UserFrame): boolean => {
    const before = frame.hot ? frame.offset : frame.previous;
    if (last === undefined ? isLost : before !== last) return false;
    // A hot frame on an empty history gives a reader without `since` no position.
    if (frame.offset !== '') last = frame.offset;
    handlers.onFrame(frame);
    return true;
  };

  /** After a gap no frame follows another: all that arrived count, in the order of arrival. */
  const deliverAll = (frames: readonly UserFrame[]): void => {
    for (const frame of frames) {
      if (isStopped()) return;
      if (!frame.hot && delivered.has(frame.offset)) continue;
      if (frame.offset !== '') last = frame.offset;
      handlers.onFrame(frame);
    }
  };

  const deliverWaiting = (): boolean => {
    const frames = waiting;
    waiting = [];
    let followed = !overflowed;
    overflowed = false;
    for (const frame of frames) if (!isStopped()) followed = deliver(frame) && followed;
    return followed;
  };

  const readHistory = async (): Promise<void> => {
    // An entry enters the history before it arrives, so a recovered page covers all waiting entries. Waiting hot frames
    // are older than the last entry of the page.
    const arrived = waiting;
    waiting = [];
    overflowed = false;
    const page = await backplane.read(user, last).catch(() => undefined);
    isLost = page === undefined;
    if (isStopped()) return;
    // There is no offset to continue from, so the missing frames are unknown.
    if (!page?.recovered || !last) {
      last = page?.top;
      handlers.onGap();
      deliverAll([...arrived, ...waiting.splice(0)]);
      return;
    }
    delivered = new Set(page.items.map(({ offset }) => offset));
    let previous = last;
    for (const { offset, body } of page.items) {
      if (isStopped()) return;
      last = offset;
      handlers.onFrame({ body, offset, previous, hot: false });
      previous = offset;
    }
  };

  /**
   * Repeats the read until the frames that arrived during it follow it. Terminates: only such frames cause another
   * read.
   */
  const catchUp = async (): Promise<void> => {
    state = 'reading';
    do {
      await readHistory();
    } while (!isStopped() && !deliverWaiting());
    if (!isStopped()) state = 'live';
  };

  const onFrame = (frame: UserFrame): void => {
    if (state === 'stopped') return;
    if (state === 'live') {
      if (deliver(frame)) return;
      waiting.push(frame);
      void catchUp();
      return;
    }
    if (waiting.length < maxWaiting) {
      waiting.push(frame);
      return;
    }
    overflowed = true;
    waiting = [];
  };

  /** Frames might have been lost silently: read the history from the reader's offset. */
  const onInterrupted = (): void => {
    if (state === 'live') void catchUp();
    else overflowed = true;
  };

  const unsubscribe = await backplane.subscribe(user, onFrame, onInterrupted);
  return {
    async resume(since = '') {
      if (since !== '') {
        last = since;
        return catchUp();
      }
      state = 'live';
      if (overflowed || !deliverWaiting()) await catchUp();
    },
    async stop() {
      state = 'stopped';
      waiting = [];
      await unsubscribe();
    },
  };
}
