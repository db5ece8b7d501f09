/**
 * MEANING of the question events of a daemon with `prompts`, beside WAIT_FOR_USER (rules, chapter 5): another question
 * opens, the agent withdraws a question, a list of open questions after a connect. Write first, publish second.
 */
import { type Publisher, message } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import {
  type Database,
  type Db,
  addNotification,
  cancelledAmong,
  closePrompt,
  dismissedAmong,
  isBeyondOpen,
  openBeside,
  supersedeOmitted,
  withDevice,
  withOwned,
} from '@relay/database';
import { type DaemonEvent, type FromDaemon, capabilities } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { NativeSessions } from './native-sessions.ts';
import { conversation } from '../sessions/text-publisher.ts';
import type { TaskWriter } from '../tasks/tasks-out.ts';
import { namedPrompt } from '../sessions/translate.ts';

type PromptEvent = DaemonEvent<'PROMPT_OPEN'> | DaemonEvent<'PROMPT_CLOSED'>;

export const isPromptEvent = (event: DaemonEvent): event is PromptEvent =>
  event.event_type === 'PROMPT_OPEN' || event.event_type === 'PROMPT_CLOSED';

export interface Prompts {
  apply(connection: DaemonConnection, event: PromptEvent): Promise<void>;
  /**
   * The first `status` of a connection: closes a question that it omits, and repeats a dismissal that the daemon
   * missed.
   */
  firstStatus(connection: DaemonConnection, frame: FromDaemon<'status'>): Promise<void>;
}

interface PromptDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  writer: TaskWriter;
  sessions: NativeSessions;
  notify: () => void;
  metrics: Pick<GatewayMetrics, 'ignored'>;
}

export function createPrompts(deps: PromptDeps): Prompts {
  const { database, publisher, writer, config } = deps;

  const opened = async (connection: DaemonConnection, event: DaemonEvent<'PROMPT_OPEN'>) => {
    const { session_id: id, question } = event;
    const taskId = event.task_id ?? '';
    const isCancelled = async (db: Db) => (await cancelledAmong(db, [connection.deviceId], [taskId])).length > 0;
    const record = await deps.sessions.find(connection, id ?? '');
    if (!record) {
      // Its session was deleted while the daemon was away: the turn must not wait for an answer that no one can give.
      if (await isCancelled(database)) connection.send({ type: 'task_cancel', task_id: taskId });
      return;
    }
    const now = new Date();
    const { key } = record;
    const { isDismissed, isNew, isBeyond, notified } = await withDevice(database, connection.deviceId, async (tx) => {
      const isDismissed = await isCancelled(tx);
      const isNew = !isDismissed && (await openBeside(tx, key, namedPrompt(question, now)));
      const cause = { sessionKey: key, cause: 'needs_you', windowMs: config.dedupeWindowMs } as const;
      const isBeyond = !isDismissed && !isNew && (await isBeyondOpen(tx, key, question.uuid));
      return { isDismissed, isNew, isBeyond, notified: isNew && (await addNotification(tx, cause)) };
    });
    if (isDismissed) {
      connection.send({ type: 'task_cancel', task_id: taskId });
      return;
    }
    connection.sessions.forgetRecords(key);
    if (isBeyond) {
      deps.metrics.ignored.inc({ cause: 'question beyond the bound' });
      connection.warnOnce(
        'a session has as many open questions as it may: another one is a message until its daemon asks again',
      );
    }
    if (isNew || isBeyond)
      await publisher.publishMessage(
        conversation(connection, record),
        message(question.uuid, 'AGENT', question.title, now.toISOString()),
        [question.uuid],
      );
    // Also of a repetition: an instance that died had perhaps written it and published nothing.
    await publisher.sessions([key]);
    if (notified) deps.notify();
  };

  const closed = async (connection: DaemonConnection, event: DaemonEvent<'PROMPT_CLOSED'>) => {
    const record = await deps.sessions.find(connection, event.session_id ?? '');
    if (!record) return;
    const changed = await withDevice(database, connection.deviceId, async (tx) => {
      const isClosed = await closePrompt(tx, record.key, event);
      if (isClosed) connection.report.complete(record.nativeId);
      return isClosed;
    });
    if (!changed) return;
    connection.sessions.forgetRecords(record.key);
    await publisher.sessions([record.key]);
    writer.resume(connection);
  };

  return {
    apply: (connection, event) =>
      event.event_type === 'PROMPT_OPEN' ? opened(connection, event) : closed(connection, event),
    firstStatus: async (connection, { open_prompts: open, running_tasks: running }) => {
      if (!connection.capabilities.includes(capabilities.prompts) || open === undefined || open === null) return;
      const keys = await withOwned(database, connection, (tx) => supersedeOmitted(tx, connection.deviceId, open));
      await publisher.sessions(keys ?? []);
      for (const id of await dismissedAmong(database, connection.deviceId, open))
        if (!running.includes(id)) connection.send({ type: 'task_cancel', task_id: id });
    },
  };
}
