/** The tasks of a device that count as under way on its connection. The gateway can load them again from the database. */
import type { ClaimedTask, SessionRecord } from '@relay/database';
import { BoundedMap, SparseMap } from './sparse-map.ts';
import { TaskPhase } from './task-phase.ts';

export interface TaskEntry {
  id: string;
  sessionKey: string;
  state: 'sent' | 'running';
  /** A message into the turn of another task: `status` lists it until its outcome, and it completes with that turn. */
  isSteer?: boolean;
  /** Fence of the connection it was written to. */
  fence: number;
  /** When a frame last named it. */
  mentionedAtMs: number;
  /** Since when every `status` has omitted it, and nothing else has named it. */
  missingSinceMs?: number;
  /** The number of its outputs that were forwarded over this connection. */
  outputs?: number;
  /** When this instance wrote it to the daemon; absent when another one did. */
  writtenAtMs?: number;
  /** When an event last named it on this connection. */
  lastEventAtMs?: number;
  /** When the gateway searched the history for its outcome after a long silence. */
  searchedAtMs?: number;
  /** The session as last read or written; absent after another writer changed it. Only for hot frames. */
  record?: SessionRecord | undefined;
}

/**
 * The fence of the connection that claimed the task, if it was `sent` when this connection began: that connection can
 * still give the task back, because it was not written. 0 when the daemon certainly got the task.
 */
const doubtfulFence = ({ state, writtenAtMs, fence }: TaskEntry): number =>
  state === 'sent' && writtenAtMs === undefined ? fence : 0;

export class OpenTasks implements Iterable<[string, TaskEntry]> {
  readonly phase = new TaskPhase();
  readonly #entries = new SparseMap<string, TaskEntry>();
  /** The doubtful fences (`doubtfulFence`) of tasks that are over, by id. */
  readonly #over = new BoundedMap<string, number>(1000);
  /** When tasks of sessions completed over this connection (ms since 1970), by key. */
  readonly #freedAtMs = new BoundedMap<string, number>(1000);

  get size(): number {
    return this.#entries.size;
  }

  get(taskId: string): TaskEntry | undefined {
    return this.#entries.get(taskId);
  }

  has(taskId: string): boolean {
    return this.#entries.has(taskId);
  }

  ids(): Iterable<string> {
    return this.#entries.keys();
  }

  [Symbol.iterator](): Iterator<[string, TaskEntry]> {
    return this.#entries[Symbol.iterator]();
  }

  /** Adds or replaces a task. Adding it counts as a mention. */
  add(task: Omit<TaskEntry, 'mentionedAtMs'>): TaskEntry {
    const entry = { ...task, mentionedAtMs: Date.now() };
    this.#entries.set(task.id, entry);
    return entry;
  }

  /** The daemon has the task. */
  confirm(taskId: string): void {
    const entry = this.#entries.get(taskId);
    if (entry) entry.state = 'running';
  }

  /** An event named the task. It is running: its absence from an earlier `status` proves nothing. */
  recordEvent(entry: TaskEntry): void {
    entry.mentionedAtMs = Date.now();
    entry.lastEventAtMs = entry.mentionedAtMs;
    if (entry.missingSinceMs !== undefined) delete entry.missingSinceMs;
  }

  /** A `status` lists the task; `isProof`: this counts as a mention. */
  recordListed(taskId: string, isProof: boolean): void {
    const entry = this.#entries.get(taskId);
    if (!entry) return;
    delete entry.missingSinceMs;
    if (isProof) entry.mentionedAtMs = Date.now();
  }

  /** A `status` omits the task for the first time. */
  recordMissing(taskId: string, nowMs: number): void {
    const entry = this.#entries.get(taskId);
    if (entry) entry.missingSinceMs = nowMs;
  }

  /** The task is over: the next task of its session can be written. Steers that reached its turn are over with it. */
  forget(taskId: string): void {
    const task = this.#entries.get(taskId);
    if (!task) return;
    this.#end(task);
    if (task.isSteer) return;
    for (const other of this.#entries.values())
      if (other.isSteer && other.state === 'running' && other.sessionKey === task.sessionKey) this.#end(other);
    this.#freedAtMs.set(task.sessionKey, Date.now());
  }

  #end(task: TaskEntry): void {
    this.#entries.delete(task.id);
    this.#over.set(task.id, doubtfulFence(task));
  }

  /** The steer did not reach its turn: the database queues it again, and the daemon gets it under the same id. */
  release(taskId: string): void {
    this.#entries.delete(taskId);
  }

  /**
   * Whether the daemon could have this claimed task, because it was under way on this connection before: a database that
   * was set back in time queued it again (rules, 15.6).
   */
  mayHave({ id, givenBackUnder }: Pick<ClaimedTask, 'id' | 'givenBackUnder'>): boolean {
    const open = this.#entries.get(id);
    const fence = open ? doubtfulFence(open) : this.#over.get(id);
    return fence !== undefined && (fence === 0 || fence !== givenBackUnder);
  }

  /** Whether a turn of this session is under way. */
  runs(sessionKey: string): boolean {
    return [...this.#entries.values()].some((task) => !task.isSteer && task.sessionKey === sessionKey);
  }

  /** Whether a message accepted at this moment waited for the relay alone: neither for its daemon nor for a turn of its session. */
  couldBeWritten(sessionKey: string, acceptedAtMs: number): boolean {
    return this.phase.mayWriteSinceMs <= acceptedAtMs && (this.#freedAtMs.get(sessionKey) ?? 0) <= acceptedAtMs;
  }

  /** The tasks of one session move to another. */
  rekey(from: string, to: string): void {
    for (const task of this.#entries.values()) if (task.sessionKey === from) task.sessionKey = to;
  }

  /** Drops the records of one session, or of all sessions without `sessionKey`. */
  dropRecords(sessionKey?: string): void {
    for (const task of this.#entries.values())
      if (sessionKey === undefined || task.sessionKey === sessionKey) task.record = undefined;
  }
}
