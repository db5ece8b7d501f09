/** MEANING of `held` in a report, and of `session_held`: sessions that another program of the machine has open (rules, 24.3). */
import type { Publisher } from '@relay/attention';
import { type Database, findNativeSession, replaceHeld, saveHeld, withOwned } from '@relay/database';
import { type FromDaemon, type Held, type ReportEntry, isNativeId } from '@relay/protocol';
import type { DaemonConnection } from './connection.ts';

export interface HeldSessions {
  handle(connection: DaemonConnection, frame: FromDaemon<'session_held'>): Promise<void>;
  /** A report replaces all: a session whose entry has no `held` is not held. */
  replace(connection: DaemonConnection, entries: readonly ReportEntry[]): Promise<void>;
}

const maxBytes = 1024;

/** Drops the members of a newer daemon; returns undefined for more bytes than a row keeps. */
function bounded(held: Held | null | undefined): Held | undefined {
  if (!held) return undefined;
  const { state, program, terminal, why, waits, since, at, sure, ends } = held;
  const kept = JSON.stringify({ state, program, terminal, why, waits, since, at, sure, ends });
  return Buffer.byteLength(kept) > maxBytes ? undefined : (JSON.parse(kept) as Held);
}

export function createHeldSessions({
  database,
  publisher,
}: {
  database: Database;
  publisher: Publisher;
}): HeldSessions {
  const publish = async ({ memory }: DaemonConnection, keys: readonly string[]) => {
    for (const key of keys) memory.forgetRecord(key);
    if (keys.length > 0) await publisher.sessions(keys);
  };

  return {
    async handle(connection, { session_id: nativeId, held }) {
      if (!connection.can('desk') || !isNativeId(nativeId)) return;
      const found = await findNativeSession(database, connection.deviceId, nativeId);
      if (!found) return;
      const changed = await withOwned(database, connection, (tx) => saveHeld(tx, found.key, bounded(held) ?? null));
      await publish(connection, changed ? [found.key] : []);
    },
    async replace(connection, entries) {
      if (!connection.can('desk')) return;
      const reported = new Map(
        entries.flatMap(({ session_id: nativeId, held }): [string, Held][] => {
          const kept = bounded(held);
          return kept ? [[nativeId, kept]] : [];
        }),
      );
      const sessions = [...reported].map(([nativeId, held]) => ({ nativeId, held }));
      const keys = await withOwned(database, connection, (tx, device) => replaceHeld(tx, device.id, sessions));
      await publish(connection, keys ?? []);
    },
  };
}
