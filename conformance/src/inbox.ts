/**
 * The frames that one socket received, in order. Nothing is removed: a check keeps its starting position (`mark`) and asks for
 * the frames since, so nothing is missed and nothing has to be waited for twice.
 */
import { Unmet, show } from './expect.ts';

interface Typed {
  readonly type: string;
}
type Of<F extends Typed, K extends F['type']> = Extract<F, { type: K }>;

interface Waiter<F> {
  match: (frame: F) => boolean;
  resolve: (frame: F) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

const patienceMs = 10_000;

export class Inbox<F extends Typed> {
  readonly #frames: F[] = [];
  readonly #name: string;
  #waiters: Waiter<F>[] = [];
  #ended: string | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  push(frame: F): void {
    this.#frames.push(frame);
    const done = this.#waiters.filter((waiter) => waiter.match(frame));
    this.#waiters = this.#waiters.filter((waiter) => !done.includes(waiter));
    for (const { timer, resolve } of done) {
      clearTimeout(timer);
      resolve(frame);
    }
  }

  /** The position of the next frame. */
  mark(): number {
    return this.#frames.length;
  }

  since(from: number): readonly F[] {
    return this.#frames.slice(from);
  }

  /** The frames of this type that came since `from`. */
  all<K extends F['type']>(type: K, match: (frame: Of<F, K>) => boolean = () => true, from = 0): Of<F, K>[] {
    return this.#frames.slice(from).filter((frame): frame is Of<F, K> => isOf(frame, type) && match(frame));
  }

  /**
   * The first matching frame of this type, from `from` on; waits for it.
   * @throws Unmet after 10 s (or `withinMs`), or when the connection closes, with the frames that came instead
   */
  until<K extends F['type']>(
    type: K,
    match: (frame: Of<F, K>) => boolean = () => true,
    options: { from?: number; withinMs?: number; what?: string } = {},
  ): Promise<Of<F, K>> {
    const { from = 0, withinMs = patienceMs, what = '' } = options;
    const matching = (frame: F): boolean => isOf(frame, type) && match(frame);
    const known = this.#frames.slice(from).find(matching);
    if (known) return Promise.resolve(known as Of<F, K>);
    return new Promise((resolve, reject) => {
      const fail = (why: string) =>
        reject(new Unmet(`${this.#name}: expected ${type}${what && ` (${what})`}, ${why}; came ${this.#told(from)}`));
      if (this.#ended !== undefined) {
        fail(this.#ended);
        return;
      }
      const waiter: Waiter<F> = {
        match: matching,
        resolve: (frame) => resolve(frame as Of<F, K>),
        reject: (error) => fail(error.message),
        timer: setTimeout(() => {
          this.#waiters = this.#waiters.filter((other) => other !== waiter);
          fail(`waited ${withinMs} ms`);
        }, withinMs),
      };
      this.#waiters.push(waiter);
    });
  }

  /** The connection closed: rejects all waiters. */
  end(why: string): void {
    this.#ended = why;
    for (const { timer, reject } of this.#waiters.splice(0)) {
      clearTimeout(timer);
      reject(new Error(why));
    }
  }

  #told(from: number): string {
    const since = this.#frames.slice(from).slice(-6);
    return since.length === 0 ? 'nothing' : since.map((frame) => show(frame)).join(' then ');
  }
}

function isOf<F extends Typed, K extends F['type']>(frame: F, type: K): frame is Of<F, K> {
  return frame.type === type;
}
