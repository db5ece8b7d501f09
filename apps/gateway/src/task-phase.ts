/** Where a connection is with the tasks of its device: which of the earlier ones the daemon has is settled before others are written. */

/**
 * - awaitingStatus: the daemon has not said yet which tasks it runs.
 * - settling: its first `status` is being written down.
 * - overdue: no first `status` was settled in time; tasks are written anyway.
 * - open: the first `status` was settled; tasks are written.
 */
type TaskPhaseName = 'awaitingStatus' | 'settling' | 'overdue' | 'open';

/** The moves are named after what happens; one that does not fit the phase changes nothing. */
export class TaskPhase {
  #now: TaskPhaseName = 'awaitingStatus';
  #mayWriteSinceMs = Infinity;

  get now(): TaskPhaseName {
    return this.#now;
  }

  /** Tasks may be written to the daemon. */
  get mayWrite(): boolean {
    return this.#now === 'open' || this.#now === 'overdue';
  }

  /** Since when tasks may be written (ms since 1970); Infinity before. */
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

  /** The wait for the first `status` is over, and what follows from its absence is written down. */
  giveUp(): void {
    if (this.#now !== 'open') this.#open('overdue');
  }

  /** A `status` is written down. */
  settled(): void {
    this.#open('open');
  }

  #open(now: 'open' | 'overdue'): void {
    if (!this.mayWrite) this.#mayWriteSinceMs = Date.now();
    this.#now = now;
  }
}
