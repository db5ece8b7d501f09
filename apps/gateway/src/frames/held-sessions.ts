/** MEANING of `held` in a report, and of `session_held`: sessions that another program of the machine has open (rules, 24.3). */
import type { Publisher } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import { type Database, findNativeSession, notifyOfHeld, replaceHeld, saveHeld, withOwned } from '@relay/database';
import { type FromDaemon, type Held, type ReportEntry, isNativeId } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';

export interface HeldSessions {
  save(connection: DaemonConnection, frame: FromDaemon<'session_held'>): Promise<void>;
  /** A report replaces all: a session whose entry has no `held` is not held. */
  replace(connection: DaemonConnection, entries: readonly ReportEntry[]): Promise<void>;
}

interface HeldDeps {
  config: Pick<RelayConfig, 'deskWaitMs'>;
  database: Database;
  publisher: Publisher;
  notify: () => void;
}

const maxBytes = 1024;
/** Programs of one device that can wait at a time. */
const maxWaiting = 1000;

/** Drops the members of a newer daemon; returns undefined for more bytes than a row keeps. */
function bounded(held: Held | null | undefined): Held | undefined {
  if (!held) return undefined;
  const { state, program, terminal, why, waits, since, at, sure, ends } = held;
  const kept = JSON.stringify({ state, program, terminal, why, waits, since, at, sure, ends });
  return Buffer.byteLength(kept) > maxBytes ? undefined : (JSON.parse(kept) as Held);
}

export function createHeldSessions(deps: HeldDeps): HeldSessions {
  const { database, publisher } = deps;
  const attend = createReminders(deps);

  const publish = async ({ sessions }: DaemonConnection, keys: readonly string[]) => {
    for (const key of keys) sessions.forgetRecords(key);
    if (keys.length > 0) await publisher.sessions(keys);
  };

  return {
    async save(connection, { session_id: nativeId, held }) {
      if (!connection.can('desk') || !isNativeId(nativeId)) return;
      const found = await findNativeSession(database, connection.deviceId, nativeId);
      if (!found) return;
      const kept = bounded(held);
      const changed = await withOwned(database, connection, (tx) => saveHeld(tx, found.key, kept ?? null));
      attend(connection, nativeId, kept);
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
      const waiting = [...connection.sessions.waitingPrograms].map(([nativeId]) => nativeId);
      for (const nativeId of new Set([...waiting, ...reported.keys()]))
        attend(connection, nativeId, reported.get(nativeId));
      await publish(connection, keys ?? []);
    },
  };
}

/** Returns the function that notes the state of a program, and notifies the person after a long wait (rules, 24.8). */
function createReminders({ config, database, notify }: HeldDeps) {
  const remind = async (connection: DaemonConnection, nativeId: string, at: string) => {
    if (!connection.live) return;
    const found = await findNativeSession(database, connection.deviceId, nativeId);
    const notified = found && (await withOwned(database, connection, (tx) => notifyOfHeld(tx, found.key, at)));
    if (notified) notify();
  };

  return (connection: DaemonConnection, nativeId: string, held: Held | undefined): void => {
    const { waitingPrograms } = connection.sessions;
    const before = waitingPrograms.get(nativeId);
    const at = held?.state === 'waiting' ? held.at : undefined;
    if (before?.at === at) return;
    clearTimeout(before?.timer);
    waitingPrograms.delete(nativeId);
    if (at === undefined || !connection.live || waitingPrograms.size >= maxWaiting) return;
    const timer = setTimeout(() => {
      remind(connection, nativeId, at).catch((error: unknown) =>
        connection.logger.warn({ err: error }, 'no notification about a program that waits'),
      );
    }, config.deskWaitMs);
    timer.unref();
    waitingPrograms.set(nativeId, { at, timer });
  };
}
