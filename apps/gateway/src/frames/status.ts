/** MEANING of `status` (rules, 3.1): which tasks run, which are missing, and the consequences. */
import { cancelledAmong, endedAmong } from '@relay/database';
import type { FromDaemon } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';
import type { TaskEntry } from '../connection/open-tasks.ts';
import type { Outcomes } from '../history/outcomes.ts';
import type { Prompts } from './prompts.ts';
import { reconcile, unconfirmed } from '../tasks/reconcile.ts';
import { type SettlementDeps, createSettlement } from '../tasks/settlement.ts';
import type { Steers } from '../tasks/steers.ts';
import type { TaskWriter } from '../tasks/tasks-out.ts';
import type { Unnamed } from '../history/unnamed.ts';

interface StatusDeps extends SettlementDeps {
  writer: TaskWriter;
  outcomes: Outcomes;
  unnamed: Unnamed;
  /** Searches for outcomes that earlier connections did not find. */
  findUnfound: (connection: DaemonConnection) => void;
  prompts: Prompts;
  steers: Steers;
}

export interface Status {
  /** Settles tasks by a `status`; afterwards the gateway can write tasks. */
  apply(connection: DaemonConnection, frame: FromDaemon<'status'>): Promise<void>;
  /** The wait for the first `status` is over. */
  overdue(connection: DaemonConnection): Promise<void>;
  /** Searches for tasks without any event for a long time; without a session to search, they count as over. */
  checkSilent(connection: DaemonConnection): Promise<void>;
}

/** Tasks in one question to the database. */
const maxStrangers = 1000;

export function createStatus(deps: StatusDeps): Status {
  const { config, database, writer, outcomes } = deps;
  const settle = createSettlement(deps);

  const lose = async (connection: DaemonConnection, lost: string[]) => {
    await settle(connection, { lost });
    // A report might have shown its session already, as a session without a task.
    deps.unnamed.look(connection);
    void writer.drain(connection);
  };

  const checkSilent = async (connection: DaemonConnection) => {
    await outcomes.ofSilent(connection, (lost) => lose(connection, lost));
    const silentSinceMs = Date.now() - config.taskSilenceMs;
    const isSilent = ([, { isSteer, state, mentionedAtMs }]: [string, TaskEntry]) =>
      isSteer === true && state === 'sent' && mentionedAtMs <= silentSinceMs;
    const unknown = [...connection.tasks].filter(isSilent).map(([id]) => id);
    if (unknown.length > 0) await settle(connection, { unknown });
  };

  /** The daemon dropped these tasks. Its history might still have their outcome. */
  const checkOmitted = (connection: DaemonConnection, taskIds: readonly string[]) => {
    const turns = taskIds.filter((id) => !connection.tasks.get(id)?.isSteer);
    return outcomes.ofOmitted(connection, turns, (lost) => lose(connection, lost));
  };

  /** Unconfirmed tasks of an earlier connection. The history might have them, or even their outcome. */
  const checkUnconfirmed = (connection: DaemonConnection, taskIds: readonly string[]) =>
    outcomes.ofUnconfirmed(connection, taskIds, {
      arrived: async (id, nativeId) => {
        if (connection.tasks.get(id)?.isSteer) return deps.steers.arrived(connection, id);
        await settle(connection, { confirmed: [id] });
        const { tasks, report } = connection;
        if (tasks.phase.now === 'open' && !report.active.has(nativeId)) await checkOmitted(connection, [id]);
        else outcomes.afterReconnect(connection);
      },
      otherwise: async (unknown) => {
        await checkOmitted(connection, await settle(connection, { unknown }));
        deps.unnamed.look(connection);
        void writer.drain(connection);
      },
    });

  /** Compares the frame with the open tasks and remembers the evidence on each. */
  const judge = (connection: DaemonConnection, runningTasks: readonly string[]) => {
    const { tasks, evidence } = connection;
    const nowMs = Date.now();
    const strangers = evidence.recordStatus(runningTasks);
    const verdict = reconcile(tasks, new Set(runningTasks), {
      fence: connection.fence,
      first: tasks.phase.now !== 'open',
      nowMs,
      lostAfterMs: config.statusLostMs,
      silentAfterMs: config.taskSilenceMs,
    });
    for (const id of verdict.present) {
      tasks.recordListed(id, evidence.trustsLists);
      if (evidence.trustsLists) outcomes.listed(connection, id);
    }
    for (const id of verdict.missing) tasks.recordMissing(id, nowMs);
    return { ...verdict, strangers };
  };

  /** The first `status` lists tasks that the database does not know as under way. */
  const checkStrangers = async (connection: DaemonConnection, strangers: readonly string[]) => {
    if (strangers.length === 0) return;
    const some = strangers.slice(0, maxStrangers);
    const ended = await endedAmong(database, connection.deviceId, some);
    if (ended.length > 0) connection.evidence.distrustLists();
    // Their cancel did not reach the daemon, because it was away.
    for (const id of await cancelledAmong(database, [connection.deviceId], some))
      connection.send({ type: 'task_cancel', task_id: id });
  };

  /** This frame settles tasks of earlier connections only in part: the history might know more. */
  const lookBack = (connection: DaemonConnection) => {
    outcomes.afterReconnect(connection);
    deps.findUnfound(connection);
  };

  const settleStatus = async (connection: DaemonConnection, frame: FromDaemon<'status'>) => {
    const isFirst = connection.tasks.phase.now !== 'open';
    const { confirmed, unknown, lost, strangers } = judge(connection, frame.running_tasks);
    await settle(connection, { confirmed });
    await checkUnconfirmed(connection, unknown);
    await checkOmitted(connection, lost);
    if (isFirst) {
      await deps.prompts.firstStatus(connection, frame);
      await checkStrangers(connection, strangers);
      lookBack(connection);
    }
    await checkSilent(connection);
  };

  return {
    checkSilent,
    apply: async (connection, frame) => {
      const { phase } = connection.tasks;
      phase.settle();
      try {
        await settleStatus(connection, frame);
      } catch (error) {
        phase.retry();
        throw error;
      }
      phase.settled();
      void writer.drain(connection);
    },
    overdue: async (connection) => {
      const { tasks } = connection;
      if (tasks.phase.now !== 'awaitingStatus' || !connection.live) return;
      await checkUnconfirmed(connection, unconfirmed(tasks, connection.fence));
      lookBack(connection);
      tasks.phase.giveUp();
      await writer.drain(connection);
    },
  };
}
