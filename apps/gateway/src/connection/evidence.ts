/** The facts behind one judgement: whether a task is alive at its daemon, or could be there although it is queued. */
import type { ClaimedTask } from '@relay/database';
import type { OpenTasks } from './open-tasks.ts';
import { BoundedMap, noIds } from './sparse-map.ts';

export class Evidence {
  readonly #tasks: OpenTasks;
  /** Tasks under way that the newest `status` lists. */
  #listed: ReadonlySet<string> = noIds;
  /** Tasks that the newest `status` lists and the database does not know as under way. */
  #strangers: ReadonlySet<string> = noIds;
  #listOnlyGrows = false;
  /** Tasks that the daemon itself completed on this connection. */
  readonly #completed = new BoundedMap<string, true>(1000);
  /** Tasks cancelled since the newest claim that were not open here. */
  readonly #cancelledEarly = new BoundedMap<string, true>(1000);

  constructor(tasks: OpenTasks) {
    this.#tasks = tasks;
  }

  /** Records a `status`. Returns the tasks that it lists and the database does not know as under way. */
  recordStatus(runningTasks: readonly string[]): readonly string[] {
    if (runningTasks.some((id) => this.#completed.has(id))) this.#listOnlyGrows = true;
    const strangers = runningTasks.filter((id) => !this.#tasks.has(id));
    this.#listed = new Set(runningTasks.filter((id) => this.#tasks.has(id)));
    this.#strangers = new Set(strangers);
    return strangers;
  }

  /** A `status` listed a completed task: the lists of this daemon do not prove that a task runs (rules, 3.6). */
  distrustLists(): void {
    this.#listOnlyGrows = true;
  }

  get trustsLists(): boolean {
    return !this.#listOnlyGrows;
  }

  /** Whether the newest `status` proves that the task runs. */
  isListed(taskId: string): boolean {
    return this.trustsLists && this.#listed.has(taskId);
  }

  /** The daemon itself completed the task. */
  complete(taskId: string): void {
    this.#completed.set(taskId, true);
  }

  isCompleted(taskId: string): boolean {
    return this.#completed.has(taskId);
  }

  /**
   * A cancel can arrive while its task is between the claim and the socket; the task must not reach the socket after
   * it.
   */
  cancelEarly(taskId: string): void {
    this.#cancelledEarly.set(taskId, true);
  }

  isCancelledEarly(taskId: string): boolean {
    return this.#cancelledEarly.has(taskId);
  }

  /** A claim begins: earlier cancels cannot concern its tasks. */
  beginClaim(): void {
    this.#cancelledEarly.clear();
  }

  /**
   * Whether the daemon could already have this claimed task, because a database that was set back in time queued it
   * again (rules, 15.6).
   */
  mayHave(task: Pick<ClaimedTask, 'id' | 'givenBackUnder'>): boolean {
    return this.#tasks.mayHave(task) || this.#completed.has(task.id) || this.#strangers.has(task.id);
  }
}
