/**
 * A user's frames as one app reads them: what it missed, then live, without gap or duplicate, or told that there is a gap. What this
 * instance heard is delivered behind a gap too: some readers cannot be told, and have nothing else.
 * Works on any backplane: it only subscribes and reads, and believes the chain of offsets instead of the order of arrival.
 */
import type { Backplane, UserFrame } from './backplane.ts';

/** Called one at a time, in order. They must not throw. */
export interface FollowHandlers {
  onFrame(frame: UserFrame): void;
  /** Entries may be missing before the next frame: the reader must load its state afresh. */
  onGap(): void;
}

export interface Following {
  /**
   * Delivers every entry after `since`, then what is live; resolves when the reader has caught up. Called once.
   * Without `since` (undefined, '') delivery begins with what was heard since `follow` resolved.
   * Never rejects: a history that cannot be read is a gap.
   */
  resume(since?: string): Promise<void>;
  /** Nothing is delivered from the moment of the call. */
  stop(): Promise<void>;
}

/** Frames that may wait while the history is read; past it they are dropped, and the history is read again. */
const maxWaiting = 256;

/** Resolves when the subscription is live. Nothing is delivered before `resume`. */
export async function follow(
  backplane: Pick<Backplane, 'subscribe' | 'read'>,
  user: string,
  handlers: FollowHandlers,
): Promise<Following> {
  let state: 'waiting' | 'reading' | 'live' | 'stopped' = 'waiting';
  let waiting: UserFrame[] = [];
  let overflowed = false;
  /** Offset the reader is at; undefined until a reader who begins afresh has heard its first frame. */
  let last: string | undefined;
  /** What the last read of the history delivered: it may be heard yet. */
  let delivered = new Set<string>();

  const isStopped = () => state === 'stopped';

  /**
   * False: the frame does not follow the last entry, so it is an old one heard late, or something was lost in between. A hot
   * frame counts too: a reader goes on from the offset it carries.
   */
  const deliver = (frame: UserFrame): boolean => {
    const before = frame.hot ? frame.offset : frame.previous;
    if (last !== undefined && before !== last) return false;
    // A hot frame of an empty history says nothing about where a reader is who begins afresh.
    if (frame.offset !== '') last = frame.offset;
    handlers.onFrame(frame);
    return true;
  };

  /** Behind a gap nothing follows anything: all that was heard counts, in the order in which it was heard. */
  const deliverHeard = (frames: readonly UserFrame[]): void => {
    for (const frame of frames) {
      if (isStopped()) return;
      if (!frame.hot && delivered.has(frame.offset)) continue;
      if (frame.offset !== '') last = frame.offset;
      handlers.onFrame(frame);
    }
  };

  const takeWaiting = (): boolean => {
    const frames = waiting;
    waiting = [];
    let followed = !overflowed;
    overflowed = false;
    for (const frame of frames) if (!isStopped()) followed = deliver(frame) && followed;
    return followed;
  };

  const readOn = async (): Promise<void> => {
    // An entry is in the history before it is heard, so a whole page covers every entry that waits already. Hot frames among
    // them are older than what the page ends with.
    const heard = waiting;
    waiting = [];
    overflowed = false;
    const page = await backplane.read(user, last).catch(() => undefined);
    if (isStopped()) return;
    // Without an offset there is nothing to go on from: what was lost cannot be named.
    if (!page?.recovered || !last) {
      last = page?.top;
      handlers.onGap();
      deliverHeard([...heard, ...waiting.splice(0)]);
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

  /** Reads until what was heard during the last read follows it. Ends: only frames heard during a read lead to another. */
  const catchUp = async (): Promise<void> => {
    state = 'reading';
    do {
      await readOn();
    } while (!isStopped() && !takeWaiting());
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

  /** Frames may have been lost without a trace: the history knows, from where the reader is. */
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
      if (overflowed || !takeWaiting()) await catchUp();
    },
    async stop() {
      state = 'stopped';
      waiting = [];
      await unsubscribe();
    },
  };
}
