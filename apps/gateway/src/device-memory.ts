/**
 * The gateway's memory of a device during a connection: open tasks, the sessions it asked the daemon to watch, the
 * requests in flight. The gateway can load all of it again from the database, or answers it on close.
 */
import type { HeldTurns } from '@relay/attention';
import type { ClaimedTask, SessionRecord } from '@relay/database';
import type { Command, DaemonEvent, FromDaemon, Reply } from '@relay/protocol';
import type { Answer as Said } from './answer.ts';
import type { EarlierPage } from './pages.ts';
import type { UnderWay } from './reconcile.ts';
import { SparseMap } from './sparse-map.ts';
import { TaskPhase } from './task-phase.ts';

export interface TaskEntry extends UnderWay {
  id: string;
  sessionKey: string;
  /** The number of its outputs that were forwarded over this connection. */
  outputs?: number;
  /** When this instance wrote it to the daemon; absent when another one did. */
  writtenAtMs?: number;
  /** When an event named it on this connection. */
  heardAtMs?: number;
  /** When the gateway searched the history for its outcome after a long silence. */
  askedAtMs?: number;
  /** The session as last read or written; absent after another writer changed it. Only for hot frames. */
  record?: SessionRecord | undefined;
}

/** The frames that answer a question. */
export type Answer = FromDaemon<
  | 'messages'
  | 'usage_response'
  | 'spending_response'
  | 'settings_response'
  | 'agent_settings_response'
  | 'content_response'
  | 'folders'
  | 'search_response'
  | 'changes'
  | 'diff'
  | 'files'
  | 'file'
  | 'pong'
  | 'context_response'
  | 'force_quit_result'
  | 'desk_response'
  | 'file_result'
>;

/** One task whose outcome the gateway searches in the history. */
export interface Inquiry {
  readonly taskId: string;
  /** The last event of the task when the inquiry began: a later one is a sign of life. */
  readonly heardAtMs: number | undefined;
  /** The daemon itself no longer knows the task: without an answer this is done. */
  readonly otherwise: (() => Promise<void>) | undefined;
  /** Pages that came. */
  looks: number;
  before: Said | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** The questions that a daemon answers with a frame. */
export type Question = Extract<
  Command,
  {
    kind:
      | 'history'
      | 'ask_context'
      | 'ask_settings'
      | 'ask_agent_settings'
      | 'ask_content'
      | 'ask_folders'
      | 'ask_search'
      | 'ask_files'
      | 'ask_pong'
      | 'ask_spending'
      | 'ask_summary'
      | 'release'
      | 'ask_desk'
      | 'send_file'
      | 'send_piece';
  }
>;

interface DaemonRequest {
  /** The frame that answers it. */
  answer: Answer['type'];
  /** Identical questions share one frame. */
  question: Question;
  /** Each is sent once. */
  waiters: ((reply: Reply, rest?: string) => void)[];
  timer: NodeJS.Timeout;
}

type TranscriptEvent = DaemonEvent<'TRANSCRIPT'>;

export class DeviceMemory {
  readonly tasks = new SparseMap<string, TaskEntry>();
  /** Sessions the daemon watches for us, as in the frame we sent. */
  readonly watching = new SparseMap<string, { nativeId: string; filePath: string }>();
  /** Sessions that a client has open: until when (ms since 1970), and the timer that closes them. */
  readonly opened = new SparseMap<string, { timer: NodeJS.Timeout; untilMs: number }>();
  /** Programs that wait for their person, by native id: since when, and the timer of their notification; bounded. */
  readonly waitingPrograms = new SparseMap<string, { at: string; timer: NodeJS.Timeout }>();
  readonly requests = new SparseMap<string, DaemonRequest>();
  /** The newest page of history by native id, bounded. */
  readonly pages = new SparseMap<string, EarlierPage>();
  /** Keys of sessions by native id, for the transcript; bounded. */
  readonly keys = new SparseMap<string, string>();
  /** Sessions whose transcript is passed on outside of a running task, by task and native id; bounded. */
  readonly subjects = new SparseMap<string, SessionRecord>();
  /** How often sessions were asked for how they began; bounded. */
  readonly looks = new SparseMap<string, number>();
  /** Counts how often records were dropped: a record read across a change might be stale. */
  changes = 0;
  /** When tasks of sessions completed over this connection (ms since 1970), by key; bounded. */
  readonly #freedAtMs = new SparseMap<string, number>();
  reportHash: string | null = null;
  /** The newest report of this connection that is written: its hash, and the sessions that it calls active. */
  reported: { hash: string; active: ReadonlySet<string> } | undefined;
  /** While a report is being written: native ids of sessions whose turn completed after its arrival. */
  endedSinceReport: Set<string> | undefined;
  /** The minimum by which the daemon's clock is ahead of ours, as its reports showed. */
  clockAheadMs = 0;
  readonly taskPhase = new TaskPhase();
  /** The texts of turns under way, as hashes; bounded. */
  readonly turns: HeldTurns = new SparseMap();
  /** That the device has too many sessions is logged once per connection. */
  warnedOfSessions = false;
  /** The same, that a session of it has too many open questions. */
  warnedOfQuestions = false;
  /** Tasks under way that the newest `status` lists. */
  listed: ReadonlySet<string> = new Set();
  /** Tasks that the newest `status` lists and the database does not know as under way. */
  strangers: ReadonlySet<string> = new Set();
  /** A `status` listed a completed task: its lists do not prove that a task runs (rules, 3.6). */
  listOnlyGrows = false;
  /** Tasks that the daemon itself completed on this connection; bounded. */
  readonly over = new SparseMap<string, true>();
  /** Tasks cancelled since the newest claim that were not open here; bounded. */
  readonly cancelledEarly = new SparseMap<string, true>();
  /** Sessions that the newest report calls active, by native id. */
  active: ReadonlySet<string> = new Set();
  /** Tasks whose outcome the gateway searches in the history. */
  readonly inquiries = new SparseMap<string, Inquiry>();
  /** Unconfirmed tasks that the gateway searches in the history. */
  readonly doubted = new SparseMap<string, true>();

  /**
   * Whether the daemon could already have this queued task, because a database that was set back in time queued it
   * again (rules, 15.6). A task was not written if it was `sent` when this connection began and its claiming connection
   * has given it back since.
   */
  mayHave({ id, givenBackUnder }: Pick<ClaimedTask, 'id' | 'givenBackUnder'>): boolean {
    const known = this.tasks.get(id);
    const isGivenBack = known?.state === 'sent' && known.writtenAtMs === undefined && known.fence === givenBackUnder;
    return (known !== undefined && !isGivenBack) || this.over.has(id) || this.strangers.has(id);
  }

  /** The task is over: the next task of its session can be written. */
  forgetTask(taskId: string): void {
    const task = this.tasks.get(taskId);
    if (!task) return;
    this.tasks.delete(taskId);
    if (task.isSteer) return;
    for (const [id, { isSteer, state, sessionKey }] of this.tasks)
      if (isSteer && state === 'running' && sessionKey === task.sessionKey) this.tasks.delete(id);
    if (this.#freedAtMs.size >= 1000) this.#freedAtMs.clear();
    this.#freedAtMs.set(task.sessionKey, Date.now());
  }

  /** Whether a turn of this session is under way. */
  runs(key: string): boolean {
    return [...this.tasks.values()].some(({ isSteer, sessionKey }) => !isSteer && sessionKey === key);
  }

  /** Whether a message accepted at this moment waited for the relay alone: neither for its daemon nor for a turn of its session. */
  couldBeWritten(sessionKey: string, acceptedAtMs: number): boolean {
    return this.taskPhase.mayWriteSinceMs <= acceptedAtMs && (this.#freedAtMs.get(sessionKey) ?? 0) <= acceptedAtMs;
  }

  rememberEnd(taskId: string): void {
    if (this.over.size >= 1000) this.over.clear();
    this.over.set(taskId, true);
  }

  /**
   * A cancel can arrive while its task is between the claim and the socket; the task must not reach the socket after
   * it.
   */
  rememberEarlyCancel(taskId: string): void {
    if (this.cancelledEarly.size >= 1000) this.cancelledEarly.clear();
    this.cancelledEarly.set(taskId, true);
  }

  /** The session of a transcript that belongs to no task under way, as last read; undefined after another instance changed one. */
  subjectOf({ task_id: taskId, session_id: nativeId }: TranscriptEvent): SessionRecord | undefined {
    return this.tasks.has(taskId) ? undefined : this.subjects.get(`${taskId} ${nativeId}`);
  }

  rememberSubject({ task_id: taskId, session_id: nativeId }: TranscriptEvent, record: SessionRecord): void {
    if (this.subjects.size >= 1000) this.subjects.clear();
    this.subjects.set(`${taskId} ${nativeId}`, record);
  }

  rememberKey(nativeId: string, key: string): void {
    if (this.keys.size >= 10_000) this.keys.clear();
    this.keys.set(nativeId, key);
  }

  rememberLook(sessionKey: string, more: number): void {
    if (this.looks.size >= 1000) this.looks.clear();
    this.looks.set(sessionKey, (this.looks.get(sessionKey) ?? 0) + more);
  }

  /** Another row is now the session (it was merged), or its id changed. */
  rekey(from: string, to: string): void {
    for (const task of this.tasks.values()) if (task.sessionKey === from) task.sessionKey = to;
    const told = this.watching.get(from);
    if (told !== undefined && from !== to) {
      this.watching.delete(from);
      this.watching.set(to, told);
    }
    clearTimeout(this.opened.get(from)?.timer);
    this.opened.delete(from);
    this.keys.clear();
    this.subjects.clear();
    this.turns.clear();
  }

  forgetRecord(sessionKey: string): void {
    this.changes += 1;
    this.subjects.clear();
    for (const task of this.tasks.values()) if (task.sessionKey === sessionKey) task.record = undefined;
  }

  forgetRecords(): void {
    this.changes += 1;
    this.subjects.clear();
    for (const task of this.tasks.values()) task.record = undefined;
  }

  clear(): void {
    for (const { timer } of this.opened.values()) clearTimeout(timer);
    for (const { timer } of this.waitingPrograms.values()) clearTimeout(timer);
    for (const request of this.requests.values()) clearTimeout(request.timer);
    for (const inquiry of this.inquiries.values()) clearTimeout(inquiry.timer);
    this.opened.clear();
    this.waitingPrograms.clear();
    this.requests.clear();
    this.inquiries.clear();
  }
}
