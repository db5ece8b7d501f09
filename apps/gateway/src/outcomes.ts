/**
 * Searches a daemon's history for an outcome (rules, 3.4). Daemons drop events while they are disconnected, and some
 * complete a task without its text; only their history remains. A frame of a running task never triggers a search.
 * Searches stop with the connection, and a new connection searches again (`unfound-ends.ts` for tasks that were over
 * before).
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
  /** After the first `status` of a connection, or its timeout: searches for the outcomes of earlier tasks. */
  afterReconnect(connection: DaemonConnection): void;
  /**
   * Searches once per interval for tasks without any event for a long time. Passes `otherwise` the tasks that have no
   * session to search and might have completed between two connections.
   */
  ofSilent(connection: DaemonConnection, otherwise: (taskIds: string[]) => Promise<void>): Promise<void>;
  /**
   * The session of a first task became known by the task's instruction after the task was over. If the task was unknown
   * or lost, the history of that session can have its outcome. Returns immediately; never throws.
   */
  ofFound(connection: DaemonConnection, taskId: string, instruction: string): void;
  /** The daemon dropped these tasks. Passes `otherwise` the tasks without an answer in its history; resolves before. */
  ofOmitted(
    connection: DaemonConnection,
    taskIds: readonly string[],
    otherwise: (taskIds: string[]) => Promise<void>,
  ): Promise<void>;
  /**
   * Tasks written to an earlier connection that the daemon does not list. `arrived` gets each task that its history
   * contains, which counts as running from then on; `otherwise` gets the rest.
   */
  ofUnconfirmed(connection: DaemonConnection, taskIds: readonly string[], outcome: ArrivalOutcome): Promise<void>;
  /** The daemon lists a task that it had omitted: it knows it after all. */
  listed(connection: DaemonConnection, taskId: string): void;
  /** A session changed at the daemon: repeats the searches for its task, immediately if a turn completed. */
  stirred(connection: DaemonConnection, sessionKey: string, isCompletion: boolean): void;
  /** A task completed without a text: shows the text from the history. */
  ofWordless(connection: DaemonConnection, asked: AskedTask, failed?: boolean): void;
}

export function createOutcomes(deps: OutcomeDeps): Outcomes {
  const { config, database, history } = deps;
  const questions = createHistoryQuestions(config, history);
  const answers = createFoundAnswers(deps);
  const findText = createWordlessEnds({ database, questions, answers });

  /**
   * An earlier connection completed a task that this one took for running; its instance might not have found the text.
   */
  const over = (connection: DaemonConnection, asked: AskedTask) => {
    connection.tasks.forget(asked.id);
    if (asked.instruction !== '') findText(connection, asked);
  };

  const inquiries = createInquiries({ config, database, questions, answers, over });

  /** The outcome of a task that was settled as unknown or lost, and whose session became known only now. */
  const findCorrection = async (connection: DaemonConnection, taskId: string, instruction: string) => {
    let before: Answer | undefined;
    await questions.repeat(connection, async (last) => {
      const asked = await findAskedTask(database, taskId);
      if (!asked?.doubtful) return true;
      const found = await questions.answerOf(connection, { ...asked, instruction });
      if (found === 'unasked') return false;
      const active = connection.report.active.has(asked.nativeId);
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
      for (const [id, task] of connection.tasks)
        if (
          task.state === 'running' &&
          !task.isSteer &&
          task.fence < connection.fence &&
          task.lastEventAtMs === undefined
        )
          inquiries.begin(connection, id);
    },
    ofSilent: async (connection, otherwise) => {
      const { tasks, fence } = connection;
      const nowMs = Date.now();
      const unasked: string[] = [];
      for (const [id, task] of tasks) {
        const sinceMs = Math.max(task.mentionedAtMs, task.searchedAtMs ?? 0);
        if (task.state !== 'running' || task.isSteer || nowMs - sinceMs < config.taskSilenceMs) continue;
        task.searchedAtMs = nowMs;
        // A task with an event on this connection cannot have completed in the gap.
        const mayBeOver = task.fence < fence && task.lastEventAtMs === undefined;
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
    listed: ({ requests }, taskId) => {
      const inquiry = requests.inquiries.get(taskId);
      if (inquiry?.otherwise === undefined) return;
      clearTimeout(inquiry.timer);
      requests.inquiries.delete(taskId);
    },
    stirred: (connection, sessionKey, isCompletion) => {
      const { tasks, requests } = connection;
      const options = { delayMs: isCompletion ? 0 : config.outcomeAskMs, restart: true };
      for (const [id, { otherwise }] of [...requests.inquiries])
        if (otherwise === undefined && tasks.get(id)?.sessionKey === sessionKey)
          inquiries.begin(connection, id, undefined, options);
    },
  };
}
