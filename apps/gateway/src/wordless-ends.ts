/** Ends that a daemon reported without their text: the history is asked for it, also by the next connection when this one ends before. */
import type { RelayConfig } from '@relay/config';
import { type AskedTask, type Database, findAskedTask, forgetInstruction, wordlessEnds } from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import type { FoundAnswers } from './found-answers.ts';
import { gathered } from './gather.ts';
import type { HistoryQuestions } from './history-questions.ts';

export interface WordlessEnds {
  /** A task ended without a text: shows what the history has. Returns at once; never throws. */
  find: (connection: DaemonConnection, asked: AskedTask, failed?: boolean) => void;
  /** The texts of ends of the last hour that an earlier connection did not find; once per connection. */
  findEarlier(connection: DaemonConnection): void;
}

export interface WordlessEndDeps {
  config: RelayConfig;
  database: Database;
  questions: HistoryQuestions;
  answers: FoundAnswers;
}

export function createWordlessEnds({ config, database, questions, answers }: WordlessEndDeps): WordlessEnds {
  const searched = new WeakSet<DaemonConnection>();
  const wordlessOf = gathered((deviceIds) => wordlessEnds(database.prisma, deviceIds));

  const find: WordlessEnds['find'] = (connection, asked, failed = false) => {
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
      if ((await show(text)) === undefined && text === undefined) await forgetInstruction(database.prisma, asked.id);
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

  const findAll = async (connection: DaemonConnection) => {
    for (const id of (await wordlessOf(connection.deviceId)) ?? []) {
      const asked = await findAskedTask(database.prisma, id);
      if (asked?.instruction) find(connection, asked);
    }
  };

  return {
    find,
    findEarlier: (connection) => {
      if (searched.has(connection)) return;
      searched.add(connection);
      findAll(connection).catch((error: unknown) =>
        connection.logger.warn({ err: error }, 'texts of earlier ends were not looked for'),
      );
    },
  };
}
