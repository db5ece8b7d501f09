/** The numbers of `task_output` (rules, 11.14): a jump is output that was lost on the way. */
const tasksKept = 100;

export class Sequences {
  /** The newest number of each task, in the order of their newest frames. */
  readonly #newest = new Map<string, number>();

  /** Whether frames before this one are missing. A number below the newest one comes late, and 1 begins a connection of the daemon. */
  misses(taskId: string, sequence: number): boolean {
    const newest = this.#newest.get(taskId);
    this.#newest.delete(taskId);
    this.#newest.set(taskId, sequence === 1 ? 1 : Math.max(newest ?? 0, sequence));
    if (this.#newest.size > tasksKept) this.#newest.delete(this.#newest.keys().next().value!);
    return newest !== undefined && sequence > newest + 1;
  }
}
