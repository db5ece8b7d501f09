/** Publishes the sessions that a report changed: each by itself, or, from 50 on, that many did (rules, 11.10). */
import type { Publisher } from '@relay/attention';
import { type Database, readSessions } from '@relay/database';

/** From this many changes in one report, clients that understand `sessions_changed` get it instead of each session. */
const many = 50;

interface ReportNews {
  /** These sessions changed in the database. Calls must not repeat keys of earlier calls. */
  add(keys: readonly string[]): Promise<void>;
  /** Publishes the rest; the last call. */
  end(): Promise<void>;
}

export function createReportNews(database: Database, publisher: Publisher, ownerId: string): ReportNews {
  /** Held back until it is known whether there are many; then empty for good. */
  let held: readonly string[] = [];
  let count = 0;

  const publishSingly = async (keys: readonly string[]) => {
    // All in one turn: one command for the backplane.
    await Promise.all((await readSessions(database, keys)).map((record) => publisher.sessionSingle(record)));
  };

  return {
    add: async (keys) => {
      count += keys.length;
      held = [...held, ...keys];
      if (count < many) return;
      const pending = held;
      held = [];
      await publishSingly(pending);
    },
    end: async () => {
      if (count < many) await publisher.sessions(held);
      else await publisher.append(ownerId, { type: 'sessions_changed', count }, 'x');
    },
  };
}
