/**
 * A long frame takes many times its length of heap while it is handled. The long frames of all sockets of a server share a
 * budget, so that a few peers cannot fill the heap together; a later one waits, and its socket is not read meanwhile.
 *
 * Frames are counted by payer, the person on whose account a socket is. While a payer has frames in work, its further ones leave a
 * quarter of the budget to payers that have none, and are passed by theirs: a payer waits behind its own frames alone.
 */
import { getHeapStatistics } from 'node:v8';

/** Shorter ones are not counted. */
export const longBytes = 2 ** 16;

/** Of what the heap may hold: decoded, checked and stored again, a frame takes about five times its length. */
const shareOfHeap = 1 / 8;

/** Of the budget, for the further frames of payers who have one in work. */
const shareOfFurther = 3 / 4;

interface Waiting {
  payer: unknown;
  bytes: number;
  begin: () => void;
}

export class LongFrames {
  readonly #bytes: number;
  #inWork = 0;
  /** By payer, how many are in work. */
  readonly #counts = new Map<unknown, number>();
  readonly #waiting: Waiting[] = [];

  constructor(bytes = getHeapStatistics().heap_size_limit * shareOfHeap) {
    this.#bytes = bytes;
  }

  /**
   * Resolves when it is this frame's turn: in the order of asking among those of one payer, and among payers that have none in work. One
   * that is longer than the budget is in work alone. Each call is followed by one of `end` with the same arguments.
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
    /** Payers of whom an earlier frame waits. */
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
      // The room that is free is for this one, however short those behind it are.
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
