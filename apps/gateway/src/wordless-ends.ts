/** Outcomes that a daemon reported without their text: searches the history for the text. */
import { type AskedTask, type Database, forgetInstruction } from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import type { FoundAnswers } from './found-answers.ts';
import type { HistoryQuestions } from './history-questions.ts';

/** A task completed without a text: shows the text from the history. Returns immediately; never throws. */
type FindText = (connection: DaemonConnection, asked: AskedTask, failed?: boolean) => void;

interface WordlessEndDeps {
  database: Database;
  questions: HistoryQuestions;
  answers: FoundAnswers;
}

/** Pages to read: the agent can write its transcript a moment after the completion. */
const enough = 2;

export function createWordlessEnds({ database, questions, answers }: WordlessEndDeps): FindText {
  const find = async (connection: DaemonConnection, asked: AskedTask, failed: boolean) => {
    let shown: string | undefined;
    let read = 0;
    await questions.repeat(connection, async (last) => {
      const found = await questions.answerOf(connection, asked);
      // A daemon that was too busy to answer might still have the text.
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
