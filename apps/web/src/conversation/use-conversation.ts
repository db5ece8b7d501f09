/** One session, live: a copy that frames keep current, as a resource of the page. */
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { SessionCopy, type SessionState } from '@relay/client';
import type { Message, Session } from '@relay/protocol';
import { pageSize } from '../api/bounds.ts';
import { keepsLast, loadLast } from '../offline/kept.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { type Resource, useResource } from '../ui/resource.ts';
import { isInSight } from '../ui/sight.ts';

export type LoadedConversation = SessionState & { readonly session: Session };

/** The relay has the daemon watch a session for five minutes after a person opened it. */
const lookAgainMs = 4 * 60_000;
/** A tab keeps this many items or messages; it can load older ones again. */
const kept = 5000;

interface UseConversation {
  resource: Resource<LoadedConversation>;
  /** Adds a message that this page has just sent, before its frame comes. */
  add: (message: Message) => void;
  /** Applies a change that this page has just made, before its frame comes. */
  edit: (session: Session) => void;
  loadOlder: () => Promise<void>;
}

/** @param first the first message, when the session was started on the page before */
export function useConversation(id: string, first: Message | undefined): UseConversation {
  const { access, client, live } = useRooms();
  const [copy] = useState(() => {
    const begun = new SessionCopy({ client, id, keep: kept, pageItems: pageSize });
    if (first) begun.add(first);
    return begun;
  });
  const loaded = useResource(id, async () => {
    await copy.load();
    const { session, messagesError, asOf } = copy.state;
    if (messagesError && copy.isPlain === undefined && asOf === undefined && keepsLast()) {
      const last = await (await loadLast()).lastConversation(session!.id);
      if (last) copy.restore(last.messages, last.areItems, last.at);
    }
    return copy.state as LoadedConversation;
  });
  const { reload } = loaded;
  const state = useSyncExternalStore(
    useCallback((listener) => copy.subscribe(once(listener)), [copy]),
    () => copy.state,
  );
  const isReady = loaded.kind === 'ready';

  useFrames((frame) => {
    if (frame.type === 'resync' || frame.type === 'sessions_changed') return reload();
    copy.apply(frame);
    if (frame.type === 'device_status' && frame.status === 'online' && copy.concerns(frame) && copy.state.messagesError)
      reload();
  });
  useEffect(
    () =>
      live.subscribe(() => {
        if (live.state.kind === 'live') copy.connected(live.state.resumed);
      }),
    [live, copy],
  );
  // A session that was started on the page before: its agent can begin while this page loads.
  const isNew = first !== undefined;
  useEffect(() => {
    if (isNew) for (const frame of live.recent()) if (frame.type !== 'resync') copy.apply(frame);
  }, [isNew, live, copy]);

  useEffect(() => {
    const { session, messages, items, messagesError } = state;
    if (!isReady || !session || messagesError || messages.length === 0 || !keepsLast()) return;
    loadLast().then(
      ({ keepConversation }) =>
        keepConversation(() => access.person, { session, messages, areItems: items !== undefined }),
      () => undefined,
    );
  }, [access, isReady, state]);

  const { isBehind } = state;
  useEffect(() => {
    if (!isReady || !isBehind) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    const catchUp = async () => {
      while (copy.isBehind && !signal.aborted) await copy.catchUp(signal);
    };
    catchUp().catch(reload);
    return () => leaving.abort();
  }, [isReady, isBehind, copy, reload]);

  useEffect(() => {
    const timer = setInterval(() => void (isInSight() && copy.look().catch(() => undefined)), lookAgainMs);
    return () => clearInterval(timer);
  }, [copy]);

  return {
    resource: loaded.kind === 'ready' ? { ...loaded, value: state as LoadedConversation } : loaded,
    add: (message) => void copy.add(message),
    // Frames can have brought newer values of the other fields.
    edit: ({ title, archived, pinned, notify, watched }) => copy.edit({ title, archived, pinned, notify, watched }),
    loadOlder: async () => void (await copy.loadOlder()),
  };
}

/** Calls the listener once for all changes of the same moment: frames come in bursts. */
function once(listener: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      listener();
    });
  };
}
