/** Checks the sequence numbers of `task_output` (rules, 11.14): a gap is lost output. */
const tasksKept = 100;

export class Sequences {
  /** The newest number of each task, ordered by the arrival of the newest frame. */
  readonly #newest = new Map<string, number>();

  /** Returns true if earlier frames are missing. A lower number arrived late; 1 begins a new connection of the daemon. */
  misses(taskId: string, sequence: number): boolean {
    const newest = this.#newest.get(taskId);
    this.#newest.delete(taskId);
    this.#newest.set(taskId, sequence === 1 ? 1 : Math.max(newest ?? 0, sequence));
    if (this.#newest.size > tasksKept) this.#newest.delete(this.#newest.keys().next().value!);
    return newest !== undefined && sequence > newest + 1;
  }
}
