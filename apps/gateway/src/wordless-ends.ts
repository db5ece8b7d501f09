/** Ends that a daemon reported without their text: the history is asked for it. */
import { type AskedTask, type Database, forgetInstruction } from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import type { FoundAnswers } from './found-answers.ts';
import type { HistoryQuestions } from './history-questions.ts';

/** A task ended without a text: shows what the history has. Returns at once; never throws. */
type FindText = (connection: DaemonConnection, asked: AskedTask, failed?: boolean) => void;

interface WordlessEndDeps {
  database: Database;
  questions: HistoryQuestions;
  answers: FoundAnswers;
}

/** Pages that are read: a transcript may be written a moment after the end was reported. */
const enough = 2;

export function createWordlessEnds({ database, questions, answers }: WordlessEndDeps): FindText {
  const find = async (connection: DaemonConnection, asked: AskedTask, failed: boolean) => {
    let shown: string | undefined;
    let read = 0;
    await questions.repeat(connection, async (last) => {
      const found = await questions.answerOf(connection, asked);
      // A daemon that was too busy to answer may still have the text.
      if (found === 'unasked') return false;
      read += 1;
      if (found && found.content !== shown) {
        await answers.addText(connection, asked, found, failed);
        shown = found.content;
      }
      if (read < enough && !last) return false;
      if (shown === undefined) await forgetInstruction(database, asked.id);
      return true;
    });
  };

  return (connection, asked, failed = false) => {
    find(connection, asked, failed).catch((error: unknown) =>
      connection.logger.warn({ err: error }, 'the text that a task ended with was not found'),
    );
  };
}
