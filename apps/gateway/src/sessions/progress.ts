/**
 * PROGRESS is hot: it changes the view of apps, at most twice a second per session. Now and then one statement saves
 * all sessions, so that lists can show it too (rules, 4.10).
 */
import { type Database, type NewestProgress, saveProgress } from '@relay/database';
import type { Logger } from '@relay/telemetry';

interface Slot {
  timer: NodeJS.Timeout;
  publish: (() => void) | undefined;
}

export class ProgressBoard {
  readonly #slots = new Map<string, Slot>();
  readonly #unsaved = new Map<string, NewestProgress>();
  readonly #flushTimer: NodeJS.Timeout;
  readonly #intervalMs: number;
  readonly #database: Database;
  readonly #logger: Logger;
  #flushing = false;

  constructor(database: Database, logger: Logger, options: { intervalMs: number; flushMs: number }) {
    this.#database = database;
    this.#logger = logger;
    this.#intervalMs = options.intervalMs;
    this.#flushTimer = setInterval(() => void this.flush(), options.flushMs);
    this.#flushTimer.unref();
  }

  /** Sessions with progress within the interval; silent sessions, and those of disconnected daemons, are dropped. */
  get size(): number {
    return this.#slots.size;
  }

  /** Publishes at once, or when the interval has passed; the latest wins. */
  offer(newest: NewestProgress, publish: () => void): void {
    const { key } = newest;
    this.#unsaved.set(key, newest);
    const slot = this.#slots.get(key);
    if (slot) {
      slot.publish = publish;
      return;
    }
    this.#rest(key);
    publish();
  }

  /** Progress was shown: the next waits for the interval. If none arrives, frees the slot and its closures. */
  #rest(sessionKey: string): void {
    const timer = setTimeout(() => {
      const publish = this.#slots.get(sessionKey)?.publish;
      this.#slots.delete(sessionKey);
      if (!publish) return;
      this.#rest(sessionKey);
      publish();
    }, this.#intervalMs);
    timer.unref();
    this.#slots.set(sessionKey, { timer, publish: undefined });
  }

  /** The task is over: discards pending progress. */
  drop(sessionKey: string): void {
    clearTimeout(this.#slots.get(sessionKey)?.timer);
    this.#slots.delete(sessionKey);
    this.#unsaved.delete(sessionKey);
  }

  async flush(): Promise<void> {
    if (this.#flushing || this.#unsaved.size === 0) return;
    this.#flushing = true;
    const entries = [...this.#unsaved.values()];
    this.#unsaved.clear();
    try {
      await saveProgress(this.#database, entries);
    } catch (error) {
      this.#logger.warn({ err: error }, 'progress could not be saved');
    } finally {
      this.#flushing = false;
    }
  }

  stop(): void {
    clearInterval(this.#flushTimer);
    for (const slot of this.#slots.values()) clearTimeout(slot.timer);
    this.#slots.clear();
  }
}
