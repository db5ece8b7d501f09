/**
 * Handling a long frame takes many times its length of heap. The long frames of all sockets of a server share a budget,
 * so that a few peers cannot fill the heap together; a later frame waits, and its socket is not read during the wait.
 *
 * Frames count per payer, the person who owns the socket. While a payer has frames in work, its further frames leave a
 * quarter of the budget to payers without one, whose frames overtake them: a payer waits only for its own frames.
 */
import { getHeapStatistics } from 'node:v8';

/** Shorter ones are not counted. */
export const longBytes = 2 ** 16;

/** Share of the maximum heap: decoded, checked and stored again, a frame takes about five times its length. */
const shareOfHeap = 1 / 8;

/** Share of the budget for further frames of payers with a frame in work. */
const shareOfFurther = 3 / 4;

interface Waiting {
  payer: unknown;
  bytes: number;
  begin: () => void;
}

export class LongFrames {
  readonly #bytes: number;
  #inWork = 0;
  /** Number of frames in work, by payer. */
  readonly #counts = new Map<unknown, number>();
  readonly #waiting: Waiting[] = [];

  constructor(bytes = getHeapStatistics().heap_size_limit * shareOfHeap) {
    this.#bytes = bytes;
  }

  /**
   * Resolves when it is this frame's turn: in call order among frames of one payer, and among payers without a frame in
   * work. A frame longer than the budget runs alone. Pair each call with a call of `end` with the same arguments.
   */
  begin(bytes: number, payer: unknown): Promise<void> {
    return new Promise((begin) => {
      this.#waiting.push({ payer, bytes, begin });
      this.#next();
    });
  }

  end(bytes: number, payer: unknown): void {
    this.#inWork -= bytes;
    const count = (this.#counts.get(payer) ?? 0) - 1;
    if (count > 0) this.#counts.set(payer, count);
    else this.#counts.delete(payer);
    this.#next();
  }

  #next(): void {
    /** Payers with an earlier waiting frame. */
    const blocked = new Set<unknown>();
    for (let at = 0; at < this.#waiting.length;) {
      const { payer, bytes, begin } = this.#waiting[at]!;
      const count = this.#counts.get(payer) ?? 0;
      if (!blocked.has(payer) && this.#fits(bytes, count > 0)) {
        this.#waiting.splice(at, 1);
        this.#inWork += bytes;
        this.#counts.set(payer, count + 1);
        begin();
        continue;
      }
      // The free room belongs to this frame, however short later frames are.
      if (count === 0) return;
      blocked.add(payer);
      at += 1;
    }
  }

  #fits(bytes: number, isFurther: boolean): boolean {
    const bound = isFurther ? this.#bytes * shareOfFurther : this.#bytes;
    return this.#inWork === 0 || this.#inWork + bytes <= bound;
  }
}
