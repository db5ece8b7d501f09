/**
 * Queued tasks → the daemon: claim the rows (`task-claims.ts`), then write (`task-frames.ts`). A row that was claimed is never claimed
 * again, so a task reaches a daemon at most once (rules, 2.1). A task whose claim the database lost (rules, 15.6) is not written again if
 * this connection shows that the daemon has it. One run at a time per connection; a wake-up during a run causes one more run.
 */
import { randomUUID } from 'node:crypto';
import { type Publisher, message } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import {
  type ClaimedTask,
  type Database,
  addNotification,
  attachedOf,
  endTask,
  readSessions,
  timeOfUlid,
  withDevice,
} from '@relay/database';
import { imageSupport, taskErrors } from '@relay/protocol';
import type { Cancels } from './cancels.ts';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { outlast } from '../connection/outage.ts';
import { conversation } from '../sessions/text-publisher.ts';
import { createTaskClaims } from './task-claims.ts';
import { type AttachedFiles, taskFrame } from './task-frames.ts';

export interface TaskWriter {
  /**
   * Writes due tasks. `woken`: a task is probably due, so it skips the check. Returns when the queue is empty, the
   * connection closed, or the database was away for half a minute: then a sweep writes the rest. Never throws.
   */
  drain(connection: DaemonConnection, woken?: 'woken'): Promise<void>;
  /**
   * A task or question was settled: the newest connection of the device, perhaps on another instance, writes the tasks
   * that waited for it.
   */
  resume(connection: DaemonConnection): void;
  /**
   * An error interrupted a claim: some tasks might be `sent` in the database and nowhere else, until the next attempt
   * puts them back.
   */
  hasOpenClaim(connection: DaemonConnection): boolean;
}

interface TaskWriterDeps {
  config: Pick<RelayConfig, 'dedupeWindowMs'>;
  database: Database;
  publisher: Publisher;
  metrics: GatewayMetrics;
  cancels: Cancels;
  notify: () => void;
  /** Makes the instance that owns the device write due tasks. */
  wakeOwner: (deviceId: string) => void;
}

const remember = ({ tasks, fence }: DaemonConnection, task: ClaimedTask, more: { writtenAtMs?: number } = {}) =>
  tasks.add({
    id: task.id,
    sessionKey: task.sessionKey,
    isSteer: task.kind === 'steer',
    state: 'sent',
    fence,
    ...more,
  });

export function createTaskWriter(deps: TaskWriterDeps): TaskWriter {
  const { database, publisher, metrics, cancels } = deps;
  const unsupported = createUnsupported(deps);
  const claims = createTaskClaims(database);
  const running = new WeakMap<DaemonConnection, { again: boolean; woken: boolean; done: Promise<void> }>();

  const drain = (connection: DaemonConnection, woken?: 'woken'): Promise<void> => {
    const current = running.get(connection);
    if (current) {
      current.again = true;
      if (woken) current.woken = true;
      return current.done;
    }
    const run = { again: false, woken: woken !== undefined, done: Promise.resolve() };
    running.set(connection, run);
    run.done = (async () => {
      try {
        do {
          const { woken } = run;
          run.again = run.woken = false;
          await outlast(
            async () => {
              if (await writeDue(connection, woken)) run.again = true;
            },
            () => !connection.live,
          );
        } while (run.again);
      } catch (error) {
        // Queued tasks still wait. A task that was claimed, perhaps without our knowing, keeps the claim open: the next attempt puts it
        // back first.
        connection.logger.warn({ err: error }, 'queued tasks could not be written');
      } finally {
        running.delete(connection);
      }
    })();
    return run.done;
  };

  /** True when more tasks might be due. */
  const writeDue = async (connection: DaemonConnection, woken: boolean): Promise<boolean> => {
    const { tasks, evidence } = connection;
    if (!connection.live || !tasks.phase.mayWrite) return false;
    if (claims.isOpen(connection)) await claims.putBack(connection);
    // Most looks find nothing. A later enqueue wakes again, so the check needs no lock.
    if (!woken && !(await claims.hasQueue(connection.deviceId))) return false;
    evidence.beginClaim();
    const { tasks: claimed, sessions: records } = await claims.claim(connection);
    if (claimed.length === 0) return false;
    // Nothing runs in these sessions: remembered tasks there were cancelled, and the daemon might not know.
    const sessions = new Set(claimed.filter(({ kind }) => kind !== 'steer').map((task) => task.sessionKey));
    if ([...tasks].some(([, task]) => sessions.has(task.sessionKey))) await cancels.repeat([connection]);
    const written: string[] = [];
    const marked: Promise<void>[] = [];
    let again = claimed.length >= 100;
    // Large tasks come last: the others need not wait until the daemon has read them.
    claimed.sort((a, b) => Number(a.hasImages) - Number(b.hasImages));
    for (const task of claimed) {
      if (evidence.mayHave(task)) {
        connection.logger.warn(
          { taskId: task.id },
          'the database was set back: it had queued a task that the daemon may have; the task is not sent again',
        );
        remember(connection, task);
        written.push(task.sessionKey);
        continue;
      }
      // The daemon is another one since the message was accepted.
      if (task.kind === 'steer' && !connection.can('steer')) {
        await claims.giveUp(connection, task.id);
        again = true;
        continue;
      }
      const offers = connection.offers(task.agentType);
      const attached = offers && task.hasImages ? await attachedTo(connection, task.id) : {};
      if (!attached || evidence.isCancelledEarly(task.id)) continue;
      const hasMore =
        (attached.images && imageSupport(connection) === 'no') ||
        (attached.files && !connection.can('files')) ||
        (task.settings && !connection.can('controls'));
      if (!offers || hasMore) {
        await unsupported(connection, task, offers ? 'NOT_SUPPORTED_BY_DEVICE' : 'AGENT_NOT_OFFERED');
        again = true;
        continue;
      }
      if (!connection.send(taskFrame(connection, task, attached))) {
        await claims.requeue(connection, task.id);
        continue;
      }
      metrics.tasks.inc({ state: 'sent' });
      const writtenAtMs = Date.now();
      const acceptedAtMs = timeOfUlid(task.id);
      if (tasks.couldBeWritten(task.sessionKey, acceptedAtMs))
        metrics.deliveries.observe(Math.max(0, writtenAtMs - acceptedAtMs) / 1000);
      remember(connection, task, { writtenAtMs });
      written.push(task.sessionKey);
      // The daemon can send the user's message back, which apps have already. Start the mark before the daemon can
      // answer, and await it after all writes: a task cancelled during a wait must not be written after its cancel.
      if (connection.can('transcript')) continue;
      marked.push(
        publisher.markPublished(connection.ownerId, task.sessionKey, { role: 'USER', content: task.instruction }),
      );
    }
    claims.close(connection);
    await Promise.all(marked);
    await Promise.all(records.filter(({ key }) => written.includes(key)).map((record) => publisher.session(record)));
    return again;
  };

  /**
   * Sends one message with images at a time: together they could exceed the socket's buffer. Undefined: do not write
   * the task, because it was cancelled in between, or is queued again.
   */
  const attachedTo = async (connection: DaemonConnection, taskId: string): Promise<AttachedFiles | undefined> => {
    try {
      await connection.drained();
      return await attachedOf(database, taskId);
    } catch (error) {
      connection.logger.warn({ err: error }, 'images and files could not be read');
      await claims.requeue(connection, taskId);
      return undefined;
    }
  };

  const resume = (connection: DaemonConnection) => {
    if (connection.live) void drain(connection);
    else deps.wakeOwner(connection.deviceId);
  };

  return { drain, resume, hasOpenClaim: claims.isOpen };
}

type Code = 'NOT_SUPPORTED_BY_DEVICE' | 'AGENT_NOT_OFFERED';
type Unsupported = (connection: DaemonConnection, task: ClaimedTask, code: Code) => Promise<void>;

/**
 * The relay accepted a message with images, or for an agent, because the daemon declared support, but the daemon that
 * connected since lacks it. The relay does not send it: it would mean something else, or reach another agent. The task
 * fails, and the user learns why.
 */
function createUnsupported({ config, database, publisher, metrics, notify }: TaskWriterDeps): Unsupported {
  return async (connection, { id: taskId, sessionKey }, code) => {
    const error = taskErrors[code].sentence;
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
    await publisher.publishEnd(conversation(connection, record), reason);
    await publisher.session(record);
    if (notified) notify();
  };
}
