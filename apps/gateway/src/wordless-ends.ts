/** Ends that a daemon reported without their text: the history is asked for it. */
import type { RelayConfig } from '@relay/config';
import { type AskedTask, type Database, forgetInstruction } from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import type { FoundAnswers } from './found-answers.ts';
import type { HistoryQuestions } from './history-questions.ts';

/** A task ended without a text: shows what the history has. Returns at once; never throws. */
export type FindText = (connection: DaemonConnection, asked: AskedTask, failed?: boolean) => void;

export interface WordlessEndDeps {
  config: RelayConfig;
  database: Database;
  questions: HistoryQuestions;
  answers: FoundAnswers;
}

export function createWordlessEnds({ config, database, questions, answers }: WordlessEndDeps): FindText {
  return (connection, asked, failed = false) => {
    /** The text that was found, and shown unless it was before; undefined without one. */
    const show = async (shown: string | undefined) => {
      const found = await questions.answerOf(connection, asked);
      if (!found || found === 'unasked' || found.content === shown) return found;
      await answers.addText(connection, asked, found, failed);
      return found;
    };
    const first = show(undefined);
    // A transcript may be written a moment after the end was reported.
    const second = async () => {
      const shown = await first;
      const text = shown === 'unasked' ? undefined : shown?.content;
      if ((await show(text)) === undefined && text === undefined) await forgetInstruction(database, asked.id);
    };
    const timer = setTimeout(() => {
      if (connection.live)
        second().catch((error: unknown) =>
          connection.logger.warn({ err: error }, 'the text that a task ended with was not found'),
        );
    }, config.outcomeAskMs);
    timer.unref();
    first.catch(() => undefined);
  };
}
