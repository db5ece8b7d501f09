/**
 * A message was accepted with images because the daemon took them, and the daemon that connected since does not. It is not sent:
 * without its images it says something else. The task fails, and the user hears why.
 */
import { randomUUID } from 'node:crypto';
import { type Publisher, message } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import { type ClaimedTask, type Database, addNotification, endTask, readSessions, withDevice } from '@relay/database';
import { taskErrors } from '@relay/protocol';
import type { DaemonConnection } from './connection.ts';
import type { GatewayMetrics } from './metrics.ts';

export interface UnsupportedDeps {
  config: Pick<RelayConfig, 'dedupeWindowMs'>;
  database: Database;
  publisher: Publisher;
  metrics: GatewayMetrics;
  notify: () => void;
}

/** Returns the end of a claimed task with `NOT_SUPPORTED_BY_DEVICE`. */
export function createUnsupported({ config, database, publisher, metrics, notify }: UnsupportedDeps) {
  return async (connection: DaemonConnection, { id: taskId, sessionKey }: ClaimedTask): Promise<void> => {
    const error = taskErrors.NOT_SUPPORTED_BY_DEVICE;
    const { notified, ended, record } = await withDevice(database, connection.deviceId, async (tx) => {
      const ended = await endTask(tx, taskId, { kind: 'failed', code: 'NOT_SUPPORTED_BY_DEVICE', error });
      const notification = { sessionKey, cause: 'failed', taskId, windowMs: config.dedupeWindowMs } as const;
      const notified = ended === 'ended' && (await addNotification(tx, notification));
      const [record] = await readSessions(tx, [sessionKey]);
      return { notified, ended, record };
    });
    if (ended !== 'ended' || !record) return;
    metrics.tasks.inc({ state: 'failed' });
    const said = message(randomUUID(), 'SYSTEM', error, new Date().toISOString());
    await publisher.sayEnd(record.ownerId, record.key, record.session.id, said);
    await publisher.session(record);
    if (notified) notify();
  };
}
