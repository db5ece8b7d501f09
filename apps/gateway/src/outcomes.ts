/**
 * Asking a daemon's history for an outcome (contract §10). Daemons drop what they would say while they are disconnected, and some say
 * an end without its text: what they keep is their history. Never asked by a frame of a task that goes on; nothing here outlives
 * the connection, and a new one asks again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Publisher, message } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import {
  type AskedTask,
  type Database,
  type SessionRecord,
  addNotification,
  endTask,
  findAskedTask,
  forgetInstruction,
  notes,
  readSessions,
  withDevice,
  withOwned,
  wordlessEnds,
} from '@relay/database';
import { limits } from '@relay/protocol';
import { type Answer, type Asked, type Page, answerIn, hasArrived, isEnd } from './answer.ts';
import type { DaemonConnection } from './connection.ts';
import type { Inquiry } from './device-memory.ts';
import { gathered } from './gather.ts';
import type { History } from './history.ts';
import type { GatewayMetrics } from './metrics.ts';
import { outlast } from './outage.ts';
import type { ProgressBoard } from './progress.ts';
import type { TaskWriter } from './tasks-out.ts';

export interface OutcomeDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  history: History;
  metrics: GatewayMetrics;
  progress: ProgressBoard;
  writer: TaskWriter;
  /** A notification was written: it may be sent now. */
  notify(): void;
}

export interface Outcomes {
  /** After the first `status` of a connection, or the wait for it: looks for the ends of what ran before, and for texts of ends. */
  afterReconnect(connection: DaemonConnection): void;
  /**
   * Nothing has named these tasks for a long time. Each is asked for once in that time. `otherwise` gets those of which no session
   * can be asked and whose end may have fallen into the gap between two connections.
   */
  ofSilent(connection: DaemonConnection, otherwise: (taskIds: string[]) => Promise<void>): Promise<void>;
  /**
   * The session of a first task became known by the task's instruction after the task had ended. When it was unknown or lost, the
   * history of that session may have its outcome. Returns at once; never throws.
   */
  ofFound(connection: DaemonConnection, taskId: string, instruction: string): void;
  /** The daemon no longer knows these tasks. `otherwise` gets those of which its history has no answer either; resolves before. */
  ofOmitted(
    connection: DaemonConnection,
    taskIds: readonly string[],
    otherwise: (taskIds: string[]) => Promise<void>,
  ): Promise<void>;
  /**
   * Written to an earlier connection, and the daemon does not say that it has them. `arrived` gets one that its history has, which from
   * then on is a task that runs; `otherwise` all others.
   */
  ofUnconfirmed(
    connection: DaemonConnection,
    taskIds: readonly string[],
    outcome: {
      arrived: (taskId: string, nativeId: string) => Promise<void>;
      otherwise: (taskIds: string[]) => Promise<void>;
    },
  ): Promise<void>;
  /** The daemon lists a task that it had omitted: it knows it after all. */
  listed(connection: DaemonConnection, taskId: string): void;
  /** A session changed at the daemon: what is asked about its task is asked again, at once when a turn ended. */
  stirred(connection: DaemonConnection, sessionKey: string, isCompletion: boolean): void;
  /** A task ended without a text: shows what the history has. */
  ofWordless(connection: DaemonConnection, asked: AskedTask, failed?: boolean): void;
}

/** Pages after the first, in multiples of the configured time since the first. */
const again = [1, 3, 12];
/** Pages without the instruction of a task, until it counts as not arrived. */
const enough = 2;
/** Messages in a page; a turn that is longer is asked for with the largest page. */
const fewMessages = 20;

export function createOutcomes(deps: OutcomeDeps): Outcomes {
  const { config, database, publisher, history, metrics, progress, writer } = deps;

  /** What is found in the newest page of the history, or else in a larger one. `unasked`: it could not be asked. */
  const read = async <T>(
    connection: DaemonConnection,
    asked: AskedTask | undefined,
    find: (page: Page, asked: Asked) => T | undefined,
  ): Promise<T | undefined | 'unasked'> => {
    if (!asked || asked.placeholder) return 'unasked';
    const page = async (limit: number) => history.page(connection, asked.nativeId, limit);
    const few = await page(fewMessages);
    if (!few) return 'unasked';
    const found = find(few, asked);
    if (found !== undefined || !few.hasMore) return found;
    const many = await page(limits.historyPage);
    return many ? find(many, asked) : 'unasked';
  };

  /** The outcome that the history has for a task. */
  const look = (connection: DaemonConnection, asked: AskedTask | undefined, heardAtMs: number | undefined) =>
    read(connection, asked, (page, task) => answerIn(page, { ...task, heardAtMs }));

  const complete = async (connection: DaemonConnection, taskId: string, answer: Answer) => {
    const { memory } = connection;
    const completed = await withOwned(database.prisma, connection, async (tx) => {
      const asked = await findAskedTask(tx, taskId);
      // Heard over an earlier connection meanwhile: this is no later end.
      if (!asked || asked.ended) return undefined;
      const ended = await endTask(tx, taskId, { kind: 'completed', result: answer.content }, notes.history);
      const notified =
        ended === 'ended' &&
        (await addNotification(tx, {
          sessionKey: asked.sessionKey,
          cause: 'done',
          taskId,
          windowMs: config.dedupeWindowMs,
        }));
      const [record] = await readSessions(tx, [asked.sessionKey]);
      return { ended, notified, record };
    });
    if (completed?.ended !== 'ended') return;
    const { notified, record } = completed;
    const entry = memory.tasks.get(taskId);
    if (entry) progress.drop(entry.sessionKey);
    memory.tasks.delete(taskId);
    metrics.tasks.inc({ state: 'completed' });
    if (record) await tell(record, answer, entry?.writtenAtMs);
    if (notified) deps.notify();
    void writer.drain(connection);
  };

  /** The answer under the daemon's own name for it, so that its transcript does not say it again. */
  const tell = async (record: SessionRecord, { uuid, content, timestamp }: Answer, sinceMs: number | undefined) => {
    const said = message(uuid, 'AGENT', content, timestamp);
    await publisher.sayEnd(record.ownerId, record.key, record.session.id, said, {
      ...(sinceMs !== undefined && { sinceMs }),
    });
    await publisher.markSaid(record.ownerId, record.key, { uuid });
    await publisher.session(record);
  };

  const ofWordless = (connection: DaemonConnection, asked: AskedTask, failed = false) => {
    const { id: taskId, sentAtMs } = asked;
    /** The text that was found, and shown unless it was before; undefined without one. */
    const show = async (shown: string | undefined) => {
      const found = await look(connection, asked, undefined);
      if (!found || found === 'unasked' || found.content === shown) return found;
      const { ended, record } = await withDevice(database.prisma, connection.deviceId, async (tx) => {
        const ended = await endTask(tx, taskId, { kind: 'completed', result: found.content }, notes.history);
        const [record] = await readSessions(tx, [asked.sessionKey]);
        return { ended, record };
      });
      // Another question about the same end may have been answered first.
      if (record && (failed || ended === 'settled')) await tell(record, found, sentAtMs);
      return found;
    };
    const first = show(undefined);
    // A transcript may be written a moment after the end was said.
    const again = async () => {
      const shown = await first;
      const text = shown === 'unasked' ? undefined : shown?.content;
      if ((await show(text)) === undefined && text === undefined) await forgetInstruction(database.prisma, taskId);
    };
    const timer = setTimeout(() => {
      if (connection.open)
        again().catch((error: unknown) =>
          connection.logger.warn({ err: error }, 'what a task ended with was not found'),
        );
    }, config.outcomeAskMs);
    timer.unref();
    first.catch(() => undefined);
  };

  /** A task that this connection took for one under way has ended over an earlier one, whose instance may not have found its text. */
  const over = (connection: DaemonConnection, asked: AskedTask) => {
    connection.memory.tasks.delete(asked.id);
    if (asked.instruction !== '') ofWordless(connection, asked);
  };

  const wordlessOf = gathered((deviceIds) => wordlessEnds(database.prisma, deviceIds));
  /** The texts of ends that an earlier connection said without, and did not live to find. */
  const missed = async (connection: DaemonConnection) => {
    if (connection.memory.askedWordless) return;
    connection.memory.askedWordless = true;
    for (const id of (await wordlessOf(connection.deviceId)) ?? []) {
      const asked = await findAskedTask(database.prisma, id);
      if (asked?.instruction) ofWordless(connection, asked);
    }
  };

  /** Runs `attempt` at once and again after each of the pauses, until it says that it is done or the connection ends. */
  const repeatedly = async (connection: DaemonConnection, attempt: (last: boolean) => Promise<boolean>) => {
    let waited = 0;
    for (const at of [0, ...again]) {
      await delay((at - waited) * config.outcomeAskMs, undefined, { ref: false });
      waited = at;
      if (!connection.open || (await attempt(at === again.at(-1)))) return;
    }
  };

  /** As `complete`, for a task that has ended as unknown or lost. */
  const correct = async (connection: DaemonConnection, taskId: string, answer: Answer) => {
    const corrected = await withOwned(database.prisma, connection, async (tx) => {
      const asked = await findAskedTask(tx, taskId);
      // A late word of the daemon itself counts more.
      if (!asked?.doubtful) return undefined;
      const ended = await endTask(tx, taskId, { kind: 'completed', result: answer.content }, notes.history);
      const [record] = await readSessions(tx, [asked.sessionKey]);
      return { ended, record };
    });
    if (corrected?.record && corrected.ended === 'settled') await tell(corrected.record, answer, undefined);
  };

  const isCurrent = ({ memory, open }: DaemonConnection, inquiry: Inquiry) => {
    const entry = memory.tasks.get(inquiry.taskId);
    return (
      open &&
      memory.inquiries.get(inquiry.taskId) === inquiry &&
      entry !== undefined &&
      entry.heardAtMs === inquiry.heardAtMs
    );
  };
  const finish = ({ memory }: DaemonConnection, inquiry: Inquiry) => {
    if (memory.inquiries.get(inquiry.taskId) === inquiry) memory.inquiries.delete(inquiry.taskId);
  };

  const step = async (connection: DaemonConnection, inquiry: Inquiry): Promise<void> => {
    const { memory } = connection;
    if (!isCurrent(connection, inquiry)) return finish(connection, inquiry);
    const asked = await findAskedTask(database.prisma, inquiry.taskId);
    if (asked?.ended) {
      over(connection, asked);
      return finish(connection, inquiry);
    }
    const found = await look(connection, asked, inquiry.heardAtMs);
    if (!isCurrent(connection, inquiry)) return finish(connection, inquiry);
    const now = found === 'unasked' ? undefined : found;
    const last = inquiry.looks === again.length;
    const omitted = inquiry.otherwise !== undefined;
    const circumstances = {
      before: inquiry.before,
      now,
      omitted,
      listed: !memory.listOnlyGrows && memory.listed.has(inquiry.taskId),
      active: asked !== undefined && memory.active.has(asked.nativeId),
      last,
    };
    if (now && isEnd(circumstances)) {
      finish(connection, inquiry);
      await outlast(
        () => complete(connection, inquiry.taskId, now),
        () => !connection.open,
      );
      return;
    }
    // A daemon that was too busy to answer may have the outcome all the same: it is asked again.
    if (last || (omitted && found === undefined)) {
      finish(connection, inquiry);
      await inquiry.otherwise?.();
      return;
    }
    inquiry.before = now;
    const waited = inquiry.looks === 0 ? 0 : again[inquiry.looks - 1]!;
    plan(connection, inquiry, (again[inquiry.looks]! - waited) * config.outcomeAskMs);
    inquiry.looks += 1;
  };

  const plan = (connection: DaemonConnection, inquiry: Inquiry, delayMs: number) => {
    inquiry.timer = setTimeout(() => {
      step(connection, inquiry).catch((error: unknown) => {
        finish(connection, inquiry);
        connection.logger.warn({ err: error }, 'the outcome of a task could not be asked for');
      });
    }, delayMs);
    inquiry.timer.unref();
  };

  const begin = (
    connection: DaemonConnection,
    taskId: string,
    otherwise: Inquiry['otherwise'],
    delayMs = 0,
    anew = false,
  ) => {
    const { inquiries, tasks } = connection.memory;
    const current = inquiries.get(taskId);
    const isUnderWay = current !== undefined && isCurrent(connection, current);
    if (isUnderWay && !anew && (current.otherwise !== undefined || otherwise === undefined)) return;
    clearTimeout(current?.timer);
    const heardAtMs = tasks.get(taskId)?.heardAtMs;
    const inquiry = { taskId, heardAtMs, otherwise, looks: 0, before: undefined, timer: undefined };
    inquiries.set(taskId, inquiry);
    plan(connection, inquiry, delayMs);
  };

  return {
    afterReconnect: (connection) => {
      for (const [id, task] of connection.memory.tasks)
        if (task.state === 'running' && task.fence < connection.fence && task.heardAtMs === undefined)
          begin(connection, id, undefined);
      missed(connection).catch((error: unknown) =>
        connection.logger.warn({ err: error }, 'texts of earlier ends were not looked for'),
      );
    },
    ofSilent: async (connection, otherwise) => {
      const { memory, fence } = connection;
      const nowMs = Date.now();
      const unasked: string[] = [];
      for (const [id, task] of memory.tasks) {
        const sinceMs = Math.max(task.mentionedAtMs, task.askedAtMs ?? 0);
        if (task.state !== 'running' || nowMs - sinceMs < config.taskSilenceMs) continue;
        task.askedAtMs = nowMs;
        // Heard on this connection, there was no gap for its end to fall into.
        const mayBeOver = task.fence < fence && task.heardAtMs === undefined;
        const asked = mayBeOver ? await findAskedTask(database.prisma, id) : undefined;
        if (asked?.placeholder && !asked.ended) unasked.push(id);
        else begin(connection, id, undefined);
      }
      if (unasked.length > 0) await otherwise(unasked);
    },
    ofFound: (connection, taskId, instruction) => {
      let before: Answer | undefined;
      repeatedly(connection, async (last) => {
        const asked = await findAskedTask(database.prisma, taskId);
        if (!asked?.doubtful) return true;
        const found = await look(connection, { ...asked, instruction }, undefined);
        if (found === 'unasked') return false;
        const active = connection.memory.active.has(asked.nativeId);
        const circumstances = { before, now: found, omitted: false, listed: false, active, last };
        before = found;
        if (!found || !isEnd(circumstances)) return false;
        await outlast(
          () => correct(connection, taskId, found),
          () => !connection.open,
        );
        return true;
      }).catch((error: unknown) =>
        connection.logger.warn({ err: error }, 'what became of the first task of a session was not found'),
      );
    },
    ofOmitted: async (connection, taskIds, otherwise) => {
      const unasked: string[] = [];
      for (const id of taskIds) {
        const asked = await findAskedTask(database.prisma, id);
        if (!asked || asked.placeholder) unasked.push(id);
        else begin(connection, id, () => otherwise([id]));
      }
      if (unasked.length > 0) await otherwise(unasked);
    },
    ofUnconfirmed: async (connection, taskIds, { arrived, otherwise }) => {
      const { doubted, tasks } = connection.memory;
      const unasked: string[] = [];
      for (const id of taskIds) {
        if (doubted.has(id)) continue;
        const asked = await findAskedTask(database.prisma, id);
        if (asked?.ended) {
          over(connection, asked);
          continue;
        }
        if (!asked || asked.placeholder) {
          unasked.push(id);
          continue;
        }
        doubted.set(id, true);
        let without = 0;
        // Not awaited: the answer comes over this connection, behind the frame that brought us here.
        repeatedly(connection, async (last) => {
          const { clockAheadMs } = connection.memory;
          const found = await read(
            connection,
            asked,
            (page, task) => hasArrived(page, task, clockAheadMs) || undefined,
          );
          // A frame may have named it meanwhile.
          if (!connection.open || tasks.get(id)?.state !== 'sent') return true;
          if (found === undefined) without += 1;
          // Without an answer nothing is known, and an agent that has just begun may not have written down its instruction yet.
          if (found !== true && without < enough && !last) return false;
          await outlast(
            () => (found === true ? arrived(id, asked.nativeId) : otherwise([id])),
            () => !connection.open,
          );
          return true;
        })
          .catch((error: unknown) =>
            connection.logger.warn({ err: error }, 'whether a task arrived could not be found out'),
          )
          .finally(() => doubted.delete(id));
      }
      if (unasked.length > 0) await otherwise(unasked);
    },
    listed: ({ memory: { inquiries } }, taskId) => {
      const inquiry = inquiries.get(taskId);
      if (inquiry?.otherwise === undefined) return;
      clearTimeout(inquiry.timer);
      inquiries.delete(taskId);
    },
    stirred: (connection, sessionKey, isCompletion) => {
      const { inquiries, tasks } = connection.memory;
      for (const [id, { otherwise }] of [...inquiries])
        if (otherwise === undefined && tasks.get(id)?.sessionKey === sessionKey)
          begin(connection, id, undefined, isCompletion ? 0 : config.outcomeAskMs, true);
    },
    ofWordless,
  };
}
