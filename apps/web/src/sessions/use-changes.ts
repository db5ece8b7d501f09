/**
 * Actions on sessions of the list. Deleted and archived sessions leave it at once; the request is sent when undoing is no longer
 * possible.
 */
import { useCallback, useMemo, useState } from 'react';
import type { Session } from '@relay/protocol';
import { type Refusal, refusalOf } from '../api/refusal.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { type Later, useLater } from './later.ts';

/** As `POST /api/sessions/bulk` takes them. */
const atOnce = 100;

export interface Changes {
  /** Sessions that are gone from the list already. */
  hidden: ReadonlySet<string>;
  later: Later;
  refusal: Refusal | undefined;
  archive: (sessions: readonly Session[]) => void;
  remove: (sessions: readonly Session[]) => void;
  /** Pins them, or takes the pin from all of them when each has one. */
  pin: (sessions: readonly Session[]) => void;
  /** Marks one as unread, or as read. */
  mark: (session: Session) => void;
}

export const titleOf = ({ title }: Session): string => (title === '' ? words.untitled : title);

export function useChanges(): Changes {
  const { client } = useRooms();
  const later = useLater();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [refusal, setRefusal] = useState<Refusal>();
  const attempt = useCallback(async (work: () => Promise<unknown>) => {
    setRefusal(undefined);
    try {
      await work();
    } catch (error) {
      setRefusal(refusalOf(error));
    }
  }, []);
  const { plan } = later;
  const withdraw = useCallback(
    (action: 'archive' | 'unarchive' | 'delete', sessions: readonly Session[], text: string) => {
      const ids = sessions.map(({ id }) => id);
      const back = () => setHidden((now) => new Set([...now].filter((id) => !ids.includes(id))));
      const work = async () => {
        for (let at = 0; at < ids.length; at += atOnce) {
          const filter = {
            ids: ids.slice(at, at + atOnce),
            ...(action === 'delete' ? { archived: 'all' as const } : {}),
          };
          // The page might close before the request completes.
          await client.call('changeSessions', { body: { action, filter }, keepalive: true });
        }
      };
      setHidden((now) => new Set([...now, ...ids]));
      plan(text, () => attempt(work).finally(back), back);
    },
    [client, plan, attempt],
  );
  const acts = useMemo(() => {
    const { list } = words;
    const one = (sessions: readonly Session[]) => (sessions.length === 1 ? titleOf(sessions[0]!) : undefined);
    return {
      archive: (sessions: readonly Session[]) => {
        // Lists have either the one or the other.
        const isBack = sessions.every(({ archived }) => archived);
        const [name, count] = [one(sessions), sessions.length];
        const dropped = sessions.reduce((sum, { later: waiting }) => sum + (waiting?.count ?? 0), 0);
        withdraw(
          isBack ? 'unarchive' : 'archive',
          sessions,
          isBack ? list.unarchivedNow(name, count) : list.archivedNow(name, count, dropped),
        );
      },
      remove: (sessions: readonly Session[]) =>
        withdraw('delete', sessions, list.removed(one(sessions), sessions.length)),
      pin: (sessions: readonly Session[]) => {
        const pinned = !sessions.every((session) => session.pinned);
        void attempt(async () => {
          for (const { id } of sessions) await client.call('updateSession', { params: { id }, body: { pinned } });
        });
      },
      mark: ({ id, unread }: Session) =>
        void attempt(() =>
          unread
            ? client.call('markRead', { params: { id }, body: {} })
            : client.call('markUnread', { params: { id } }),
        ),
    };
  }, [client, attempt, withdraw]);
  return { hidden, later, refusal, ...acts };
}
