/**
 * Clears outdated notifications from screens, where a service can (ntfy 2.16 and newer): answered questions, results that were
 * read. Best effort: only the newest 500 that this instance sent. Otherwise a message stays until the next one about its session
 * (rules, 14.45).
 */
import { type ClaimedDelivery, type Database, shownDeliveries } from '@relay/database';
import type { Guard } from './guard.ts';
import { ntfyClearRequest } from './ntfy.ts';
import type { Poster } from './post.ts';
import type { Seal } from './sealed.ts';
import { type Target, addressOf } from './targets.ts';

const mostShown = 500;

export interface Screens {
  /** The service has accepted it. */
  shown(delivery: ClaimedDelivery): void;
  /** Clears notifications that are outdated now. Rejects only if the database does. */
  clear(): Promise<void>;
}

interface ScreensDeps {
  database: Database;
  seal: Seal;
  guard: Guard;
  /** Guarded. */
  poster: Poster;
}

export function createScreens({ database, seal, guard, poster }: ScreensDeps): Screens {
  /** Delivery ids, oldest first. */
  const shown = new Set<string>();
  const clearOne = async (sealed: string, topic: string) => {
    const target = seal.open(sealed) as Target | undefined;
    if (target?.kind !== 'ntfy' || 'why' in guard.check(addressOf(target) ?? '')) return;
    // A server that is older, or does not answer, keeps its message: nothing is tried again.
    await poster.post(ntfyClearRequest(target, topic)).catch(() => undefined);
  };
  return {
    shown: ({ id, kind, sessionId, isDigest }) => {
      if (kind !== 'ntfy' || sessionId === '' || isDigest) return;
      shown.add(id);
      const [oldest] = shown;
      if (shown.size > mostShown) shown.delete(oldest!);
    },
    clear: async () => {
      if (shown.size === 0) return;
      const ids = [...shown];
      const rows = await shownDeliveries(database, ids);
      const stay = new Set(rows.filter(({ over, replaced }) => !over && !replaced).map(({ id }) => id));
      for (const id of ids) if (!stay.has(id)) shown.delete(id);
      const ended = rows.filter(({ over, replaced }) => over && !replaced);
      await Promise.all(ended.map(({ sealed, sessionId }) => clearOne(sealed, sessionId)));
    },
  };
}
