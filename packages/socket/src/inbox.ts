/**
 * Incoming frames: handled one at a time, in the order of arrival; those that may pass do not wait for a frame that takes its time, but for
 * each other. Above its bounds it asks not to be filled.
 */

export type Inbound =
  | { readonly kind: 'text'; readonly text: string }
  /** As it came: off the heap until its turn. */
  | { readonly kind: 'long'; readonly bytes: Buffer }
  | { readonly kind: 'binary' }
  | { readonly kind: 'ping'; readonly payload: Buffer };

interface InboxOwner {
  /** Never throws and never rejects. The next frame waits for what it returns; nothing is a frame that has been handled. */
  handle(frame: Inbound): Promise<void> | undefined;
  /** Whether `frame` is handled while `current`, which came before it, still takes its time. */
  mayPass(frame: Inbound, current: Inbound): boolean;
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
  /** The one that takes its time. */
  #current: Inbound | undefined;
  /** Until the one that passes it is handled. */
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

  push(frame: Inbound, bytes: number): void {
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
  #isDone(frame: Inbound): boolean {
    const busy = this.#owner.handle(frame);
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

  /** Handles what may pass `current`, in its order. Pings keep their place: their answer says that all before them was handled. */
  #letPass(current: Inbound): void {
    for (;;) {
      const at = this.#queue?.findIndex(({ frame }) => frame.kind !== 'ping') ?? -1;
      const next = this.#queue?.[at];
      if (!next || !this.#owner.mayPass(next.frame, current)) return;
      this.#queue?.splice(at, 1);
      this.#taken(next.bytes);
      const busy = this.#owner.handle(next.frame);
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
