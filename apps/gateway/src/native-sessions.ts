/** The sessions of a daemon by their native ids: found, or made known to the relay when a frame names a new one. */
import type { Publisher } from '@relay/attention';
import {
  type Database,
  type SessionFacts,
  type SessionRecord,
  applyFacts,
  findNativeSession,
  readSessions,
  withDevice,
} from '@relay/database';
import { isNativeId } from '@relay/protocol';
import type { DaemonConnection } from './connection.ts';
import { clockAheadMs, reportFacts } from './translate.ts';
import type { Unnamed } from './unnamed.ts';

interface NativeSessionDeps {
  database: Database;
  publisher: Publisher;
  unnamed: Unnamed;
}

export interface NativeSessions {
  /** The session of a native id of this device; made known to the relay and published if it is new. Undefined: no session can have this id. */
  find(connection: DaemonConnection, nativeId: string): Promise<SessionRecord | undefined>;
}

/**
 * How to apply these facts, and every one after them: by how much the clock of a daemon is ahead is learned from what it says about the
 * future. `discover`: sessions that are not known yet are made known.
 */
export function readingOf({ memory }: DaemonConnection, facts: readonly SessionFacts[], discover: boolean) {
  memory.clockAheadMs = Math.max(memory.clockAheadMs, clockAheadMs(facts, Date.now()));
  return { discover, clockAheadMs: memory.clockAheadMs };
}

export function createNativeSessions({ database, publisher, unnamed }: NativeSessionDeps): NativeSessions {
  const findKnown = async ({ memory, deviceId }: DaemonConnection, nativeId: string) => {
    const key = memory.keys.get(nativeId);
    const [remembered] = key === undefined ? [] : await readSessions(database, [key]);
    const record = remembered ?? (await findNativeSession(database, deviceId, nativeId));
    if (record) memory.rememberKey(nativeId, record.key);
    return record;
  };

  const discover = async (connection: DaemonConnection, nativeId: string) => {
    const { deviceId } = connection;
    const fact = reportFacts({ session_id: nativeId });
    const record = await withDevice(database, deviceId, async (tx, device) => {
      if (!device) return undefined;
      await applyFacts(tx, device, [fact], readingOf(connection, [fact], true));
      // By its name and not by what changed: a report that this event has passed may have made it known while this waited.
      return findNativeSession(tx, deviceId, nativeId);
    });
    if (!record) return undefined;
    // Before its first message: apps must know what that belongs to.
    await publisher.session(record);
    unnamed.look(connection);
    return record;
  };

  return {
    find: async (connection, nativeId) => {
      if (!isNativeId(nativeId)) return undefined;
      return (await findKnown(connection, nativeId)) ?? discover(connection, nativeId);
    },
  };
}
