/**
 * MEANING of the events that complete a task (rules, 11.4): TASK_COMPLETE, WAIT_FOR_USER and ERROR. Write first,
 * publish second.
 */
import type { Publisher } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import {
  type Database,
  type Ended,
  type Outcome,
  type SessionRecord,
  addNotification,
  cancelledAmong,
  continueAfterLimit,
  endTask,
  findDeliveredTask,
  readSessions,
  settleTask,
  withDevice,
} from '@relay/database';
import { type DaemonEvent, type NotificationCause, cutText, readTime } from '@relay/protocol';
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { Outcomes } from '../history/outcomes.ts';
import type { ProgressBoard } from '../sessions/progress.ts';
import { publishResolution, resolveNamed } from '../sessions/resolution.ts';
import { type OutcomeEvent, type TextPublisher, endMessage } from '../sessions/text-publisher.ts';
import type { TaskWriter } from '../tasks/tasks-out.ts';
import type { Transcript } from './transcript.ts';
import { nativeIdOf, prompt } from '../sessions/translate.ts';
import type { Watching } from '../sessions/watching.ts';

interface EndingDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  watching: Watching;
  progress: ProgressBoard;
  writer: TaskWriter;
  outcomes: Outcomes;
  textPublisher: TextPublisher;
  transcript: Transcript;
  metrics: GatewayMetrics;
  notify: () => void;
  requestSearch: (deviceId: string, taskId: string) => void;
}

/** Codes that a daemon can send with the outcome of a task. */
const endCodes = ['PROMPT_SUPERSEDED', 'SETTING_NOT_APPLIED', 'USAGE_LIMIT', 'FILE_MISSING'] as const;
/** The longest window of a plan, with room. A later time counts as not reported. */
const limitAheadMs = 40 * 86_400_000;
/** A clock time without a date or a zone can be another day: a session continues by itself only after these. */
const exactSources: ReadonlySet<string> = new Set(['figures', 'words']);

/** Settles a task as its daemon reports. `sessionKey`: as far as this connection knows. */
export type Endings = (
  connection: DaemonConnection,
  taskId: string,
  sessionKey: string,
  event: Received<OutcomeEvent>,
) => Promise<void>;

const causes: Record<Outcome['kind'], NotificationCause> = {
  completed: 'done',
  waiting: 'needs_you',
  failed: 'failed',
};

function outcomeOf(event: OutcomeEvent, taskId: string, now: Date): Outcome {
  if (event.event_type === 'TASK_COMPLETE') return { kind: 'completed', result: event.result };
  if (event.event_type === 'ERROR') {
    const code = endCodes.find((code) => code === event.code) ?? 'AGENT_ERROR';
    return { kind: 'failed', code, error: event.error, ...(code === 'USAGE_LIMIT' && { limit: limitOf(event, now) }) };
  }
  return { kind: 'waiting', prompt: prompt(event, taskId, now), alone: !event.question };
}

/** The limit as the daemon reports it. A time that has passed, or cannot be, counts as not reported. */
function limitOf({ limit }: DaemonEvent<'ERROR'>, now: Date): { name: string; resetsAt?: string } {
  const at = readTime(limit?.resets_at ?? '');
  const aheadMs = at ? at.getTime() - now.getTime() : 0;
  const isAhead = aheadMs > 0 && aheadMs <= limitAheadMs;
  return { name: cutText(limit?.name ?? '', 128), ...(at && isAhead ? { resetsAt: at.toISOString() } : {}) };
}

/** Whether the event changed the task. */
const isWritten = (ended: Ended) => ended === 'ended' || ended === 'resumed' || ended === 'settled';

export function createEndings(deps: EndingDeps): Endings {
  const { config, database, progress, metrics, textPublisher } = deps;
  /**
   * The task whose outcome this connection wrote last. If an error stops it here, the outcome might be committed but
   * not published.
   */
  const unpublished = new WeakMap<DaemonConnection, string>();

  const write = async (
    connection: DaemonConnection,
    taskId: string,
    sessionKey: string,
    event: OutcomeEvent,
    outcome: Outcome,
  ) => {
    const isWordless = outcome.kind !== 'waiting' && endMessage(event, new Date()).content.trim() === '';
    const noteReported = (record: SessionRecord) => connection.report.complete(record.nativeId);
    const { deviceId } = connection;
    if (!isWordless && connection.tasks.has(taskId)) {
      unpublished.set(connection, taskId);
      const windowMs = config.dedupeWindowMs;
      const settled = await settleTask(database, {
        ...{ deviceId, taskId, outcome, windowMs },
        nativeId: nativeIdOf(event),
      });
      if (settled) {
        noteReported(settled.record);
        return { ...settled, resolved: undefined, task: undefined, others: [] };
      }
      unpublished.delete(connection);
    }
    return withDevice(database, deviceId, async (tx) => {
      const resolved = await resolveNamed(tx, connection.deviceId, sessionKey, event);
      const key = resolved?.key ?? sessionKey;
      // Read it before the outcome clears the instruction, which the history search needs.
      const task = isWordless ? await findDeliveredTask(tx, taskId) : undefined;
      const ended = await endTask(tx, taskId, outcome);
      const limit = outcome.kind === 'failed' && ended === 'ended' ? outcome.limit : undefined;
      const resetsAt = readTime(limit?.resetsAt ?? '');
      const ttlMs = config.queueTtlDefaultSeconds * 1000;
      const isExact = event.event_type === 'ERROR' && exactSources.has(event.limit?.source ?? '');
      const others = resetsAt ? await continueAfterLimit(tx, { deviceId, taskId, resetsAt, isExact, ttlMs }) : [];
      if (isWritten(ended)) unpublished.set(connection, taskId);
      // A question waits for its person, however the task stood before.
      const isNext = ended === 'resumed' || (ended === 'settled' && outcome.kind === 'waiting');
      const notification = {
        sessionKey: key,
        cause: causes[outcome.kind],
        taskId,
        windowMs: config.dedupeWindowMs,
        isNext,
      };
      // Neither needs the rows of the other.
      const [notified, [record]] = await Promise.all([
        (ended === 'ended' || isNext) && addNotification(tx, notification),
        readSessions(tx, [key]),
      ]);
      if (record) noteReported(record);
      return { ended, notified, record, resolved, task, others };
    });
  };

  return async (connection, taskId, sessionKey, event) => {
    const now = new Date();
    const outcome = outcomeOf(event, taskId, now);
    const { tasks } = connection;
    // The database might have committed an earlier attempt whose error kept this connection from publishing.
    const isAgain = unpublished.get(connection) === taskId;
    const sinceMs = tasks.get(taskId)?.writtenAtMs;
    const { ended, notified, record, resolved, task, others } = await write(
      connection,
      taskId,
      sessionKey,
      event,
      outcome,
    );
    unpublished.delete(connection);
    const isNew = isWritten(ended) || (isAgain && ended === 'repeated');
    tasks.forget(taskId);
    progress.drop(sessionKey);
    if (isNew) metrics.tasks.inc({ state: outcome.kind });
    if (record) {
      await publishResolution(deps, connection, record, resolved);
      // A daemon that was cut off repeats its last message: apps have it.
      if (isNew || ended === 'late')
        await textPublisher.publishEnd(connection, record, endMessage(event, now), {
          ...(sinceMs !== undefined && { sinceMs }),
        });
      // An instance might have crashed after the write and before the publish: publish the state, perhaps twice.
      if (isNew || ended === 'repeated') await deps.publisher.session(record);
      if (!isNew && resolved?.previousId !== undefined) deps.requestSearch(connection.deviceId, taskId);
    } else await deps.transcript.ofLostTask(connection, taskId, event);
    await deps.publisher.sessions(others);
    connection.evidence.complete(taskId);
    // It was cancelled before its question arrived, which no app ever shows.
    if (ended === 'late' && outcome.kind === 'waiting')
      for (const id of await cancelledAmong(database, [connection.deviceId], [taskId]))
        connection.send({ type: 'task_cancel', task_id: id });
    if (notified || isAgain) deps.notify();
    if (task && (isNew || ended === 'confirmed')) deps.outcomes.ofWordless(connection, task, outcome.kind === 'failed');
    deps.writer.resume(connection);
  };
}
