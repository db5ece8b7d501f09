/**
 * Asking a daemon's history for an outcome (rules, 3.4). Daemons drop what they would say while they are disconnected, and some say
 * an end without its text: what they keep is their history. Never asked by a frame of a task that goes on; nothing here outlives
 * the connection, and a new one asks again (`unfound-ends.ts` for what had ended before).
 */
import { type AskedTask, findAskedTask } from '@relay/database';
import { type Answer, isEnd } from './answer.ts';
import { type ArrivalOutcome, createArrivals } from './arrivals.ts';
import type { DaemonConnection } from './connection.ts';
import { type FoundAnswerDeps, createFoundAnswers } from './found-answers.ts';
import type { History } from './history.ts';
import { createHistoryQuestions } from './history-questions.ts';
import { createInquiries } from './inquiries.ts';
import { createWordlessEnds } from './wordless-ends.ts';

interface OutcomeDeps extends FoundAnswerDeps {
  history: History;
}

export interface Outcomes {
  /** After the first `status` of a connection, or the wait for it: looks for the ends of what ran before. */
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
  ofUnconfirmed(connection: DaemonConnection, taskIds: readonly string[], outcome: ArrivalOutcome): Promise<void>;
  /** The daemon lists a task that it had omitted: it knows it after all. */
  listed(connection: DaemonConnection, taskId: string): void;
  /** A session changed at the daemon: what is asked about its task is asked again, at once when a turn ended. */
  stirred(connection: DaemonConnection, sessionKey: string, isCompletion: boolean): void;
  /** A task ended without a text: shows what the history has. */
  ofWordless(connection: DaemonConnection, asked: AskedTask, failed?: boolean): void;
}

export function createOutcomes(deps: OutcomeDeps): Outcomes {
  const { config, database, history } = deps;
  const questions = createHistoryQuestions(config, history);
  const answers = createFoundAnswers(deps);
  const findText = createWordlessEnds({ database, questions, answers });

  /** A task that this connection took for one under way has ended over an earlier one, whose instance may not have found its text. */
  const over = (connection: DaemonConnection, asked: AskedTask) => {
    connection.memory.forgetTask(asked.id);
    if (asked.instruction !== '') findText(connection, asked);
  };

  const inquiries = createInquiries({ config, database, questions, answers, over });

  /** The outcome of a task that had ended as unknown or lost, and whose session is known only now. */
  const findCorrection = async (connection: DaemonConnection, taskId: string, instruction: string) => {
    let before: Answer | undefined;
    await questions.repeat(connection, async (last) => {
      const asked = await findAskedTask(database, taskId);
      if (!asked?.doubtful) return true;
      const found = await questions.answerOf(connection, { ...asked, instruction });
      if (found === 'unasked') return false;
      const active = connection.memory.active.has(asked.nativeId);
      const circumstances = { before, now: found, omitted: false, listed: false, active, last };
      before = found;
      if (!found || !isEnd(circumstances)) return false;
      await answers.correct(connection, taskId, found);
      return true;
    });
  };

  return {
    ofWordless: findText,
    ofUnconfirmed: createArrivals({ database, questions, over }),
    afterReconnect: (connection) => {
      for (const [id, task] of connection.memory.tasks)
        if (task.state === 'running' && !task.isSteer && task.fence < connection.fence && task.heardAtMs === undefined)
          inquiries.begin(connection, id);
    },
    ofSilent: async (connection, otherwise) => {
      const { memory, fence } = connection;
      const nowMs = Date.now();
      const unasked: string[] = [];
      for (const [id, task] of memory.tasks) {
        const sinceMs = Math.max(task.mentionedAtMs, task.askedAtMs ?? 0);
        if (task.state !== 'running' || task.isSteer || nowMs - sinceMs < config.taskSilenceMs) continue;
        task.askedAtMs = nowMs;
        // A task that was mentioned on this connection had no gap for its end to fall into.
        const mayBeOver = task.fence < fence && task.heardAtMs === undefined;
        const asked = mayBeOver ? await findAskedTask(database, id) : undefined;
        if (asked?.placeholder && !asked.ended) unasked.push(id);
        else inquiries.begin(connection, id);
      }
      if (unasked.length > 0) await otherwise(unasked);
    },
    ofFound: (connection, taskId, instruction) => {
      findCorrection(connection, taskId, instruction).catch((error: unknown) =>
        connection.logger.warn({ err: error }, 'the outcome of the first task of a session was not found'),
      );
    },
    ofOmitted: async (connection, taskIds, otherwise) => {
      const unasked: string[] = [];
      for (const id of taskIds) {
        const asked = await findAskedTask(database, id);
        if (!asked || asked.placeholder) unasked.push(id);
        else inquiries.begin(connection, id, () => otherwise([id]));
      }
      if (unasked.length > 0) await otherwise(unasked);
    },
    listed: ({ memory }, taskId) => {
      const inquiry = memory.inquiries.get(taskId);
      if (inquiry?.otherwise === undefined) return;
      clearTimeout(inquiry.timer);
      memory.inquiries.delete(taskId);
    },
    stirred: (connection, sessionKey, isCompletion) => {
      const { memory } = connection;
      const options = { delayMs: isCompletion ? 0 : config.outcomeAskMs, restart: true };
      for (const [id, { otherwise }] of [...memory.inquiries])
        if (otherwise === undefined && memory.tasks.get(id)?.sessionKey === sessionKey)
          inquiries.begin(connection, id, undefined, options);
    },
  };
}
