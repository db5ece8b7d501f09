/** The state of a turn, and waiting until it completes or asks (rules, 19.5). Follows the frames of the user like an app; polls nothing. */
import { type AttentionItem, SessionCopy } from '@relay/client';
import { findSession, readTask } from '@relay/database';
import {
  type Prompt,
  RelayError,
  type Session,
  type Task,
  type TaskState,
  agentLimits,
  decodeUserFrame,
} from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { requireSession } from '../sessions/find.ts';

type TurnState = Exclude<TaskState, 'sent' | 'waiting'> | 'needs_answer' | 'idle';

export interface TurnView {
  readonly state: TurnState;
  readonly session: Session;
  readonly task?: Task | undefined;
  /** With `needs_answer`: oldest first. */
  readonly questions: readonly Prompt[];
}

interface Named {
  readonly sessionId: string;
  readonly taskId?: string | undefined;
}

export interface Waits {
  /**
   * Returns the state of the turn once it is over, once its agent asks, after `seconds`, or when `signal` aborts or the instance drains.
   * @throws RelayError SESSION_NOT_FOUND, TASK_NOT_FOUND, TOO_MANY_CONNECTIONS
   */
  wait(userId: string, turn: Named, seconds: number, signal: AbortSignal): Promise<TurnView>;
  drain(): void;
}

/** Frames that change the state of sessions; the relay sends progress and text in frames of other kinds. */
const stateKinds = new Set(['f', 'x', 's']);

export function createWaits(deps: Operations): Waits {
  const draining = new AbortController();
  /** The number of waiting calls of each user. */
  const waiting = new Map<string, number>();

  const look = async (userId: string, { sessionId, taskId }: Named): Promise<TurnView> => {
    const { key, session } = await requireSession(deps.database, userId, sessionId);
    const read = (id: string) => readTask(deps.database, userId, id);
    const named = taskId === undefined ? undefined : await read(taskId);
    // Compares keys: the session can get its name between the two reads.
    if (taskId !== undefined && (!named || (await findSession(deps.database, userId, named.sessionId))?.key !== key))
      throw new RelayError('TASK_NOT_FOUND');
    // A question settles its task as `waiting`; the turn continues with the newest task, which the answer creates.
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
      const changes = createChanges(first.session);
      let unsubscribe: (() => Promise<void>) | undefined;
      try {
        unsubscribe = await deps.backplane.subscribe(userId, (frame) => changes.apply(frame.body), changes.wake);
        // The subscription receives every later frame.
        for (;;) {
          const changed = changes.next(end);
          const view = await look(userId, turn);
          changes.follow(view.session);
          if (!isOpen(view) || end.aborted) return view;
          await changed;
        }
      } finally {
        const left = (waiting.get(userId) ?? 1) - 1;
        if (left > 0) waiting.set(userId, left);
        else waiting.delete(userId);
        await unsubscribe?.().catch((error: unknown) =>
          deps.logger.warn({ err: error }, 'a subscription could not be closed'),
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
      // It might be queued after the question.
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

/** The changes of one session, whose name can change. */
function createChanges({ id }: Session) {
  const copy = new SessionCopy({ id });
  let resolve: () => void = () => undefined;
  const wake = () => resolve();
  return {
    wake,
    /** The session as it was read. Under a new name it is read again: the frame that renamed it came before the subscription. */
    follow: (session: Session) => {
      if (session.id === copy.id) return;
      copy.adopt(session);
      wake();
    },
    apply: (body: string) => {
      const frame = decodeUserFrame(body);
      if (frame && stateKinds.has(frame.kind) && copy.concerns(JSON.parse(frame.text) as AttentionItem)) wake();
    },
    /** Resolves with the first change after the call, or when `end` aborts. */
    next: (end: AbortSignal): Promise<void> =>
      new Promise((settle) => {
        resolve = settle;
        if (end.aborted) settle();
        else end.addEventListener('abort', () => settle(), { once: true });
      }),
  };
}
