/**
 * The sessions of a device as its connection remembers them: the watched and the open ones, keys and records. The
 * gateway can load all of it again from the database.
 */
import type { HeldTurns } from '@relay/attention';
import type { SessionRecord } from '@relay/database';
import type { DaemonEvent } from '@relay/protocol';
import type { OpenTasks } from './open-tasks.ts';
import { BoundedMap, SparseMap } from './sparse-map.ts';

type TranscriptEvent = DaemonEvent<'TRANSCRIPT'>;

export class DeviceSessions {
  /** Sessions the daemon watches for us, as in the frame we sent. */
  readonly watching = new SparseMap<string, { nativeId: string; filePath: string }>();
  /** Sessions that a client has open: until when (ms since 1970), and the timer that closes them. */
  readonly opened = new SparseMap<string, { timer: NodeJS.Timeout; untilMs: number }>();
  /** Programs that wait for their person, by native id: since when, and the timer of their notification. */
  readonly waitingPrograms = new SparseMap<string, { at: string; timer: NodeJS.Timeout }>();
  /** Keys of sessions by native id, for the transcript. */
  readonly keys = new BoundedMap<string, string>(10_000);
  /** The texts of turns under way, as hashes; bounded by the publisher. */
  readonly turns: HeldTurns = new SparseMap();
  readonly #tasks: OpenTasks;
  /** Sessions whose transcript is passed on outside of a running task, by task and native id. */
  readonly #subjects = new BoundedMap<string, SessionRecord>(1000);
  /** How often sessions were asked for how they began. */
  readonly #looks = new BoundedMap<string, number>(1000);
  #changes = 0;

  constructor(tasks: OpenTasks) {
    this.#tasks = tasks;
  }

  /** Counts how often records were dropped: a record read across a change might be stale. */
  get changes(): number {
    return this.#changes;
  }

  /** The session of a transcript that belongs to no task under way, as last read; undefined after another instance changed one. */
  subjectOf({ task_id: taskId, session_id: nativeId }: TranscriptEvent): SessionRecord | undefined {
    return this.#tasks.has(taskId) ? undefined : this.#subjects.get(`${taskId} ${nativeId}`);
  }

  rememberSubject({ task_id: taskId, session_id: nativeId }: TranscriptEvent, record: SessionRecord): void {
    this.#subjects.set(`${taskId} ${nativeId}`, record);
  }

  countLooks(sessionKey: string, more: number): void {
    this.#looks.set(sessionKey, (this.#looks.get(sessionKey) ?? 0) + more);
  }

  /** Keys of the sessions that were asked at least so often. */
  lookedAt(times: number): string[] {
    return [...this.#looks].flatMap(([key, looks]) => (looks >= times ? key : []));
  }

  /** The native id of the session is new. */
  rename(nativeId: string, key: string): void {
    this.#subjects.clear();
    this.keys.set(nativeId, key);
  }

  /** Another row is now the session (it was merged), or its id changed. */
  rekey(from: string, to: string): void {
    this.#tasks.rekey(from, to);
    const watched = this.watching.get(from);
    if (watched !== undefined && from !== to) {
      this.watching.delete(from);
      this.watching.set(to, watched);
    }
    clearTimeout(this.opened.get(from)?.timer);
    this.opened.delete(from);
    this.keys.clear();
    this.#subjects.clear();
    this.turns.clear();
  }

  /** Another writer changed this session, or perhaps any session without `sessionKey`. */
  forgetRecords(sessionKey?: string): void {
    this.#changes += 1;
    this.#subjects.clear();
    this.#tasks.dropRecords(sessionKey);
  }

  /** The connection closed. */
  clear(): void {
    for (const { timer } of this.opened.values()) clearTimeout(timer);
    for (const { timer } of this.waitingPrograms.values()) clearTimeout(timer);
    this.opened.clear();
    this.waitingPrograms.clear();
  }
}
