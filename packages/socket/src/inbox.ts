/**
 * Incoming frames: handled one at a time, in order of arrival. Frames that can overtake a slow frame stay ordered among
 * themselves. Above its bounds it asks the socket to pause.
 */

export type InboxEntry =
  | { readonly kind: 'text'; readonly text: string }
  /** As it came: off the heap until its turn. */
  | { readonly kind: 'long'; readonly bytes: Buffer }
  | { readonly kind: 'binary' }
  | { readonly kind: 'ping'; readonly payload: Buffer };

interface InboxOwner {
  /**
   * Never throws and never rejects. The next frame waits for the returned promise; undefined means that the frame is
   * done.
   */
  dispatch(frame: InboxEntry): Promise<void> | undefined;
  /** Whether `frame` is handled while `current`, which came before it, still takes its time. */
  mayPass(frame: InboxEntry, current: InboxEntry): boolean;
  /** Pauses reading; frames that were read already can still arrive. */
  full(): void;
  room(): void;
}

interface Bounds {
  maxQueuedFrames: number;
  maxQueuedBytes: number;
}

export class Inbox {
  readonly #owner: InboxOwner;
  readonly #bounds: Bounds;
  /** Made when something waits: most frames are handled as they come, and most sockets are silent. */
  #queue: { frame: InboxEntry; bytes: number }[] | undefined;
  #bytes = 0;
  #full = false;
  /** 'held' until `open`: the server must hold the socket before the first frame is handled. */
  #state: 'held' | 'idle' | 'busy' = 'held';
  #onEnd: (() => void) | undefined;
  /** The slow frame. */
  #current: InboxEntry | undefined;
  /** Pending while a frame that overtakes it is handled. */
  #passing: Promise<void> | undefined;

  constructor(owner: InboxOwner, bounds: Bounds) {
    this.#owner = owner;
    this.#bounds = bounds;
  }

  open(): void {
    if (this.#state !== 'held') return;
    this.#state = 'idle';
    this.#run();
  }

  push(frame: InboxEntry, bytes: number): void {
    if (this.#state === 'idle') {
      this.#state = 'busy';
      if (this.#isDone(frame)) this.#goOn();
      return;
    }
    (this.#queue ??= []).push({ frame, bytes });
    this.#bytes += bytes;
    if (this.#current && !this.#passing) this.#letPass(this.#current);
    if (!this.#full && !this.#within(1)) {
      this.#full = true;
      this.#owner.full();
    }
  }

  /** Drops waiting frames. Does not touch the frame in progress. */
  clear(): void {
    this.#queue = undefined;
    this.#bytes = 0;
    this.#full = false;
  }

  /** Calls back once, after the waiting frames and the frame in progress. The caller must not push afterwards. */
  end(onEnd: () => void): void {
    this.#onEnd = onEnd;
    this.#run();
  }

  #run(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'busy';
    this.#goOn();
  }

  /** Handles waiting frames until a slow one, then continues after it. */
  #goOn(): void {
    for (let next = this.#queue?.shift(); next; next = this.#queue?.shift()) {
      this.#taken(next.bytes);
      if (!this.#isDone(next.frame)) return;
    }
    this.#queue = undefined;
    this.#state = 'idle';
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.();
  }

  /** False: it goes on by itself when the frame has been handled. */
  #isDone(frame: InboxEntry): boolean {
    const busy = this.#owner.dispatch(frame);
    if (!busy) return true;
    this.#current = frame;
    void busy.then(() => {
      this.#current = undefined;
      if (this.#passing) void this.#passing.then(() => this.#goOn());
      else this.#goOn();
    });
    this.#letPass(frame);
    return false;
  }

  /**
   * Handles the frames that can overtake `current`, in their order. Pings keep their place: their pong confirms all
   * frames before them.
   */
  #letPass(current: InboxEntry): void {
    for (;;) {
      const at = this.#queue?.findIndex(({ frame }) => frame.kind !== 'ping') ?? -1;
      const next = this.#queue?.[at];
      if (!next || !this.#owner.mayPass(next.frame, current)) return;
      this.#queue?.splice(at, 1);
      this.#taken(next.bytes);
      const busy = this.#owner.dispatch(next.frame);
      if (!busy) continue;
      this.#passing = busy.then(() => {
        this.#passing = undefined;
        if (this.#current) this.#letPass(this.#current);
      });
      return;
    }
  }

  #taken(bytes: number): void {
    this.#bytes -= bytes;
    if (!this.#full || !this.#within(0.5)) return;
    this.#full = false;
    this.#owner.room();
  }

  #within(share: number): boolean {
    const { maxQueuedFrames, maxQueuedBytes } = this.#bounds;
    return (this.#queue?.length ?? 0) <= maxQueuedFrames * share && this.#bytes <= maxQueuedBytes * share;
  }
}
