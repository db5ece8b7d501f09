/** Where a connection is with the tasks of its device: which of the earlier ones the daemon has is settled before others are written. */

/**
 * - awaitingStatus: the daemon has not listed its running tasks yet.
 * - settling: the gateway records its first `status`.
 * - overdue: the first `status` did not settle in time; the gateway writes tasks anyway.
 * - open: the first `status` settled; the gateway writes tasks.
 */
type TaskPhaseName = 'awaitingStatus' | 'settling' | 'overdue' | 'open';

/** Methods are named after events; an event that does not fit the phase changes nothing. */
export class TaskPhase {
  #now: TaskPhaseName = 'awaitingStatus';
  #isStopping = false;
  #mayWriteSinceMs = Infinity;

  get now(): TaskPhaseName {
    return this.#now;
  }

  /** Whether the gateway can write tasks to the daemon. */
  get mayWrite(): boolean {
    return !this.#isStopping && (this.#now === 'open' || this.#now === 'overdue');
  }

  /** The daemon stops. It still reports the results of its tasks, so the phase itself can change. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Since when the gateway can write tasks (ms since 1970); Infinity before. */
  get mayWriteSinceMs(): number {
    return this.#mayWriteSinceMs;
  }

  /** A `status` came. */
  settle(): void {
    if (this.#now === 'awaitingStatus') this.#now = 'settling';
  }

  /** A `status` could not be written down: the same one, or the next, is the first. */
  retry(): void {
    if (this.#now === 'settling') this.#now = 'awaitingStatus';
  }

  /** The wait for the first `status` is over, and its consequences are recorded. */
  giveUp(): void {
    if (this.#now !== 'open') this.#open('overdue');
  }

  /** A `status` is written down. */
  settled(): void {
    this.#open('open');
  }

  /** The daemon announced that it stops: until it connects again, it gets no tasks. */
  stop(): void {
    this.#isStopping = true;
  }

  #open(now: 'open' | 'overdue'): void {
    if (!this.mayWrite) this.#mayWriteSinceMs = Date.now();
    this.#now = now;
  }
}
