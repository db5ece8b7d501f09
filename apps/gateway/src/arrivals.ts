/** Unconfirmed tasks: searches the history for their instruction. */
import { type AskedTask, type Database, findAskedTask } from '@relay/database';
import { hasArrived } from './answer.ts';
import type { DaemonConnection } from './connection.ts';
import type { HistoryQuestions } from './history-questions.ts';

export interface ArrivalOutcome {
  arrived: (taskId: string, nativeId: string) => Promise<void>;
  otherwise: (taskIds: string[]) => Promise<void>;
}

interface ArrivalDeps {
  database: Database;
  questions: HistoryQuestions;
  /** Called for a task that this connection took for running, but that an earlier connection completed. */
  over: (connection: DaemonConnection, asked: AskedTask) => void;
}

/** Pages without the instruction of a task, until it counts as not arrived. */
const enough = 2;

/** Returns `Outcomes.ofUnconfirmed`. */
export function createArrivals({ database, questions, over }: ArrivalDeps) {
  const find = async (connection: DaemonConnection, asked: AskedTask, { arrived, otherwise }: ArrivalOutcome) => {
    const { id, nativeId } = asked;
    const { tasks } = connection;
    const entry = tasks.get(id);
    let without = 0;
    await questions.repeat(connection, async (last) => {
      const { clockAheadMs } = connection.report;
      const found = await questions.read(
        connection,
        asked,
        (page, task) => hasArrived(page, task, clockAheadMs) || undefined,
      );
      // A frame might have named it since, or this connection wrote it after a give-back.
      if (!connection.live || entry?.state !== 'sent' || tasks.get(id) !== entry) return true;
      if (found === undefined) without += 1;
      // No answer proves nothing, and an agent that has just begun might not have stored its instruction yet.
      if (found !== true && without < enough && !last) return false;
      await (found === true ? arrived(id, nativeId) : otherwise([id]));
      return true;
    });
  };

  return async (connection: DaemonConnection, taskIds: readonly string[], outcome: ArrivalOutcome): Promise<void> => {
    const { doubted } = connection.requests;
    const unasked: string[] = [];
    for (const id of taskIds) {
      if (doubted.has(id)) continue;
      const asked = await findAskedTask(database, id);
      if (asked?.ended) {
        over(connection, asked);
        continue;
      }
      if (!asked || asked.placeholder) {
        unasked.push(id);
        continue;
      }
      doubted.set(id, true);
      // Not awaited: the answer comes over this connection, after the frame that caused the question.
      find(connection, asked, outcome)
        .catch((error: unknown) =>
          connection.logger.warn({ err: error }, 'whether a task arrived could not be found out'),
        )
        .finally(() => doubted.delete(id));
    }
    if (unasked.length > 0) await outcome.otherwise(unasked);
  };
}
