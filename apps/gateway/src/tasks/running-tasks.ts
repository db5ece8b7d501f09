/** The tasks of a connection by the events that name them: found, and confirmed by the first event. */
import type { Publisher } from '@relay/attention';
import {
  type Database,
  type SessionRecord,
  confirmTask,
  findDeviceTask,
  readSessions,
  startRunning,
  withDevice,
} from '@relay/database';
import type { DaemonEvent } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { TaskEntry } from '../connection/open-tasks.ts';
import { publishResolution, resolveNamed } from '../sessions/resolution.ts';
import { nativeIdOf } from '../sessions/translate.ts';
import type { Watching } from '../sessions/watching.ts';

interface RunningTaskDeps {
  database: Database;
  publisher: Publisher;
  watching: Watching;
  metrics: GatewayMetrics;
}

export interface RunningTasks {
  /** The task of an event: from memory, else from the database (it was over before, or another instance sent it). */
  find(
    connection: DaemonConnection,
    taskId: string,
  ): Promise<TaskEntry | { sessionKey: string; ended: true } | undefined>;
  /** The session of a running task: from memory, else read, and remembered unless it changed during the read. */
  recordOf(connection: DaemonConnection, entry: TaskEntry): Promise<SessionRecord | undefined>;
  /**
   * The first event of a task, or a new name of its session: before completion only these events change state. Returns
   * the session; undefined if it was deleted.
   */
  confirm(connection: DaemonConnection, entry: TaskEntry, event: DaemonEvent): Promise<SessionRecord | undefined>;
}

/** Whether the event leaves the session its name. */
export function keepsName(event: DaemonEvent, record: SessionRecord): boolean {
  const nativeId = nativeIdOf(event);
  return nativeId === undefined || nativeId === record.nativeId;
}

export function createRunningTasks(deps: RunningTaskDeps): RunningTasks {
  const { database, publisher, metrics } = deps;

  const recordOf: RunningTasks['recordOf'] = async ({ sessions }, entry) => {
    if (entry.record) return entry.record;
    const { changes } = sessions;
    const [record] = await readSessions(database, [entry.sessionKey]);
    if (sessions.changes === changes) entry.record = record;
    return record;
  };

  return {
    recordOf,
    find: async (connection, taskId) => {
      const open = connection.tasks.get(taskId);
      if (open) return open;
      const found = await findDeviceTask(database, connection.deviceId, taskId);
      if (!found) return undefined;
      if (found.state !== 'sent' && found.state !== 'running') return { sessionKey: found.sessionKey, ended: true };
      const { id, sessionKey, state } = found;
      return connection.tasks.add({ id, sessionKey, state, fence: connection.fence });
    },
    confirm: async (connection, entry, event) => {
      if (entry.state === 'running') {
        const current = await recordOf(connection, entry);
        if (current && keepsName(event, current)) return current;
      }
      const wasSent = entry.state === 'sent';
      const nativeId = nativeIdOf(event);
      const confirmed = wasSent && (await confirmTask(database, { deviceId: connection.deviceId }, entry.id, nativeId));
      const { record, resolved } = confirmed
        ? { record: confirmed }
        : await withDevice(database, connection.deviceId, async (tx) => {
            const [, resolved] = await Promise.all([
              wasSent && startRunning(tx, entry.id),
              resolveNamed(tx, connection.deviceId, entry.sessionKey, event),
            ]);
            const [record] = await readSessions(tx, [resolved?.key ?? entry.sessionKey]);
            return { record, resolved };
          });
      entry.state = 'running';
      if (!record) return undefined;
      if (wasSent) metrics.tasks.inc({ state: 'running' });
      const open = connection.tasks.get(entry.id);
      if (open) Object.assign(open, { record, sessionKey: record.key });
      if (resolved?.previousId !== undefined) await publishResolution(deps, connection, record, resolved);
      else if (wasSent) await publisher.session(record);
      return record;
    },
  };
}
