/** The inbox for components. */
import { useEffect, useSyncExternalStore } from 'react';
import { useRooms } from '../rooms.ts';
import type { InboxView } from './store.ts';

export function useInbox(): InboxView {
  const { inbox } = useRooms();
  return useSyncExternalStore(inbox.subscribe, () => inbox.state);
}

/** A completed turn needs no attention once its session is in front of the person: this page is visible and has the focus. */
export function useSeen(sessionId: string): void {
  const { inbox } = useRooms();
  const finished = useInbox().items.find((item) => item.kind === 'finished' && item.sessionId === sessionId)?.id;
  useEffect(() => {
    if (finished === undefined) return undefined;
    const see = () => {
      // Tried again with the next focus.
      if (document.visibilityState === 'visible' && document.hasFocus()) inbox.ack(finished).catch(() => undefined);
    };
    see();
    window.addEventListener('focus', see);
    document.addEventListener('visibilitychange', see);
    return () => {
      window.removeEventListener('focus', see);
      document.removeEventListener('visibilitychange', see);
    };
  }, [inbox, finished]);
}

/** Sessions with an open question. */
export const askingSessions = ({ items, snoozed }: InboxView): string[] =>
  [...items, ...snoozed].flatMap(({ kind, sessionId }) => (kind === 'question' && sessionId ? [sessionId] : []));

/** Sessions whose questions are all hidden for a while. */
export function snoozedSessions({ items, snoozed }: InboxView): ReadonlySet<string> {
  const asking = new Set(items.filter(({ kind }) => kind === 'question').map(({ sessionId }) => sessionId));
  return new Set(
    snoozed.flatMap(({ kind, sessionId }) =>
      kind === 'question' && sessionId !== undefined && !asking.has(sessionId) ? [sessionId] : [],
    ),
  );
}
