/** One session as it is right now: loaded once, then kept up by frames. */
import { useEffect, useRef } from 'react';
import type { AttentionFrame, Message, Session, SessionDetail } from '@relay/protocol';
import { pageSize } from '../api/bounds.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { type Resource, useResource } from '../ui/resource.ts';
import { merged, messagesKept, withMessage, withOlder } from './messages.ts';

export interface Conversation {
  session: Session;
  messages: Message[];
  hasMore: boolean;
  /** Why the history is not there. */
  messagesError: SessionDetail['messagesError'];
  /** The newest part of what the running task writes. */
  output: string;
  removed: boolean;
}

const outputKept = 64 * 1024;
/** The relay has the daemon watch a session for five minutes after somebody looked. */
const lookAgainMs = 4 * 60_000;

function sessionOf(detail: SessionDetail): Session {
  const { messages: _m, hasMore: _h, oldestUuid: _o, newestUuid: _n, messagesError: _e, ...session } = detail;
  return session;
}

/** What a frame makes of the conversation; the same object if it is about something else. */
function after(now: Conversation, frame: AttentionFrame): Conversation {
  const { id } = now.session;
  if (frame.type === 'session_update' && (frame.session.id === id || frame.previousId === id)) {
    // Two instances that tell of one session may cross.
    if (frame.previousId === undefined && frame.session.updatedAt < now.session.updatedAt) return now;
    const isNewTask = frame.session.lastTask?.id !== now.session.lastTask?.id;
    return { ...now, session: frame.session, output: isNewTask ? '' : now.output };
  }
  if (!('sessionId' in frame) || frame.sessionId !== id) return now;
  if (frame.type === 'new_message') return { ...now, messages: withMessage(now.messages, frame.message) };
  if (frame.type === 'task_output') return { ...now, output: (now.output + frame.output).slice(-outputKept) };
  if (frame.type === 'session_removed') return { ...now, removed: true };
  return now;
}

export interface UseConversation {
  resource: Resource<Conversation>;
  /** Puts in what this page has just said, or its new title and shelf, before the frame comes. */
  said: (message: Message) => void;
  changed: (session: Session) => void;
  loadOlder: () => Promise<void>;
}

/** @param first the first message, when the session was started on the page before */
export function useConversation(id: string, first: Message | undefined): UseConversation {
  const { client } = useRooms();
  /** What came live, for a history that was asked for before. */
  const live = useRef<Message[]>(first ? [first] : []);
  const shown = useRef<Message[]>([]);
  const updates = useRef(0);
  const resource = useResource(id, async (): Promise<Conversation> => {
    const detail = await client.call('readSession', { params: { id }, query: { limit: pageSize } });
    return {
      session: sessionOf(detail),
      // A machine that does not answer right now takes nothing away that was read before.
      messages: merged(detail.messagesError ? shown.current : detail.messages, live.current),
      hasMore: detail.hasMore,
      messagesError: detail.messagesError,
      output: '',
      removed: false,
    };
  });
  const { change, reload } = resource;
  useEffect(() => {
    if (resource.kind === 'ready') shown.current = resource.value.messages;
  });
  const said = (message: Message) => {
    live.current = withMessage(live.current, message).slice(-messagesKept);
    change((now) => ({ ...now, messages: withMessage(now.messages, message) }));
  };
  // Of the rest it may know less by now than a frame said meanwhile.
  const changed = ({ title, archived }: Session) =>
    change((now) => ({ ...now, session: { ...now.session, title, archived } }));

  useFrames((frame) => {
    if (frame.type === 'resync' || frame.type === 'sessions_changed') reload();
    if (frame.type === 'session_update') updates.current += 1;
    const known = resource.kind === 'ready' ? resource.value : undefined;
    const isOurs = 'sessionId' in frame && frame.sessionId === (known?.session.id ?? id);
    if (frame.type === 'new_message' && isOurs) live.current = withMessage(live.current, frame.message);
    if (
      frame.type === 'device_status' &&
      frame.deviceId === known?.session.deviceId &&
      frame.status === 'online' &&
      known.messagesError
    )
      reload();
    change((now) => after(now, frame));
  });

  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      const before = updates.current;
      client.call('readSession', { params: { id }, query: { limit: 1 } }).then(
        (detail) => {
          if (updates.current === before) change((now) => ({ ...now, session: sessionOf(detail) }));
        },
        () => undefined,
      );
    }, lookAgainMs);
    return () => clearInterval(timer);
  }, [client, id, change]);

  const loadOlder = async () => {
    const oldest = resource.kind === 'ready' ? resource.value.messages[0] : undefined;
    if (!oldest) return;
    const page = await client.call('readMessages', { params: { id }, query: { limit: pageSize, before: oldest.uuid } });
    change((now) => ({ ...now, messages: withOlder(page.messages, now.messages), hasMore: page.hasMore }));
  };
  return { resource, said, changed, loadOlder };
}
