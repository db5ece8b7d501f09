/**
 * One life of the embedded engine, seen from the main thread: it starts, answers requests in order, and stops, on
 * purpose or not. This class terminates an engine that panicked, hung or answered nonsense; embedded.ts decides whether
 * to start another.
 */
import { Worker } from 'node:worker_threads';
import type { PGliteStart } from './embedded-pglite.ts';
import { builtFile } from './embedded-places.ts';
import type { WorkerReply, WorkerRequest } from './embedded-worker.ts';

const closeTimeoutMs = 5_000;
const startTimeoutMs = 120_000;
const youngGenerationMb = 4;

/** The connection to the engine is gone. Looks like a dropped socket, because callers must treat it as one. */
export class EngineGone extends Error {
  override readonly name = 'EngineGone';
  readonly code = 'ECONNRESET';
  readonly syscall = 'read';
  readonly errno = -104;
}

interface Waiter {
  resolve(data: Uint8Array): void;
  reject(error: Error): void;
  clock: NodeJS.Timeout;
}

export class EmbeddedThread {
  readonly #worker: Worker;
  readonly #waiters = new Map<number, Waiter>();
  readonly #requestTimeoutMs: () => number;
  #lastId = 0;
  #gone: EngineGone | undefined;
  /** Resolves when the thread has really stopped: only then can another engine open the same files. */
  readonly exited: Promise<void>;
  readonly #endListeners = new Set<(reason: EngineGone) => void>();

  private constructor(worker: Worker, requestTimeoutMs: () => number) {
    this.#worker = worker;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.exited = new Promise((resolve) => worker.once('exit', () => resolve()));
  }

  /**
   * Resolves when the database answers. `requestTimeoutMs` is called for every request and returns its time limit. Rejects with an
   * Error that holds PostgreSQL's message when the files cannot be opened.
   */
  static async start(start: PGliteStart, requestTimeoutMs: () => number): Promise<EmbeddedThread> {
    const worker = new Worker(builtFile('embedded-worker'), {
      workerData: start,
      name: 'embedded-database',
      // Rows are held by the engine, not by JavaScript: the default lets short-lived garbage take 30 MB more.
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
    });
    const thread = new EmbeddedThread(worker, requestTimeoutMs);
    try {
      await thread.#ready();
    } catch (error) {
      await thread.exited;
      throw error;
    }
    return thread;
  }

  #ready(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const clock = setTimeout(() => this.#end(`it did not start within ${startTimeoutMs} ms`), startTimeoutMs);
      const failed = (error: Error) => {
        clearTimeout(clock);
        reject(error);
      };
      this.onEnd(failed);
      this.#worker.on('error', (error: Error) => this.#end(error.message));
      this.#worker.on('exit', (code) => this.#end(`its thread ended with code ${code}`));
      this.#worker.on('message', (reply: WorkerReply) => {
        if ('unusable' in reply) {
          failed(new Error(reply.unusable));
          this.#end(reply.unusable);
        } else if ('panic' in reply) {
          this.#end(reply.panic);
        } else if ('ready' in reply) {
          clearTimeout(clock);
          resolve();
        } else {
          this.#settle(reply);
        }
      });
    });
  }

  /** Sends protocol messages and resolves with the answer. Rejects with EngineGone; then it is unknown whether a commit happened. */
  async request(wire: Uint8Array): Promise<Uint8Array> {
    // The memory moves to the other thread, so this array must own it.
    const own = new Uint8Array(wire);
    const answer = await this.#send((id) => ({ id, wire: own }), this.#requestTimeoutMs(), [own.buffer]);
    if (!isComplete(wire, answer)) {
      this.#end('it gave an incomplete answer');
      throw this.#gone!;
    }
    return answer;
  }

  /** Calls `listener` once when the engine is gone, at once if it is. Returns a function that removes the listener. */
  onEnd(listener: (reason: EngineGone) => void): () => void {
    if (this.#gone) listener(this.#gone);
    else this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  /** The files of the database as a gzipped tar. */
  dump(): Promise<Uint8Array> {
    return this.#send((id) => ({ id, ask: 'dump' }), startTimeoutMs);
  }

  /** Stops the engine: orderly, at most 5 s later, or immediately. Resolves when it has stopped, never rejects. */
  async close(inOrder: boolean): Promise<void> {
    if (inOrder && this.#gone === undefined) {
      await this.#send((id) => ({ id, ask: 'close' }), closeTimeoutMs).catch(() => {});
    }
    this.#end('it was closed');
    await this.exited;
  }

  #send(build: (id: number) => WorkerRequest, timeoutMs: number, transfer: ArrayBuffer[] = []): Promise<Uint8Array> {
    if (this.#gone) return Promise.reject(this.#gone);
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      const clock = setTimeout(() => this.#end(`it did not answer within ${timeoutMs} ms`), timeoutMs);
      this.#waiters.set(id, { resolve, reject, clock });
      this.#worker.postMessage(build(id), transfer);
    });
  }

  #settle(reply: { id: number; data: Uint8Array } | { id: number; failed: string }): void {
    const waiter = this.#waiters.get(reply.id);
    if (!waiter) return;
    if ('failed' in reply) return this.#end(reply.failed); // SQL errors are answers: this is the engine itself
    this.#waiters.delete(reply.id);
    clearTimeout(waiter.clock);
    waiter.resolve(reply.data);
  }

  #end(reason: string): void {
    if (this.#gone) return;
    this.#gone = new EngineGone(`The embedded database stopped: ${reason}`);
    for (const waiter of this.#waiters.values()) {
      clearTimeout(waiter.clock);
      waiter.reject(this.#gone);
    }
    this.#waiters.clear();
    for (const listener of this.#endListeners) listener(this.#gone);
    this.#endListeners.clear();
    void this.#worker.terminate();
  }
}

/**
 * The engine answers a simple query, or messages up to Sync, until ReadyForQuery, unless the server asks for COPY data.
 */
function isComplete(wire: Uint8Array, answer: Uint8Array): boolean {
  const [query, sync, ready, copyIn] = [0x51, 0x53, 0x5a, 0x47];
  if (wire[0] !== query && wire.at(-5) !== sync) return true;
  return answer.at(-6) === ready || answer[0] === copyIn;
}
