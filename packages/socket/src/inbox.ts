/** Incoming frames: handled one at a time, in the order of arrival. Above its bounds it asks not to be filled. */

export type Inbound =
  | { readonly kind: 'text'; readonly text: string }
  /** As it came: off the heap until its turn. */
  | { readonly kind: 'long'; readonly bytes: Buffer }
  | { readonly kind: 'binary' }
  | { readonly kind: 'ping'; readonly payload: Buffer };

export interface InboxOwner {
  /** Never throws and never rejects. The next frame waits for what it returns; nothing is a frame that has been handled. */
  handle(frame: Inbound): Promise<void> | undefined;
  /** Asks for no more frames; those that were read already may still come. */
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
  #queue: { frame: Inbound; bytes: number }[] | undefined;
  #bytes = 0;
  #full = false;
  /** 'held' until `open`: the server must hold the socket before the first frame is handled. */
  #state: 'held' | 'idle' | 'busy' = 'held';
  #onEnd: (() => void) | undefined;

  constructor(owner: InboxOwner, bounds: Bounds) {
    this.#owner = owner;
    this.#bounds = bounds;
  }

  open(): void {
    if (this.#state !== 'held') return;
    this.#state = 'idle';
    this.#run();
  }

  push(frame: Inbound, bytes: number): void {
    if (this.#state === 'idle') {
      this.#state = 'busy';
      if (this.#isDone(frame)) this.#goOn();
      return;
    }
    (this.#queue ??= []).push({ frame, bytes });
    this.#bytes += bytes;
    if (!this.#full && !this.#within(1)) {
      this.#full = true;
      this.#owner.full();
    }
  }

  /** Drops what waits. The frame in progress is not touched. */
  clear(): void {
    this.#queue = undefined;
    this.#bytes = 0;
    this.#full = false;
  }

  /** Calls back once, when what waits and what is in progress has been handled. Nothing may be pushed after it. */
  end(onEnd: () => void): void {
    this.#onEnd = onEnd;
    this.#run();
  }

  #run(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'busy';
    this.#goOn();
  }

  /** Handles what waits, until one takes its time; then it goes on after that one. */
  #goOn(): void {
    for (let next = this.#queue?.shift(); next; next = this.#queue?.shift()) {
      this.#bytes -= next.bytes;
      if (this.#full && this.#within(0.5)) {
        this.#full = false;
        this.#owner.room();
      }
      if (!this.#isDone(next.frame)) return;
    }
    this.#queue = undefined;
    this.#state = 'idle';
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.();
  }

  /** False: it goes on by itself when the frame has been handled. */
  #isDone(frame: Inbound): boolean {
    const busy = this.#owner.handle(frame);
    if (!busy) return true;
    void busy.then(() => this.#goOn());
    return false;
  }

  #within(share: number): boolean {
    const { maxQueuedFrames, maxQueuedBytes } = this.#bounds;
    return (this.#queue?.length ?? 0) <= maxQueuedFrames * share && this.#bytes <= maxQueuedBytes * share;
  }
}
