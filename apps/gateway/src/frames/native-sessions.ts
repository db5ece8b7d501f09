/** The sessions of a daemon by their native ids: found, or made known to the relay when a frame names a new one. */
import type { Publisher } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import {
  type Database,
  type SessionFacts,
  type SessionRecord,
  applyReport,
  findNativeSession,
  readSessions,
  withDevice,
} from '@relay/database';
import { isNativeId } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { clockAheadMs, reportFacts } from '../sessions/translate.ts';
import type { Unnamed } from '../history/unnamed.ts';

interface NativeSessionDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  unnamed: Unnamed;
  metrics: GatewayMetrics;
}

export interface NativeSessions {
  /**
   * The session of a native id of this device; created and published if it is new. Undefined: the id is invalid,
   * counted under `cause`, or the device reached its session limit, counted as such.
   */
  find(
    connection: DaemonConnection,
    nativeId: string,
    cause?: 'unknown session' | 'unknown task',
  ): Promise<SessionRecord | undefined>;
}

/**
 * How to apply these and all later facts: a timestamp in the future shows how far the daemon's clock is ahead.
 * `discover`: creates unknown sessions.
 */
export function readingOf({ report }: DaemonConnection, facts: readonly SessionFacts[], discover: boolean) {
  report.noteClock(clockAheadMs(facts, Date.now()));
  return { discover, clockAheadMs: report.clockAheadMs };
}

/** New sessions that are too many for the device are counted, and logged once per connection. */
export function countLeftOut(metrics: GatewayMetrics, connection: DaemonConnection, leftOut: number): void {
  if (leftOut === 0) return;
  metrics.ignored.inc({ cause: 'sessions of a device' }, leftOut);
  connection.warnOnce('the device has as many sessions as SESSIONS_PER_DEVICE allows: new ones are left out', {
    leftOut,
  });
}

export function createNativeSessions(deps: NativeSessionDeps): NativeSessions {
  const { config, database, publisher, unnamed, metrics } = deps;

  const findExisting = async ({ sessions, deviceId }: DaemonConnection, nativeId: string) => {
    const key = sessions.keys.get(nativeId);
    const [remembered] = key === undefined ? [] : await readSessions(database, [key]);
    const record = remembered ?? (await findNativeSession(database, deviceId, nativeId));
    if (record) sessions.keys.set(nativeId, record.key);
    return record;
  };

  const discover = async (connection: DaemonConnection, nativeId: string, cause: string) => {
    const { deviceId } = connection;
    const fact = reportFacts({ session_id: nativeId });
    const { record, leftOut } = await withDevice(database, deviceId, async (tx, device) => {
      if (!device) return { record: undefined, leftOut: 0 };
      const reading = { ...readingOf(connection, [fact], true), maxSessions: config.sessionsPerDevice };
      const { leftOut } = await applyReport(tx, device, [fact], reading);
      // Look it up by name, not by the changed rows: a report that this event overtook might have created it during the
      // wait.
      return { record: await findNativeSession(tx, deviceId, nativeId), leftOut };
    });
    countLeftOut(metrics, connection, leftOut);
    if (!record) {
      if (leftOut === 0) metrics.ignored.inc({ cause });
      return undefined;
    }
    // Publish it before its first message: apps must know the session of a message.
    await publisher.session(record);
    unnamed.look(connection);
    return record;
  };

  return {
    find: async (connection, nativeId, cause = 'unknown session') => {
      if (!isNativeId(nativeId)) {
        metrics.ignored.inc({ cause });
        return undefined;
      }
      return (await findExisting(connection, nativeId)) ?? discover(connection, nativeId, cause);
    },
  };
}
