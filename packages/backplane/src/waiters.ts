/** One bounded table of calls that wait for an answer. Each has a timeout, and closing settles all of them. */
import { BackplaneError } from './errors.ts';

interface Waiter<T> {
  resolve(value: T): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** The longest delay a Node timer takes; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export class Waiters<T> {
  readonly #waiting = new Map<string, Waiter<T>>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Waits for `settle` or `fail` under this id. After `timeoutMs` it settles with the result of `late`: an error
   * rejects.
   * @throws BackplaneError OVERLOADED, immediately, when the table is full
   */
  wait(id: string, timeoutMs: number, late: () => T | BackplaneError): Promise<T> {
    if (this.#waiting.size >= this.#limit) {
      throw new BackplaneError('OVERLOADED', `${this.#limit} calls are waiting already`);
    }
    return new Promise<T>((resolve, reject) => {
      const onLate = () => {
        this.#waiting.delete(id);
        const end = late();
        if (end instanceof BackplaneError) reject(end);
        else resolve(end);
      };
      const timer = setTimeout(onLate, Math.min(timeoutMs, longestTimerMs));
      this.#waiting.set(id, { resolve, reject, timer });
    });
  }

  /** Late and unknown ids are ignored. */
  settle(id: string, value: T): void {
    this.#remove(id)?.resolve(value);
  }

  fail(id: string, error: Error): void {
    this.#remove(id)?.reject(error);
  }

  settleAll(value: T): void {
    for (const id of [...this.#waiting.keys()]) this.settle(id, value);
  }

  failAll(error: Error): void {
    for (const id of [...this.#waiting.keys()]) this.fail(id, error);
  }

  #remove(id: string): Waiter<T> | undefined {
    const waiter = this.#waiting.get(id);
    if (!waiter) return undefined;
    clearTimeout(waiter.timer);
    this.#waiting.delete(id);
    return waiter;
  }
}
