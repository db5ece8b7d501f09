/** The frames that a test peer received, in order, with waits that never sleep: earlier frames are found as well as later ones. */

export type Frame = Record<string, unknown> & { type: string };

interface Waiter {
  match(frame: Frame): boolean;
  resolve: (frame: Frame) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

const patienceMs = 30_000;

export class Inbox {
  /** Everything ever received, in order. */
  readonly all: Frame[] = [];
  #unread: Frame[] = [];
  #waiters: Waiter[] = [];
  /** How the connection closed. */
  #ended: string | undefined;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  push(frame: Frame): void {
    this.all.push(frame);
    const index = this.#waiters.findIndex((waiter) => waiter.match(frame));
    if (index < 0) {
      this.#unread.push(frame);
      return;
    }
    const [waiter] = this.#waiters.splice(index, 1);
    clearTimeout(waiter!.timer);
    waiter!.resolve(frame);
  }

  /** The first frame of this type (and match) that was not taken yet; waits for it. Rejects after 30 s, with the frames that came instead. */
  readonly next = (
    type: string,
    match: (frame: Frame) => boolean = () => true,
    timeoutMs = patienceMs,
  ): Promise<Frame> => {
    const matches = (frame: Frame) => frame.type === type && match(frame);
    const index = this.#unread.findIndex(matches);
    if (index >= 0) return Promise.resolve(this.#unread.splice(index, 1)[0]!);
    if (this.#ended !== undefined)
      return Promise.reject(new Error(`${this.#name}: ${this.#ended}, and then a test waited for "${type}"`));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((waiter) => waiter.timer !== timer);
        const seen = this.#unread.map((frame) => JSON.stringify(frame).slice(0, 200)).join('\n  ');
        reject(
          new Error(
            `${this.#name} waited ${timeoutMs} ms for "${type}". Not taken by any wait:\n  ${seen || 'nothing'}`,
          ),
        );
      }, timeoutMs);
      this.#waiters.push({ match: matches, resolve, reject, timer });
    });
  };

  /** The number of frames of this type so far, taken or not. */
  count(type: string, match: (frame: Frame) => boolean = () => true): number {
    return this.all.filter((frame) => frame.type === type && match(frame)).length;
  }

  /** The connection closed: rejects pending and later waits. */
  end(why: string): void {
    this.#ended = why;
    for (const { reject, timer } of this.#waiters.splice(0)) {
      clearTimeout(timer);
      reject(new Error(`${this.#name}: ${why} while a test waited for a frame`));
    }
  }
}
