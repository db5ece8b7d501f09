/**
 * The state of a turn, and waiting until it completes or asks (rules, 19.5). Receives the same frames as the person's apps;
 * nothing is polled.
 */
import { findSession, readTask } from '@relay/database';
import {
  type Prompt,
  RelayError,
  type Session,
  type Task,
  type TaskState,
  agentLimits,
  decodeUserFrame,
  parseSessionId,
} from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { requireSession } from '../sessions/find.ts';

type TurnState = Exclude<TaskState, 'sent' | 'waiting'> | 'needs_answer' | 'idle';

export interface TurnView {
  readonly state: TurnState;
  readonly session: Session;
  readonly task?: Task | undefined;
  /** For `needs_answer`, oldest first. */
  readonly questions: readonly Prompt[];
}

interface Named {
  readonly sessionId: string;
  readonly taskId?: string | undefined;
}

export interface Waits {
  /**
   * Resolves when the turn is over or its agent asks, after `seconds`, when `signal` aborts or the instance drains: with its state then.
   * @throws RelayError SESSION_NOT_FOUND, TASK_NOT_FOUND, TOO_MANY_CONNECTIONS
   */
  wait(userId: string, turn: Named, seconds: number, signal: AbortSignal): Promise<TurnView>;
  drain(): void;
}

/** Frames about the state of sessions; text frames between them do not change it. */
const stateKinds = new Set(['f', 'x', 's']);

export function createWaits(deps: Operations): Waits {
  const draining = new AbortController();
  /** Keyed by person: calls that wait here. */
  const waiting = new Map<string, number>();

  const look = async (userId: string, { sessionId, taskId }: Named): Promise<TurnView> => {
    const { key, session } = await requireSession(deps.database, userId, sessionId);
    const read = (id: string) => readTask(deps.database, userId, id);
    const named = taskId === undefined ? undefined : await read(taskId);
    // Compared by key: the session can have received its name between the two reads.
    if (taskId !== undefined && (!named || (await findSession(deps.database, userId, named.sessionId))?.key !== key))
      throw new RelayError('TASK_NOT_FOUND', 'This session has no task with this id.');
    // A question settles its task as `waiting`; the turn goes on with the newest task, which the answer creates.
    const follows = named === undefined || named.state === 'waiting';
    const newest = session.lastTask?.id;
    const task = follows && newest !== undefined && newest !== named?.id ? await read(newest) : named;
    const questions = session.prompts ?? (session.prompt ? [session.prompt] : []);
    return { session, task, ...stateOf(task?.state, questions, session) };
  };

  const isOpen = ({ state }: TurnView) => state === 'queued' || state === 'running';

  return {
    async wait(userId, turn, seconds, signal) {
      const first = await look(userId, turn);
      if (!isOpen(first) || seconds === 0) return first;
      const count = waiting.get(userId) ?? 0;
      if (count >= agentLimits.waits)
        throw new RelayError('TOO_MANY_CONNECTIONS', `${count} calls of yours wait here already, which is the limit.`, {
          retryAfter: 5,
        });
      waiting.set(userId, count + 1);
      const end = AbortSignal.any([signal, draining.signal, AbortSignal.timeout(seconds * 1000)]);
      const changes = changesOf(first.session);
      let unsubscribe: (() => Promise<void>) | undefined;
      try {
        unsubscribe = await deps.backplane.subscribe(userId, (frame) => changes.hear(frame.body), changes.wake);
        // Only now is nothing missed.
        for (;;) {
          const heard = changes.next(end);
          const view = await look(userId, turn);
          if (!isOpen(view) || end.aborted) return view;
          await heard;
        }
      } finally {
        const left = (waiting.get(userId) ?? 1) - 1;
        if (left > 0) waiting.set(userId, left);
        else waiting.delete(userId);
        await unsubscribe?.().catch((error: unknown) =>
          deps.logger.warn({ err: error }, 'a subscription could not be ended'),
        );
      }
    },
    drain: () => draining.abort(),
  };
}

function stateOf(
  task: TaskState | undefined,
  questions: readonly Prompt[],
  { status }: Session,
): Pick<TurnView, 'state' | 'questions'> {
  const asks = { state: 'needs_answer', questions } as const;
  switch (task) {
    case 'queued':
      // It can wait for the question.
      return questions.length > 0 ? asks : { state: 'queued', questions: [] };
    case 'sent':
    case 'running':
      return questions.length > 0 ? asks : { state: 'running', questions: [] };
    case 'waiting':
    case undefined:
      if (questions.length > 0) return asks;
      return { state: status === 'active' || status === 'pending' ? 'running' : 'idle', questions: [] };
    default:
      return { state: task, questions: [] };
  }
}

/**
 * Resolves when a frame arrives that can have changed a session. The native id of the session can change in the meantime; its
 * device and agent stay.
 */
function changesOf({ id }: Session) {
  const { deviceId = '', agentType = '' } = parseSessionId(id) ?? {};
  const prefix = JSON.stringify(`${deviceId}:${agentType}:`).slice(1, -1);
  let resolve: () => void = () => undefined;
  const wake = () => resolve();
  return {
    wake,
    hear: (body: string) => {
      const frame = decodeUserFrame(body);
      if (frame && stateKinds.has(frame.kind) && frame.text.includes(prefix)) wake();
    },
    /** Resolves with the first change after the call, or when the signal `end` aborts. */
    next: (end: AbortSignal): Promise<void> =>
      new Promise((settle) => {
        resolve = settle;
        if (end.aborted) settle();
        else end.addEventListener('abort', () => settle(), { once: true });
      }),
  };
}
