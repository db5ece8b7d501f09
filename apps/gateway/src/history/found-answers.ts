/** Records the outcome that a daemon's history shows, and publishes it. */
import { type Publisher, message } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import {
  type Database,
  type DeliveredTask,
  type SessionRecord,
  addNotification,
  endTask,
  findDeliveredTask,
  notes,
  readSessions,
  withDevice,
  withOwned,
} from '@relay/database';
import type { TurnAnswer } from './answer.ts';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { ProgressBoard } from '../sessions/progress.ts';
import type { TextPublisher } from '../sessions/text-publisher.ts';
import type { TaskWriter } from '../tasks/tasks-out.ts';

export interface FoundAnswerDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  metrics: GatewayMetrics;
  progress: ProgressBoard;
  writer: TaskWriter;
  textPublisher: TextPublisher;
  /** A notification was written and is ready to send. */
  notify: () => void;
}

interface FoundAnswers {
  /** An open task completed with this answer. */
  complete(connection: DaemonConnection, taskId: string, answer: TurnAnswer): Promise<void>;
  /** As `complete`, for a task that was already settled as unknown or lost. */
  correct(connection: DaemonConnection, taskId: string, answer: TurnAnswer): Promise<void>;
  /**
   * Adds the text of an outcome that the daemon reported without one. `always`: publishes it even if the task did not
   * change.
   */
  addText(connection: DaemonConnection, task: DeliveredTask, answer: TurnAnswer, always: boolean): Promise<void>;
}

export function createFoundAnswers(deps: FoundAnswerDeps): FoundAnswers {
  const { config, database, publisher, textPublisher, metrics, progress, writer } = deps;

  /** The answer under the daemon's own name for it, so that its transcript does not repeat it. */
  const publish = async (
    connection: DaemonConnection,
    record: SessionRecord,
    { uuid, content, timestamp, earlier }: TurnAnswer,
    sinceMs: number | undefined,
  ) => {
    // Publish all texts of the turn, in order, except those already published live.
    for (const { uuid, content, timestamp } of await textPublisher.unpublished(connection, record, earlier, sinceMs))
      await textPublisher.publish(connection, record, {
        type: 'event',
        event_type: 'AGENT_RESPONSE',
        uuid,
        content,
        timestamp,
      });
    const last = message(uuid, 'AGENT', content, timestamp);
    await textPublisher.publishEnd(connection, record, last, { ...(sinceMs !== undefined && { sinceMs }) });
    await publisher.markPublished(record.ownerId, record.key, { uuid });
    await publisher.session(record);
  };

  return {
    complete: async (connection, taskId, answer) => {
      const { tasks } = connection;
      const completed = await withOwned(database, connection, async (tx) => {
        const task = await findDeliveredTask(tx, taskId);
        // An earlier connection completed it first: do not complete it again.
        if (!task || task.ended) return undefined;
        const { sessionKey } = task;
        const ended = await endTask(tx, taskId, { kind: 'completed', result: answer.content }, notes.history);
        const notification = { sessionKey, cause: 'done', taskId, windowMs: config.dedupeWindowMs } as const;
        const notified = ended === 'ended' && (await addNotification(tx, notification));
        const [record] = await readSessions(tx, [sessionKey]);
        return { ended, notified, record };
      });
      if (completed?.ended !== 'ended') return;
      const { notified, record } = completed;
      const entry = tasks.get(taskId);
      if (entry) progress.drop(entry.sessionKey);
      tasks.forget(taskId);
      metrics.tasks.inc({ state: 'completed' });
      if (record) await publish(connection, record, answer, entry?.writtenAtMs);
      if (notified) deps.notify();
      writer.resume(connection);
    },
    correct: async (connection, taskId, answer) => {
      const corrected = await withOwned(database, connection, async (tx) => {
        const task = await findDeliveredTask(tx, taskId);
        // A late event of the daemon counts more.
        if (!task?.doubtful) return undefined;
        const ended = await endTask(tx, taskId, { kind: 'completed', result: answer.content }, notes.history);
        const [record] = await readSessions(tx, [task.sessionKey]);
        return { ended, record, shown: task.result };
      });
      if (!corrected?.record || (corrected.ended !== 'settled' && corrected.ended !== 'resumed')) return;
      // Apps already got the text through a late event.
      if (corrected.shown.trim() === answer.content.trim()) await publisher.session(corrected.record);
      else await publish(connection, corrected.record, answer, undefined);
    },
    addText: async (connection, { id: taskId, sessionKey, sentAtMs }, answer, always) => {
      const { ended, record } = await withDevice(database, connection.deviceId, async (tx) => {
        const ended = await endTask(tx, taskId, { kind: 'completed', result: answer.content }, notes.history);
        const [record] = await readSessions(tx, [sessionKey]);
        return { ended, record };
      });
      // Another search for the same outcome might have finished first.
      if (record && (always || ended === 'settled' || ended === 'resumed'))
        await publish(connection, record, answer, sentAtMs);
    },
  };
}
