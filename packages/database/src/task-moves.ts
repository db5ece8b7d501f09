/**
 * The moves of a task (rules, 2.2): this table is the state machine, and `move` the only way along it. docs/states.md is drawn from it.
 */
import { type TaskErrorCode, type TaskState, taskErrors } from '@relay/protocol';
import type { AskName, ShownOutcome } from './session-status.ts';
import { type Sql, sql } from './sql.ts';

/**
 * `own`: closes the question that the task answers. `failed`: it is uncertain whether the answer was applied. `over`:
 * `own`, and the turn is over with all its other questions. In all of these, and with `again` alone: an unsent task
 * reopens its question.
 */
export type QuestionEffect = 'own' | 'failed' | 'over' | 'again';

export interface Move {
  readonly from: readonly TaskState[];
  readonly to: TaskState;
  /** Its cause, for the documents. */
  readonly when: string;
  /** The reason, in the record of the task. */
  readonly code?: TaskErrorCode;
  /** The times that it writes, and whether it removes the texts of the task. */
  readonly writes: keyof typeof writes;
  /** The change that it asks of the session. */
  readonly session?: AskName;
  /** Its effect on the questions of the session. */
  readonly questions?: QuestionEffect;
  /**
   * The effect on messages into its turn (rules, chapter 23). `land`: injected messages complete, and queued messages are first in line. `lose`: the same, but the outcome of the injected ones is lost too. `cancel`: all of them are part of the cancelled turn.
   */
  readonly steers?: 'land' | 'lose' | 'cancel';
  /** Cancels the tasks that wait for a name that the session will never get (`strand`). */
  readonly strands?: true;
}

/**
 * In SQL: `finished` wipes the instruction too, unless the outcome lacks a text: then the history search needs it (see
 * `TaskOutcome`).
 */
const writes = {
  nothing: [],
  sent: [sql`sent_at = now()`],
  // Its fence stays: it identifies the claim that was given back.
  unsent: [sql`sent_at = NULL`],
  finished: [sql`finished_at = now(), images = NULL, answer = NULL`],
  ended: [sql`finished_at = now(), images = NULL, instruction = '', answer = NULL`],
  expired: [sql`finished_at = t.expires_at, images = NULL, instruction = '', answer = NULL`],
  erased: [
    sql`finished_at = COALESCE(t.finished_at, now()), images = NULL, instruction = '', answer = NULL, result = NULL, error_text = NULL, note = NULL`,
  ],
} as const;

const delivered = ['sent', 'running'] as const;
/** Has an outcome that a later report of the daemon can correct (rules, 3.10). */
const settled = ['completed', 'failed', 'waiting'] as const;

export const taskMoves = {
  release: {
    from: ['later'],
    to: 'queued',
    writes: 'nothing',
    when: 'The time of the message has come: it joins its queue.',
  },
  overtake: {
    from: ['later'],
    to: 'cancelled',
    code: 'OVERTAKEN',
    writes: 'ended',
    when: 'The relay accepts another message before a message that continues after a limit.',
  },
  shelve: {
    from: ['later'],
    to: 'cancelled',
    code: 'SESSION_ARCHIVED',
    writes: 'ended',
    session: 'withdraw',
    strands: true,
    when: 'The user archives the session before the time of the message.',
  },
  claim: {
    from: ['queued'],
    to: 'sent',
    writes: 'sent',
    session: 'run',
    when: 'The gateway that owns the device claims the task before it writes a byte.',
  },
  unclaim: {
    from: ['sent'],
    to: 'queued',
    writes: 'unsent',
    session: 'rest',
    when: 'The gateway knows that no byte of the task was written.',
  },
  confirm: {
    from: ['sent'],
    to: 'running',
    writes: 'nothing',
    session: 'confirm',
    when: 'The daemon names the task in `status` or an event.',
  },
  complete: {
    from: delivered,
    to: 'completed',
    writes: 'finished',
    session: 'end',
    steers: 'land',
    strands: true,
    questions: 'over',
    when: 'TASK_COMPLETE, or the answer is in the history of the daemon.',
  },
  fail: {
    from: delivered,
    to: 'failed',
    writes: 'finished',
    session: 'end',
    steers: 'land',
    strands: true,
    questions: 'over',
    when: 'ERROR, or the daemon cannot accept the task.',
  },
  ask: {
    from: delivered,
    to: 'waiting',
    writes: 'finished',
    session: 'end',
    steers: 'land',
    strands: true,
    questions: 'own',
    when: 'WAIT_FOR_USER. The answer is a new task.',
  },
  miss: {
    from: delivered,
    to: 'failed',
    writes: 'finished',
    session: 'miss',
    questions: 'failed',
    steers: 'land',
    strands: true,
    when: 'ERROR with `PROMPT_SUPERSEDED`: the answer came too late and was not applied.',
  },
  completeLate: {
    from: settled,
    to: 'completed',
    writes: 'finished',
    session: 'endLate',
    strands: true,
    questions: 'over',
    when: 'A later TASK_COMPLETE with another text, for a task that is waiting or lost.',
  },
  failLate: {
    from: settled,
    to: 'failed',
    writes: 'finished',
    session: 'endLate',
    strands: true,
    questions: 'over',
    when: 'The same, with ERROR.',
  },
  askLate: {
    from: settled,
    to: 'waiting',
    writes: 'finished',
    session: 'endLate',
    strands: true,
    questions: 'own',
    when: 'The same, with WAIT_FOR_USER.',
  },
  find: {
    from: ['unknown'],
    to: 'completed',
    writes: 'finished',
    session: 'endLate',
    strands: true,
    questions: 'over',
    when: 'The session got its name later, and its history has the answer.',
  },
  lose: {
    from: ['running'],
    to: 'failed',
    code: 'TASK_LOST',
    writes: 'ended',
    session: 'fail',
    steers: 'lose',
    strands: true,
    questions: 'over',
    when: 'The daemon no longer knows the task.',
  },
  unknown: {
    from: ['sent'],
    to: 'unknown',
    code: 'DELIVERY_UNKNOWN',
    writes: 'ended',
    session: 'hold',
    steers: 'land',
    strands: true,
    questions: 'failed',
    when: 'The connection closed before the daemon confirmed the task.',
  },
  doubt: {
    from: ['later', 'queued'],
    to: 'sent',
    writes: 'sent',
    when: 'The database was set back, and the task was possibly written in the lost period. `unknown` follows at once.',
  },
  expire: {
    from: ['queued'],
    to: 'expired',
    code: 'TASK_EXPIRED',
    writes: 'expired',
    session: 'expire',
    strands: true,
    questions: 'again',
    when: 'The time to live of the message expired.',
  },
  cancel: {
    from: ['queued', 'sent', 'running'],
    to: 'cancelled',
    writes: 'ended',
    session: 'idle',
    steers: 'cancel',
    strands: true,
    questions: 'over',
    when: 'The user cancels.',
  },
  withdraw: {
    from: ['later', 'queued'],
    to: 'cancelled',
    writes: 'ended',
    session: 'withdraw',
    strands: true,
    questions: 'again',
    when: 'The user removes the message from the queue.',
  },
  dismiss: {
    from: ['waiting'],
    to: 'cancelled',
    writes: 'ended',
    session: 'dismiss',
    strands: true,
    questions: 'over',
    when: 'The user cancels while the agent waits, which dismisses its question.',
  },
  inject: {
    from: ['sent'],
    to: 'running',
    writes: 'nothing',
    when: 'STEERED `injected`, or the message is in the history of the daemon: the running turn has the message.',
  },
  land: {
    from: ['running'],
    to: 'completed',
    writes: 'ended',
    when: 'The turn of an injected message completed.',
  },
  drop: {
    from: ['sent', 'running', 'completed'],
    to: 'failed',
    code: 'STEER_DROPPED',
    writes: 'ended',
    when: 'STEERED `dropped`: the turn was over before the agent read the message.',
  },
  requeue: {
    from: ['queued', 'sent'],
    to: 'queued',
    writes: 'unsent',
    when: 'The turn cannot take the message, or its 30 s are over: the agent did not get the message, which becomes an ordinary message.',
  },
  stray: {
    from: ['sent'],
    to: 'unknown',
    code: 'DELIVERY_UNKNOWN',
    writes: 'ended',
    when: 'The message was sent into a turn, and it is unknown whether the agent got it.',
  },
  supersede: {
    from: ['queued'],
    to: 'failed',
    code: 'PROMPT_SUPERSEDED',
    writes: 'ended',
    when: 'The question of an unsent choice is closed. A text answer becomes an ordinary message instead.',
  },
  strand: {
    from: ['later', 'queued'],
    to: 'cancelled',
    code: 'SESSION_NOT_RESOLVED',
    writes: 'ended',
    questions: 'again',
    when: 'The first task of the session was settled without a name for the session.',
  },
  remove: {
    from: ['later', 'queued', 'sent', 'running'],
    to: 'cancelled',
    code: 'DEVICE_REMOVED',
    writes: 'ended',
    when: 'The device is removed.',
  },
  erase: {
    from: ['later', 'queued', 'sent', 'running', 'waiting', 'failed', 'unknown', 'cancelled'],
    to: 'cancelled',
    writes: 'erased',
    when: 'The session or its device is deleted.',
  },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof taskMoves;

/** An outcome as the daemon reports it; replaces the known one. For moves that write `finished`. */
export interface TaskOutcome {
  result: string | null;
  code: TaskErrorCode | null;
  error: string | null;
  /** The source of the outcome, when no event reported it in time. */
  note: string | null;
  /** Keeps the instruction: the search for the final text needs it. */
  keepsInstruction: boolean;
  shown: ShownOutcome;
}

const quoted = (states: readonly TaskState[]) => sql.raw(states.map((state) => `'${state}'`).join(', '));

/**
 * The statement that moves the tasks matching `which`, in SQL about `t`, that are in a source state of the move.
 * Returns id, seq, kind, session_key, sent_at, finished_at, instruction, has_images, prompt_uuid and answer. `also`:
 * further columns.
 */
export function moveTasks(name: MoveName, which: Sql, also: readonly Sql[] = []): Sql {
  const { from, to, code, writes: times }: Move = taskMoves[name];
  const error = code ? [sql`error_code = ${code}, error_text = ${taskErrors[code].sentence}`] : [];
  const set = [sql`state = ${to}`, ...writes[times], ...error, ...also];
  return sql`UPDATE tasks t SET ${sql.join(set, ', ')} WHERE ${which} AND t.state IN (${quoted(from)})
    RETURNING t.id, t.seq, t.kind, t.session_key, t.sent_at, t.finished_at, t.instruction, t.images IS NOT NULL AS has_images, t.prompt_uuid, t.answer, t.settings,
      t.agent_depth`;
}
