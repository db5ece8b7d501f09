/**
 * A long frame takes many times its length of heap while it is handled. The long frames of all sockets of a server share a
 * budget, so that a few peers cannot fill the heap together; a later one waits, and its socket is not read meanwhile.
 */
import { getHeapStatistics } from 'node:v8';

/** Shorter ones are not counted. */
export const longBytes = 2 ** 16;

/** Of what the heap may hold: decoded, checked and stored again, a frame takes about five times its length. */
const shareOfHeap = 1 / 8;

export class LongFrames {
  readonly #bytes: number;
  #inWork = 0;
  readonly #waiting: { bytes: number; begin: () => void }[] = [];

  constructor(bytes = getHeapStatistics().heap_size_limit * shareOfHeap) {
    this.#bytes = bytes;
  }

  /** Resolves when it is this frame's turn, in the order of asking. One that is longer than the budget is in work alone. */
  begin(bytes: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#inWork += bytes;
      return Promise.resolve();
    }
    return new Promise((begin) => this.#waiting.push({ bytes, begin }));
  }

  end(bytes: number): void {
    this.#inWork -= bytes;
    for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#inWork += next.bytes;
      next.begin();
    }
  }

  #fits(bytes: number): boolean {
    return this.#inWork === 0 || this.#inWork + bytes <= this.#bytes;
  }
}
