/**
 * One conversation as it goes on: the history, then live messages, until the caller stops or a task has ended. Everything
 * it yields is what `--json` prints, line by line; how it looks to people is decided elsewhere.
 */
import {
  type Attention,
  type Message,
  type Session,
  type SessionDetail,
  type Task,
  isPlaceholder,
  parseSessionId,
} from '@relay/protocol';
import { type Happening, happenings } from './happenings.ts';
import type { Wait } from './patience.ts';
import type { Relay } from './relay.ts';
import { type Told, createTranscript } from './transcript.ts';

export type Said =
  | Told
  | Attention<'session_update'>
  | Attention<'task_output'>
  | Attention<'device_status'>
  | Attention<'session_removed'>
  | Attention<'device_removed'>
  | Wait
  /** Something may have been missed; what can be had by REST follows. */
  | { type: 'resync' }
  /** The task that was waited for has ended. */
  | { type: 'task'; task: Task };

interface Begin {
  sessionId: string;
  /** The task whose end is the end. */
  taskId?: string;
  /** The message that the person has just sent; it is not shown again. */
  said?: Message;
  /** Nothing of it can have happened before the stream was live, so the frames have everything, in order. */
  isNew?: boolean;
}

export interface FollowWish {
  relay: Relay;
  signal: AbortSignal;
  /** Called once, when nothing that happens from now on can be missed. */
  begin: () => Promise<Begin>;
  /** Number of messages or items of the history. */
  history: number;
  output: boolean;
  /** End with the task of `begin`, else with what runs now; at once if nothing does. */
  once: boolean;
}

/** The relay counts a session as open for five minutes after it was read, and daemons report more about open ones (rules, 14.2). */
const keepOpenMs = 240_000;

export const hasEnded = (state: Task['state']): boolean => !['queued', 'sent', 'running'].includes(state);

/** @throws Failure of calls and of the stream */
export async function* follow(wish: FollowWish): AsyncGenerator<Said, void> {
  const { relay, signal, output } = wish;
  let conversation: Conversation | undefined;
  let keepOpen: NodeJS.Timeout | undefined;
  try {
    for await (const happening of happenings({ relay, output, signal })) {
      if (happening.kind === 'connected' && !conversation) {
        const begin = await wish.begin();
        conversation = createConversation(wish, begin);
        const { sessionId } = conversation;
        const look = () => relay.call('readSession', { params: { id: sessionId() }, query: { limit: 1 }, retries: 0 });
        keepOpen = setInterval(() => void look().catch(() => undefined), keepOpenMs);
        // Its state may be ahead of the frames that are still to come, and would end this before them.
        if (!begin.isNew) yield* conversation.load(wish.history);
      } else if (conversation) yield* conversation.hear(happening);
      if (conversation?.isOver()) break;
    }
    const taskId = conversation?.isOver() ? conversation.taskId() : undefined;
    if (taskId !== undefined) yield { type: 'task', task: await relay.call('readTask', { params: { id: taskId } }) };
  } finally {
    clearInterval(keepOpen);
  }
}

type Conversation = ReturnType<typeof createConversation>;

function createConversation({ relay, once, signal }: FollowWish, begin: Begin) {
  const ids = new Set([begin.sessionId]);
  let { sessionId, taskId } = begin;
  let deviceId = parseSessionId(sessionId)?.deviceId;
  let over = false;
  let updatedAt = '';
  let lastLook = '';
  const transcript = createTranscript({ relay, signal, said: begin.said, sessionId: () => sessionId });

  /** Is the end there? Asks the relay only when the session has moved on without saying so. */
  const look = async (session: Session): Promise<void> => {
    if (!once || over) return;
    const { lastTask } = session;
    if (taskId === undefined) over = session.status !== 'active';
    else if (lastTask?.id === taskId) over = hasEnded(lastTask.state);
    else {
      const now = `${lastTask?.id} ${lastTask?.state} ${session.status}`;
      if (now === lastLook) return;
      lastLook = now;
      over = hasEnded((await relay.call('readTask', { params: { id: taskId } })).state);
    }
  };

  const adopt = (session: Session) => {
    ids.add(session.id);
    sessionId = session.id;
    deviceId = session.deviceId;
    updatedAt = session.updatedAt;
  };

  async function* load(limit: number): AsyncGenerator<Said, void> {
    const {
      messages,
      hasMore,
      oldestUuid: _oldest,
      newestUuid: _newest,
      messagesError,
      v,
      reset,
      ...session
    }: SessionDetail = await relay.call('readSession', { params: { id: sessionId }, query: transcript.query(limit) });
    adopt(session);
    yield { type: 'session_update', session };
    // A session that has not begun has no past, and that is no error.
    const isBeginning =
      messagesError?.code === 'SESSION_NOT_RESOLVED' && isPlaceholder(parseSessionId(session.id)?.nativeId ?? '');
    if (messagesError && !isBeginning && limit > 0) yield { type: 'history_error', ...messagesError };
    yield* transcript.take({ messages, v, reset, hasMore }, limit);
    if (once && taskId === undefined && session.lastTask && !hasEnded(session.lastTask.state))
      taskId = session.lastTask.id;
    await look(session);
  }

  /** The relay no longer knows the session, nor its tasks. */
  function* end(frame: Attention<'session_removed' | 'device_removed'>): Generator<Said, void> {
    over = true;
    taskId = undefined;
    yield frame;
  }

  async function* hear(happening: Happening): AsyncGenerator<Said, void> {
    if (happening.kind === 'lost') {
      yield { type: 'connection', state: 'lost', why: happening.why, waitMs: happening.waitMs };
    } else if (happening.kind === 'connected') {
      yield { type: 'connection', state: 'back' };
    } else if (happening.kind === 'gap') {
      yield { type: 'resync' };
      yield* load(reloadMessages);
    } else {
      const { frame } = happening;
      switch (frame.type) {
        case 'session_update':
          if (!ids.has(frame.session.id) && !ids.has(frame.previousId ?? '')) return;
          // Frames of two instances about one session may arrive in either order.
          if (frame.previousId === undefined && frame.session.updatedAt < updatedAt) return;
          adopt(frame.session);
          yield frame;
          return look(frame.session);
        case 'new_message':
          if (ids.has(frame.sessionId)) yield* transcript.hearMessage(frame);
          return;
        case 'transcript':
          if (ids.has(frame.sessionId)) yield* transcript.hear(frame);
          return;
        case 'task_output':
          if (ids.has(frame.sessionId)) yield frame;
          return;
        case 'device_status':
          if (frame.deviceId === deviceId) yield frame;
          return;
        case 'sessions_changed':
          // Ours may be among them.
          return yield* load(reloadMessages);
        case 'session_removed':
          if (ids.has(frame.sessionId)) yield* end(frame);
          return;
        case 'device_removed':
          if (frame.deviceId === deviceId) yield* end(frame);
      }
    }
  }

  return { load, hear, isOver: () => over, taskId: () => taskId, sessionId: () => sessionId };
}

/** How far back a reload looks for what was missed. */
const reloadMessages = 50;
