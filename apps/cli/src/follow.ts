/**
 * Follows one session: its history, then live messages, until the caller stops or a task completes. `--json` prints each event as a line;
 * other files format events for people.
 */
import { type Loaded, SessionCopy } from '@relay/client';
import {
  type Attention,
  type Item,
  type Message,
  type Session,
  type Task,
  isItem,
  isOperation,
  isPlaceholder,
  parseSessionId,
  uuidOf,
} from '@relay/protocol';
import { Failure } from '@relay/machine';
import { type AnyFrame, type Happening, happenings } from './happenings.ts';
import type { Wait } from './patience.ts';
import type { Relay } from './relay.ts';

export type SessionEvent =
  | { type: 'new_message'; sessionId: string; message: Message; history?: true | undefined }
  /** `grows`: only text was added, and more can follow. */
  | { type: 'item'; sessionId: string; item: Item; history?: true | undefined; grows?: true }
  /** The daemon did not return earlier messages. */
  | { type: 'history_error'; code: string; error: string }
  | Attention<'session_update'>
  | Attention<'task_output'>
  | Attention<'device_status'>
  | Attention<'session_removed'>
  | Attention<'device_removed'>
  | Wait
  /** Frames were lost; the current state follows. */
  | { type: 'resync' }
  /** The awaited task has completed. */
  | { type: 'task'; task: Task };

interface Begin {
  sessionId: string;
  /** Follow the session until this task completes. */
  taskId?: string;
  /** The message that the user has just sent; it is not shown again. */
  sent?: Message;
  /** The session did not exist before the stream was live: frames bring all of it, in order. */
  isNew?: boolean;
}

export interface FollowWish {
  relay: Relay;
  signal: AbortSignal;
  /** Called once, when the stream is live. */
  begin: () => Promise<Begin>;
  /** Number of messages or items of the history. */
  history: number;
  output: boolean;
  /** Stop after the task of `begin` or, if it is absent, after the running task; stop at once in an idle session. */
  once: boolean;
}

/** The relay counts a session as open for five minutes after a read, and daemons report more about open sessions (rules, 14.2). */
const keepOpenMs = 240_000;
/** Size of a page: items that can still change are among the newest ones. */
const openItems = 50;
const itemsKept = 1000;

export const hasEnded = (state: Task['state']): boolean => !['queued', 'sent', 'running'].includes(state);

/** @throws Failure of calls and of the stream */
export async function* follow(wish: FollowWish): AsyncGenerator<SessionEvent, void> {
  const { relay, signal, output } = wish;
  let conversation: Conversation | undefined;
  let keepOpen: NodeJS.Timeout | undefined;
  const stream = happenings({ relay, output, signal });
  let next: ReturnType<typeof stream.next> | undefined;
  try {
    for (;;) {
      next ??= stream.next();
      const result = await (conversation ? Promise.race([next, conversation.doubted()]) : next);
      if (!result) {
        yield* conversation!.catchUp();
        continue;
      }
      next = undefined;
      if (result.done) break;
      const happening = result.value;
      if (happening.kind === 'connected' && !conversation) {
        const begin = await wish.begin();
        conversation = createConversation(wish, begin);
        const { sessionId } = conversation;
        const look = () => relay.call('readSession', { params: { id: sessionId() }, query: { limit: 1 }, retries: 0 });
        keepOpen = setInterval(() => void look().catch(() => undefined), keepOpenMs);
        // A read can be ahead of the frames, and would complete the task before they arrive.
        if (!begin.isNew) yield* conversation.load(wish.history);
      } else if (conversation) yield* conversation.apply(happening);
      if (conversation?.isOver()) break;
    }
    const taskId = conversation?.isOver() ? conversation.taskId() : undefined;
    if (taskId !== undefined) yield { type: 'task', task: await relay.call('readTask', { params: { id: taskId } }) };
  } finally {
    clearInterval(keepOpen);
    // A stream that waits for a frame closes when its signal aborts.
    if (!next) await stream.return();
  }
}

type Conversation = ReturnType<typeof createConversation>;

function createConversation({ relay, once, signal }: FollowWish, begin: Begin) {
  const copy = new SessionCopy({ client: relay, id: begin.sessionId, keep: itemsKept, pageItems: openItems });
  let { taskId } = begin;
  let over = false;
  let lastLook = '';
  let hasPage = false;
  if (begin.sent) copy.add(begin.sent);

  /** Detects that the task has completed. Reads the task only if the session has changed in another way. */
  const look = async ({ lastTask, status }: Session): Promise<void> => {
    if (!once || over) return;
    if (taskId === undefined) over = status !== 'active';
    else if (lastTask?.id === taskId) over = hasEnded(lastTask.state);
    else {
      const state = `${lastTask?.id} ${lastTask?.state} ${status}`;
      if (state === lastLook) return;
      lastLook = state;
      over = hasEnded((await relay.call('readTask', { params: { id: taskId } })).state);
    }
  };

  function* entries(changed: readonly Message[], history?: true): Generator<SessionEvent, void> {
    for (const entry of changed)
      if (isItem(entry)) yield { type: 'item', sessionId: copy.id!, item: entry, history };
      else yield { type: 'new_message', sessionId: copy.id!, message: entry, history };
  }

  /** Yields the newest `limit` entries of a first page; later calls yield all new entries. */
  async function* load(limit: number): AsyncGenerator<SessionEvent, void> {
    const { changed } = await copy.load(Math.max(limit, openItems));
    const { messagesError } = copy.state;
    const session = copy.session!;
    yield { type: 'session_update', session };
    // A session without a first turn has an empty history.
    const isBeginning =
      messagesError?.code === 'SESSION_NOT_RESOLVED' && isPlaceholder(parseSessionId(session.id)?.nativeId ?? '');
    if (messagesError && !isBeginning && limit > 0) yield { type: 'history_error', ...messagesError };
    yield* entries(hasPage ? changed : changed.slice(Math.max(0, changed.length - limit)), true);
    hasPage ||= !messagesError;
    if (once && taskId === undefined && session.lastTask && !hasEnded(session.lastTask.state))
      taskId = session.lastTask.id;
    await look(session);
  }

  /** Returns the place in a first page after the sent message, or else after the newest message of a user. */
  const beginOf = (all: readonly Message[]): number => {
    const own = all.findIndex(({ uuid }) => uuid === begin.sent?.uuid);
    return (own >= 0 ? own : all.findLastIndex(({ role }) => role === 'USER')) + 1;
  };

  async function* read(work: () => Promise<Loaded | undefined>): AsyncGenerator<SessionEvent, void> {
    try {
      const { changed } = (await work()) ?? { changed: [] };
      yield* entries(hasPage ? changed : changed.slice(beginOf(changed)));
      hasPage = true;
    } catch (error) {
      // The next frame leads to another attempt.
      if (!(error instanceof Failure)) throw error;
      yield { type: 'history_error', code: error.code, error: error.message };
    }
  }
  const catchUp = () => read(() => copy.catchUp(signal));

  async function* applyFrame(frame: AnyFrame): AsyncGenerator<SessionEvent, void> {
    const changed = copy.apply(frame);
    // This session can be among them.
    if (frame.type === 'sessions_changed') return yield* load(openItems);
    if (changed === undefined) return;
    switch (frame.type) {
      case 'session_update':
        yield frame;
        return look(frame.session);
      case 'new_message':
        if (changed.length > 0) yield frame;
        return;
      case 'transcript': {
        const replaced = new Set<unknown>();
        for (const operation of frame.ops as readonly unknown[])
          if (isOperation(operation) && operation.op !== 'add') replaced.add(uuidOf(operation));
        for (const event of entries(changed))
          yield event.type === 'item' && !replaced.has(event.item.uuid) ? { ...event, grows: true } : event;
        return;
      }
      case 'task_output':
      case 'device_status':
        yield frame;
        return;
      case 'session_removed':
      case 'device_removed':
        over = true;
        taskId = undefined;
        yield frame;
    }
  }

  async function* apply(happening: Happening): AsyncGenerator<SessionEvent, void> {
    if (happening.kind === 'lost') {
      yield { type: 'connection', state: 'lost', why: happening.why, waitMs: happening.waitMs };
    } else if (happening.kind === 'connected') {
      yield { type: 'connection', state: 'back' };
      if (happening.resumed) copy.connected(true);
    } else if (happening.kind === 'gap') {
      yield { type: 'resync' };
      copy.doubt();
      yield* load(openItems);
    } else yield* applyFrame(happening.frame);
    if (over && taskId !== undefined && copy.isUnsure) yield* read(() => copy.loadChanges());
    else if (copy.isBehind && !over) yield* catchUp();
  }

  const doubted = () => copy.doubted();
  return { load, apply, catchUp, doubted, isOver: () => over, taskId: () => taskId, sessionId: () => copy.id! };
}
