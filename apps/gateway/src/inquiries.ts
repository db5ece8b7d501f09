/** Inquiries: search the history repeatedly for the outcome of one task, until found or out of time. */
import type { RelayConfig } from '@relay/config';
import { type AskedTask, type Database, findAskedTask } from '@relay/database';
import { isEnd } from './answer.ts';
import type { DaemonConnection } from './connection.ts';
import type { Inquiry } from './requests.ts';
import type { FoundAnswers } from './found-answers.ts';
import { type HistoryQuestions, pauses } from './history-questions.ts';
import { outlastAny } from './outage.ts';

interface InquiryDeps {
  config: RelayConfig;
  database: Database;
  questions: HistoryQuestions;
  answers: FoundAnswers;
  /** Called for a task that this connection took for running, but that an earlier connection completed. */
  over: (connection: DaemonConnection, asked: AskedTask) => void;
}

interface Inquiries {
  /**
   * Begins an inquiry, unless one for the same purpose is running. `otherwise` runs without an answer if the daemon
   * itself dropped the task. `restart`: begins even if one is running.
   */
  begin(
    connection: DaemonConnection,
    taskId: string,
    otherwise?: Inquiry['otherwise'],
    options?: { delayMs: number; restart: boolean },
  ): void;
}

export function createInquiries({ config, database, questions, answers, over }: InquiryDeps): Inquiries {
  const isCurrent = ({ tasks, requests, live }: DaemonConnection, inquiry: Inquiry) => {
    const entry = tasks.get(inquiry.taskId);
    return (
      live &&
      requests.inquiries.get(inquiry.taskId) === inquiry &&
      entry !== undefined &&
      entry.lastEventAtMs === inquiry.lastEventAtMs
    );
  };
  const finish = ({ requests }: DaemonConnection, inquiry: Inquiry) => {
    if (requests.inquiries.get(inquiry.taskId) === inquiry) requests.inquiries.delete(inquiry.taskId);
  };

  /** Done again when the database was away: it begins from the top, and writes last. */
  const step = async (connection: DaemonConnection, inquiry: Inquiry): Promise<void> => {
    if (!isCurrent(connection, inquiry)) return finish(connection, inquiry);
    const asked = await findAskedTask(database, inquiry.taskId);
    if (asked?.ended) {
      over(connection, asked);
      return finish(connection, inquiry);
    }
    const found = await questions.answerOf(connection, asked, inquiry.lastEventAtMs);
    if (!isCurrent(connection, inquiry)) return finish(connection, inquiry);
    const now = found === 'unasked' ? undefined : found;
    const last = inquiry.looks === pauses.length;
    const omitted = inquiry.otherwise !== undefined;
    const circumstances = {
      before: inquiry.before,
      now,
      omitted,
      listed: connection.evidence.isListed(inquiry.taskId),
      active: asked !== undefined && connection.report.active.has(asked.nativeId),
      last,
    };
    if (now && isEnd(circumstances)) {
      await answers.complete(connection, inquiry.taskId, now);
      return finish(connection, inquiry);
    }
    // A daemon that was too busy to answer might still have the outcome: ask again.
    if (last || (omitted && found === undefined)) {
      await inquiry.otherwise?.();
      return finish(connection, inquiry);
    }
    inquiry.before = now;
    const waited = inquiry.looks === 0 ? 0 : pauses[inquiry.looks - 1]!;
    plan(connection, inquiry, (pauses[inquiry.looks]! - waited) * config.outcomeAskMs);
    inquiry.looks += 1;
  };

  const plan = (connection: DaemonConnection, inquiry: Inquiry, delayMs: number) => {
    inquiry.timer = setTimeout(() => {
      outlastAny(
        () => step(connection, inquiry),
        () => !connection.live,
      ).catch((error: unknown) => {
        finish(connection, inquiry);
        connection.logger.warn({ err: error }, 'the outcome of a task could not be asked for');
      });
    }, delayMs);
    inquiry.timer.unref();
  };

  return {
    begin: (connection, taskId, otherwise, { delayMs, restart } = { delayMs: 0, restart: false }) => {
      const { tasks, requests } = connection;
      const current = requests.inquiries.get(taskId);
      const isUnderWay = current !== undefined && isCurrent(connection, current);
      if (isUnderWay && !restart && (current.otherwise !== undefined || otherwise === undefined)) return;
      clearTimeout(current?.timer);
      const lastEventAtMs = tasks.get(taskId)?.lastEventAtMs;
      const inquiry = { taskId, lastEventAtMs, otherwise, looks: 0, before: undefined, timer: undefined };
      requests.inquiries.set(taskId, inquiry);
      plan(connection, inquiry, delayMs);
    },
  };
}
