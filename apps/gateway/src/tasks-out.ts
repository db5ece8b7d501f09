/**
 * Queued tasks → the daemon: claim the rows, then write. A row that was claimed is never claimed again, so a task reaches a
 * daemon at most once (rules, 2.1). A task whose claim the database lost (rules, 15.6) is not written again if this connection shows that the
 * daemon has it. One run at a time per connection; a wake-up during a run causes one more run.
 */
import {
  type ClaimedTask,
  type Database,
  claimOwned,
  devicesWithQueue,
  imagesOf,
  timeOfUlid,
  unclaimTask,
  unclaimUnwritten,
  withDevice,
  withOwned,
} from '@relay/database';
import type { Cancels } from './cancels.ts';
import type { DaemonConnection } from './connection.ts';
import { gathered } from './gather.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Unsupported } from './unsupported.ts';
import { type Publisher } from '@relay/attention';
import { capabilities, imageSupport } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';

export interface TaskWriter {
  /**
   * Writes what is due. `woken`: something probably is, and nothing asks first. Returns when nothing is left, or the connection has
   * ended. Never throws.
   */
  drain(connection: DaemonConnection, woken?: 'woken'): Promise<void>;
  /** An error cut off a claim: some tasks may be `sent` in the database and nowhere else, until the next `drain` puts them back. */
  hasOpenClaim(connection: DaemonConnection): boolean;
}

interface TaskWriterDeps {
  database: Database;
  publisher: Publisher;
  metrics: GatewayMetrics;
  cancels: Cancels;
  /** Ends a claimed task whose images this daemon does not take. */
  unsupported: Unsupported;
}

export function createTaskWriter({ database, publisher, metrics, cancels, unsupported }: TaskWriterDeps): TaskWriter {
  const running = new WeakMap<DaemonConnection, { again: boolean; woken: boolean; done: Promise<void> }>();
  /** From before tasks of these are claimed until each task was written, ended or put back. */
  const claiming = new WeakSet<DaemonConnection>();

  const hasQueue = gathered(
    async (deviceIds) => new Map((await devicesWithQueue(database, deviceIds)).map((id) => [id, true] as const)),
  );

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
          if (await writeDue(connection, woken)) run.again = true;
        } while (run.again);
      } catch (error) {
        // Queued tasks still wait. A task that was claimed, perhaps without our knowing, keeps the claim open: the next wake-up or
        // sweep puts it back first.
        connection.logger.warn({ err: error }, 'queued tasks could not be written');
      } finally {
        running.delete(connection);
      }
    })();
    return run.done;
  };

  const remember = ({ memory, fence }: DaemonConnection, task: ClaimedTask, more: { writtenAtMs?: number } = {}) =>
    memory.tasks.set(task.id, {
      id: task.id,
      sessionKey: task.sessionKey,
      state: 'sent',
      fence,
      mentionedAtMs: Date.now(),
      ...more,
    });

  /** The question that a message answers, for a daemon that names its questions; any other daemon gets the words alone. */
  const answerOf = (connection: DaemonConnection, { promptUuid, answer }: ClaimedTask) => {
    if (promptUuid === undefined || !connection.capabilities.includes(capabilities.prompts)) return {};
    const { option, fields, digest, on } = answer ?? {};
    return {
      prompt_uuid: promptUuid,
      ...(option === undefined ? {} : { option_id: option }),
      ...(fields === undefined ? {} : { fields }),
      ...(digest === undefined ? {} : { digest }),
      ...(on === undefined ? {} : { answered_on: on }),
    };
  };

  /** True when there may be more. */
  const writeDue = async (connection: DaemonConnection, woken: boolean): Promise<boolean> => {
    const { memory } = connection;
    if (!connection.live || !memory.taskPhase.mayWrite) return false;
    if (claiming.has(connection)) await putBack(connection);
    // Most looks find nothing. A later enqueue wakes again, so the check needs no lock.
    if (!woken && !(await hasQueue(connection.deviceId))) return false;
    // Before the claim: it may be committed although its answer never comes.
    claiming.add(connection);
    const { tasks: claimed, sessions: records } = await claimOwned(database, connection);
    if (claimed.length === 0) {
      claiming.delete(connection);
      return false;
    }
    // Nothing runs in these sessions: what is remembered of them was cancelled, and the daemon may not know.
    const sessions = new Set(claimed.map((task) => task.sessionKey));
    if ([...memory.tasks.values()].some((task) => sessions.has(task.sessionKey))) await cancels.repeat([connection]);
    const written: string[] = [];
    const marked: Promise<void>[] = [];
    let again = claimed.length >= 100;
    // Large tasks come last: the others need not wait until the daemon has read them.
    claimed.sort((a, b) => Number(a.hasImages) - Number(b.hasImages));
    for (const task of claimed) {
      if (memory.mayHave(task)) {
        connection.logger.warn(
          { taskId: task.id },
          'the database was set back: it had queued a task that the daemon may have; the task is not sent again',
        );
        remember(connection, task);
        written.push(task.sessionKey);
        continue;
      }
      const offers = connection.offers(task.agentType);
      if (!offers || (task.hasImages && imageSupport(connection) === 'no')) {
        await unsupported(connection, task, offers ? 'NOT_SUPPORTED_BY_DEVICE' : 'AGENT_NOT_OFFERED');
        again = true;
        continue;
      }
      const images = task.hasImages ? await imagesFor(connection, task.id) : {};
      if (!images) continue;
      const project = task.projectPath === '' ? {} : { project_path: task.projectPath };
      const keepsUuids = connection.can('transcript');
      const named = keepsUuids ? { message_uuid: userItemUuid(task.id) } : {};
      const bytesLeft = connection.send(
        task.kind === 'start'
          ? {
              type: 'task_start',
              task_id: task.id,
              instruction: task.instruction,
              ...project,
              ...images,
              ...named,
              ...(task.agentType === connection.agentType ? {} : { agent_type: task.agentType }),
            }
          : {
              type: 'task_resume',
              task_id: task.id,
              session_id: task.nativeId,
              message: task.instruction,
              ...project,
              ...images,
              ...named,
              ...answerOf(connection, task),
            },
      );
      if (!bytesLeft) {
        await withDevice(database, connection.deviceId, (tx) => unclaimTask(tx, task.id, connection.fence));
        continue;
      }
      metrics.tasks.inc({ state: 'sent' });
      const writtenAtMs = Date.now();
      const acceptedAtMs = timeOfUlid(task.id);
      if (memory.couldBeWritten(task.sessionKey, acceptedAtMs))
        metrics.deliveries.observe(Math.max(0, writtenAtMs - acceptedAtMs) / 1000);
      remember(connection, task, { writtenAtMs });
      written.push(task.sessionKey);
      // The daemon may tell us what the user said: the apps know it already. Asked for before the daemon can answer, and awaited when
      // all is written: a task that is cancelled meanwhile must not be written after its cancel.
      if (keepsUuids) continue;
      marked.push(publisher.markSaid(connection.ownerId, task.sessionKey, { role: 'USER', content: task.instruction }));
    }
    claiming.delete(connection);
    await Promise.all(marked);
    await Promise.all(records.filter(({ key }) => written.includes(key)).map((record) => publisher.session(record)));
    return again;
  };

  /**
   * Tasks of an earlier claim that an error cut off before they were written go back to the queue. It is certain that they were
   * not written: a task is remembered in the same turn in which it is written, and forgotten only after its end was committed, so
   * that it is no longer `sent`. (The fence excludes tasks forgotten after a newer connection took over.) A claim that
   * may still be committed holds the lock of the device, and nothing is claimed meanwhile: there is one run at a time.
   */
  const putBack = async (connection: DaemonConnection): Promise<void> => {
    const { deviceId, fence, memory } = connection;
    await withOwned(database, connection, (tx) => unclaimUnwritten(tx, deviceId, fence, [...memory.tasks.keys()]));
    claiming.delete(connection);
  };

  /**
   * One message with images at a time is on its way: together they could be more than a socket may hold. Undefined: the task
   * is not to be written, because it was cancelled meanwhile, or is queued again.
   */
  const imagesFor = async (connection: DaemonConnection, taskId: string): Promise<{ images: string[] } | undefined> => {
    try {
      await connection.drained();
      const images = await imagesOf(database, taskId);
      return images && { images };
    } catch (error) {
      connection.logger.warn({ err: error }, 'images could not be read');
      await withDevice(database, connection.deviceId, (tx) => unclaimTask(tx, taskId, connection.fence));
      return undefined;
    }
  };

  return { drain, hasOpenClaim: (connection) => claiming.has(connection) };
}
