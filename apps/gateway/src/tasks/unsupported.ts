/**
 * The relay accepted a message with images, or for an agent, because the daemon declared support, but the daemon that
 * connected since lacks it. The relay does not send it: it would mean something else, or reach another agent. The task
 * fails, and the user learns why.
 */
import { randomUUID } from 'node:crypto';
import { type Publisher, message } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import { type ClaimedTask, type Database, addNotification, endTask, readSessions, withDevice } from '@relay/database';
import { taskErrors } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { conversation } from '../sessions/speech.ts';

interface UnsupportedDeps {
  config: Pick<RelayConfig, 'dedupeWindowMs'>;
  database: Database;
  publisher: Publisher;
  metrics: GatewayMetrics;
  notify: () => void;
}

type Code = 'NOT_SUPPORTED_BY_DEVICE' | 'AGENT_NOT_OFFERED';
export type Unsupported = (connection: DaemonConnection, task: ClaimedTask, code: Code) => Promise<void>;

/** Returns a function that fails a claimed task with one of these codes. */
export function createUnsupported({ config, database, publisher, metrics, notify }: UnsupportedDeps): Unsupported {
  return async (connection, { id: taskId, sessionKey }, code) => {
    const error = taskErrors[code];
    const { notified, ended, record } = await withDevice(database, connection.deviceId, async (tx) => {
      const ended = await endTask(tx, taskId, { kind: 'failed', code, error });
      const notification = { sessionKey, cause: 'failed', taskId, windowMs: config.dedupeWindowMs } as const;
      const notified = ended === 'ended' && (await addNotification(tx, notification));
      const [record] = await readSessions(tx, [sessionKey]);
      return { notified, ended, record };
    });
    if (ended !== 'ended' || !record) return;
    metrics.tasks.inc({ state: 'failed' });
    const reason = message(randomUUID(), 'SYSTEM', error, new Date().toISOString());
    await publisher.sayEnd(conversation(connection, record), reason);
    await publisher.session(record);
    if (notified) notify();
  };
}
