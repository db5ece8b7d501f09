/** One session as it is right now: loaded once, then kept up by frames. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { TranscriptCopy } from '@relay/client';
import type { AttentionFrame, Item, Message, Session, SessionDetail } from '@relay/protocol';
import { pageSize } from '../api/bounds.ts';
import { keepsLast, loadLast } from '../offline/kept.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { type Resource, useResource } from '../ui/resource.ts';
import { isInSight } from '../ui/sight.ts';
import { merged, messagesKept, renewed, withMessage, withOlder } from './messages.ts';
import { type Said, shownOf, withSaid } from './said.ts';
import { useDoubt } from './use-doubt.ts';

export interface Conversation {
  session: Session;
  /** In the order in which they are shown. */
  messages: Message[];
  /** The daemon's own list, when it keeps a transcript. */
  items: readonly Item[] | undefined;
  said: readonly Said[];
  /** Of `items` something is missing: they must be asked for again. */
  isBehind: boolean;
  hasMore: boolean;
  /** The number of older messages that were loaded, from a daemon without a transcript. */
  asked?: number | undefined;
  /** Why the history is not there. */
  messagesError: SessionDetail['messagesError'];
  /** The newest part of what the running task writes, from a daemon without a transcript. */
  output: string;
  removed: boolean;
  /** The machine can't be asked: this was read here before, at this time. Whether there is more before it is not known. */
  asOf?: string | undefined;
}

const outputKept = 64 * 1024;
/** The relay has the daemon watch a session for five minutes after a person opened it. */
const lookAgainMs = 4 * 60_000;
/** Missing items are asked for at most this often, and not by all tabs at once. */
const askAgainMs = 2000;
const askWithinMs = 500;

function sessionOf(detail: SessionDetail): Session {
  const {
    messages: _m,
    hasMore: _h,
    oldestUuid: _o,
    newestUuid: _n,
    messagesError: _e,
    v: _v,
    reset: _r,
    ...session
  } = detail;
  return session;
}

/** A tab keeps this many items of a transcript; older ones can be loaded again. */
const itemsKept = 5000;

function withItems(now: Conversation, items: readonly Item[], said = now.said): Conversation {
  if (items === now.items && said === now.said) return now;
  const wasCut = now.items?.[0] !== undefined && items[0] !== undefined && items[0].seq > now.items[0].seq;
  return { ...now, items, said, messages: shownOf(items, said), hasMore: now.hasMore || wasCut };
}

function withWords(now: Conversation, message: Message): Conversation {
  if (!now.items) {
    const messages = withMessage(now.messages, message, now.asked);
    const wasCut = now.messages[0] !== undefined && messages[0] !== now.messages[0];
    return { ...now, messages, hasMore: now.hasMore || wasCut };
  }
  const said = withSaid(now.said, now.items, message);
  return said === now.said ? now : withItems(now, now.items, said);
}

/** Applies a frame to the conversation; returns the same object if the frame is about something else. Idempotent. */
function after(now: Conversation, frame: AttentionFrame, copy: TranscriptCopy): Conversation {
  const { id } = now.session;
  if (frame.type === 'session_update' && (frame.session.id === id || frame.previousId === id)) {
    // Two instances that tell of one session may cross.
    if (frame.previousId === undefined && frame.session.updatedAt < now.session.updatedAt) return now;
    const isNewTask = frame.session.lastTask?.id !== now.session.lastTask?.id;
    return { ...now, session: frame.session, output: isNewTask ? '' : now.output };
  }
  if (!('sessionId' in frame) || frame.sessionId !== id) return now;
  if (frame.type === 'transcript') {
    copy.hear(frame);
    const next = copy.isBehind === now.isBehind ? now : { ...now, isBehind: copy.isBehind };
    return now.items ? withItems(next, copy.items) : next;
  }
  if (frame.type === 'new_message') return withWords(now, frame.message);
  if (frame.type === 'task_output') return { ...now, output: (now.output + frame.output).slice(-outputKept) };
  if (frame.type === 'session_removed') return { ...now, removed: true };
  return now;
}

interface UseConversation {
  resource: Resource<Conversation>;
  /** Puts in what this page has just said, or changed of the session, before the frame comes. */
  said: (message: Message) => void;
  changed: (session: Session) => void;
  loadOlder: () => Promise<void>;
}

/** @param first the first message, when the session was started on the page before */
export function useConversation(id: string, first: Message | undefined): UseConversation {
  const { access, client, live: stream } = useRooms();
  /** Live messages that arrived while the history was being loaded. */
  const live = useRef<Message[]>(first ? [first] : []);
  const shown = useRef<Conversation>(undefined);
  const updates = useRef(0);
  const askedAt = useRef(0);

  const [copy] = useState(() => new TranscriptCopy({ keep: itemsKept }));

  const resource = useResource(id, async (): Promise<Conversation> => {
    askedAt.current = Date.now();
    const changed = copy.v;
    const query = { limit: pageSize, parts: '1' as const, ...(changed === undefined ? {} : { changed }) };
    const detail = await client.call('readSession', { params: { id }, query });
    const { messagesError, hasMore } = detail;
    const now = shown.current;
    const base = { session: sessionOf(detail), messagesError, output: '', removed: false, isBehind: false };
    // A machine that does not answer right now takes nothing away that was read before.
    if (messagesError && now?.items) return { ...now, ...base };
    if (messagesError && now === undefined && keepsLast()) {
      const kept = await (await loadLast()).lastConversation(base.session.id);
      if (kept)
        return {
          ...base,
          ...{ messages: kept.messages.map((one) => one), hasMore: false, said: [], asOf: kept.at },
          items: kept.areItems ? (kept.messages as readonly Item[]) : undefined,
        };
    }
    if (messagesError || detail.v === undefined) {
      const { messages: before = [], asked, hasMore: hadMore, asOf } = now ?? {};
      const messages = messagesError ? merged(before, live.current) : renewed(before, detail.messages, live.current);
      const isLonger = before.findIndex(({ uuid }) => uuid === detail.messages[0]?.uuid) > 0;
      const more = messagesError || (isLonger && asOf === undefined) ? hadMore === true : hasMore;
      return { ...base, messages, items: undefined, said: [], asked, hasMore: more, asOf: messagesError && asOf };
    }
    copy.take(detail);
    const { items, isBehind } = copy;
    const isWhole = changed === undefined || detail.reset === true;
    const beganAt = isWhole && hasMore ? Date.parse(items[0]?.timestamp ?? '') : Number.NaN;
    const said = (now?.items ? now.said.map(({ message }) => message) : live.current)
      .filter(({ timestamp }) => !(Date.parse(timestamp) < beganAt))
      .reduce<readonly Said[]>((all, message) => withSaid(all, items, message), isWhole ? [] : (now?.said ?? []));
    const loaded = {
      ...base,
      isBehind,
      items: undefined,
      said,
      messages: [],
      hasMore: isWhole ? hasMore : !!now?.hasMore,
    };
    return withItems(loaded, items);
  });
  const { change, reload } = resource;
  const known = resource.kind === 'ready' ? resource.value : undefined;
  useEffect(() => {
    shown.current = known;
  });
  const said = (message: Message) => {
    live.current = withMessage(live.current, message).slice(-messagesKept);
    change((now) => withWords(now, message));
  };
  // Of the rest it may know less by now than a frame said meanwhile.
  const changed = ({ title, archived, pinned, notify, watched }: Session) =>
    change((now) => ({ ...now, session: { ...now.session, title, archived, pinned, notify, watched } }));

  const onDoubt = useCallback(() => change((now) => (now.items ? { ...now, isBehind: true } : now)), [change]);
  const check = useDoubt(stream, copy, onDoubt, known && known.session.runningSince !== undefined);

  const hear = (frame: AttentionFrame) => {
    if (frame.type === 'resync' || frame.type === 'sessions_changed') reload();
    if (frame.type === 'session_update') updates.current += 1;
    const isOurs = 'sessionId' in frame && frame.sessionId === (known?.session.id ?? id);
    if (frame.type === 'new_message' && isOurs) {
      live.current = withMessage(live.current, frame.message);
      check(frame.message);
    }
    if (
      frame.type === 'device_status' &&
      frame.deviceId === known?.session.deviceId &&
      frame.status === 'online' &&
      known.messagesError
    )
      reload();
    change((now) => after(now, frame, copy));
  };
  useFrames(hear);
  // A session that was started on the page before: the agent may have begun while this page was on its way.
  const isNew = first !== undefined;
  useEffect(() => {
    if (!isNew) return;
    for (const frame of stream.recent()) {
      if (frame.type === 'new_message' && frame.sessionId === id)
        live.current = withMessage(live.current, frame.message);
      change((now) => after(now, frame, copy));
    }
  }, [isNew, id, stream, change, copy]);

  useEffect(() => {
    if (known === undefined || known.messagesError || known.messages.length === 0 || !keepsLast()) return;
    const { session, messages } = known;
    const areItems = known.items !== undefined;
    loadLast().then(
      ({ keepConversation }) => keepConversation(() => access.person, { session, messages, areItems }),
      () => undefined,
    );
  }, [access, known]);

  const isBehind = known?.isBehind === true;
  const items = known?.items;
  useEffect(() => {
    if (!isBehind) return undefined;
    const waitMs = Math.max(Math.random() * askWithinMs, askedAt.current + askAgainMs - Date.now());
    const timer = setTimeout(reload, waitMs);
    return () => clearTimeout(timer);
    // Another list: it was asked for, and something else is missing by now.
  }, [isBehind, items, reload]);

  useEffect(() => {
    const timer = setInterval(() => {
      if (!isInSight()) return;
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

  const oldest = (items ?? known?.messages)?.[0]?.uuid;
  const loadOlder = useCallback(async () => {
    if (oldest === undefined) return;
    const query = { limit: pageSize, before: oldest, parts: '1' as const };
    const page = await client.call('readMessages', { params: { id }, query });
    if (page.v !== undefined) copy.takeOlder(page);
    change((now) => {
      const next = { ...now, hasMore: page.hasMore };
      if (now.items) return withItems(next, copy.items);
      const messages = withOlder(page.messages, now.messages);
      return { ...next, messages, asked: (now.asked ?? 0) + messages.length - now.messages.length };
    });
  }, [client, id, oldest, change, copy]);
  return { resource, said, changed, loadOlder };
}
