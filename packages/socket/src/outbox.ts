/**
 * Outgoing frames. Most leave immediately; frames that the peer does not read wait here. A peer is too slow only if it
 * had time to read: a burst within one turn is not evidence against its reader.
 */
import type { SocketLimits } from './limits.ts';

/** Where frames go: `taken` is called when the operating system has taken all of the frame. */
interface Line {
  write(text: string, taken: () => void): void;
  /** Bytes that were written and not read yet. */
  readonly bufferedBytes: number;
  /** The reader is too slow: to be closed. */
  overdue(): void;
}

type Limits = Pick<
  SocketLimits,
  'droppableUnsentBytes' | 'maxUnsentBytes' | 'unsentGraceMs' | 'maxBurstBytes' | 'stallMs'
>;

/** Bytes written ahead of the peer. Small, so that progress is seen frame by frame and not in bursts. */
const windowBytes = 2 ** 16;
/**
 * A frame longer than the window shows progress only once it is completely taken: it gets the time that this rate
 * needs.
 */
const longFrameBytesPerSecond = 2 ** 18;
/** `drained` means below this. */
const lowWaterBytes = 2 ** 14;

export class Outbox {
  readonly #line: Line;
  readonly #limits: Limits;
  /** Made when something waits: most readers take everything at once. */
  #queue: { text: string; bytes: number }[] | undefined;
  #queuedBytes = 0;
  #acceptedBytes = 0;
  #takenBytes = 0;
  #progressAt = 0;
  /** Size of the long frame in the line; 0 if absent. */
  #longBytes = 0;
  #check: NodeJS.Timeout | undefined;
  #open = true;
  #drained: Promise<void> | undefined;
  #onDrained: (() => void) | undefined;

  constructor(line: Line, limits: Limits) {
    this.#line = line;
    this.#limits = limits;
  }

  get unsentBytes(): number {
    return this.#open ? this.#queuedBytes + this.#line.bufferedBytes : 0;
  }

  /** False: not written and never will be. */
  send(text: string, droppable: boolean): boolean {
    if (!this.#open) return false;
    const buffered = this.#line.bufferedBytes;
    const unsent = this.#queuedBytes + buffered;
    if (droppable && unsent > this.#limits.droppableUnsentBytes) return false;
    const bytes = Buffer.byteLength(text);
    // Always accept one frame, however long; limits apply to the frames that queue after it.
    if (unsent > 0 && unsent + bytes > this.#limits.maxBurstBytes) {
      this.#line.overdue();
      return false;
    }
    if (this.#takenBytes === this.#acceptedBytes) this.#progressAt = performance.now();
    this.#acceptedBytes += bytes;
    if (this.#queue === undefined && buffered < windowBytes) this.#write(text, bytes);
    else {
      this.#queuedBytes += bytes;
      (this.#queue ??= []).push({ text, bytes });
      this.#pump();
    }
    this.look();
    return true;
  }

  /** Watches the bytes that the line has not taken yet. Call it also after the line forwarded its batch. */
  look(): void {
    if (this.unsentBytes > 0) this.#watch();
  }

  /** Resolves when little waits, or when nothing more will be written. */
  async drained(): Promise<void> {
    if (this.unsentBytes <= lowWaterBytes) return;
    this.#drained ??= new Promise((resolve) => (this.#onDrained = resolve));
    await this.#drained;
  }

  /** Accepts no more frames. Waiting ones are written, so that a close frame comes last, or dropped. */
  close(rest: 'write' | 'drop'): void {
    if (!this.#open) return;
    if (rest === 'write') for (const { text } of this.#queue ?? []) this.#line.write(text, () => undefined);
    this.#open = false;
    this.#queue = undefined;
    this.#queuedBytes = 0;
    clearTimeout(this.#check);
    this.#release();
  }

  #write(text: string, bytes: number): void {
    if (bytes > windowBytes) this.#longBytes = bytes;
    this.#line.write(text, () => this.#onTaken(bytes));
  }

  #pump(): void {
    if (!this.#queue) return;
    let written = 0;
    for (const { text, bytes } of this.#queue) {
      if (this.#line.bufferedBytes >= windowBytes) break;
      written += 1;
      this.#queuedBytes -= bytes;
      this.#write(text, bytes);
    }
    if (written === this.#queue.length) this.#queue = undefined;
    else if (written > 0) this.#queue.splice(0, written);
  }

  #onTaken(bytes: number): void {
    if (!this.#open) return;
    this.#takenBytes += bytes;
    if (bytes === this.#longBytes) this.#longBytes = 0;
    this.#progressAt = performance.now();
    this.#pump();
    if (this.#drained && this.unsentBytes <= lowWaterBytes) this.#release();
  }

  #release(): void {
    this.#onDrained?.();
    this.#drained = undefined;
    this.#onDrained = undefined;
  }

  /** While frames wait: looks again after the grace, and compares the backlog of both times. */
  #watch(): void {
    if (this.#check) return;
    const graceMs = Math.min(this.#limits.unsentGraceMs, this.#limits.stallMs);
    const dueAt = performance.now() + graceMs;
    const acceptedBytes = this.#acceptedBytes;
    this.#check = setTimeout(() => {
      // Timers come before reading and writing in a turn. An event loop that was stuck has given the reader no time:
      // then it gets another grace.
      const wasStuck = performance.now() - dueAt > graceMs / 2;
      setImmediate(() => this.#judge(acceptedBytes, wasStuck));
    }, graceMs);
  }

  #judge(acceptedBefore: number, wasStuck: boolean): void {
    this.#check = undefined;
    if (!this.#open || this.#takenBytes === this.#acceptedBytes) return;
    const waitedAllTheTime = acceptedBefore - this.#takenBytes;
    const patienceMs = this.#limits.stallMs + (this.#longBytes / longFrameBytesPerSecond) * 1000;
    const isStalled = performance.now() - this.#progressAt >= patienceMs;
    if (!wasStuck && (waitedAllTheTime > this.#limits.maxUnsentBytes || isStalled)) return this.#line.overdue();
    this.#watch();
  }
}
