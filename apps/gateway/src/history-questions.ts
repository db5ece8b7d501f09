/** Searches a daemon's history for one task: the newest page, or else a larger one. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RelayConfig } from '@relay/config';
import type { AskedTask } from '@relay/database';
import { limits } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import { type Answer, type Asked, type Page, answerIn } from './answer.ts';
import type { DaemonConnection } from './connection.ts';
import { outlastAny } from './outage.ts';
import type { History } from './history.ts';

/** `unasked`: the history could not be asked. Undefined: the pages do not have it. */
type Found<T> = T | undefined | 'unasked';

export interface HistoryQuestions {
  /** The result of `find` in the history of the session of this task. */
  read<T>(
    connection: DaemonConnection,
    asked: AskedTask | undefined,
    find: (page: Page, asked: Asked) => T | undefined,
  ): Promise<Found<T>>;
  /** The outcome that the history has for a task. `heardAtMs`: when an event of it came last. */
  answerOf(connection: DaemonConnection, asked: AskedTask | undefined, heardAtMs?: number): Promise<Found<Answer>>;
  /**
   * Runs `attempt` immediately and again after each pause, until it returns true or the connection closes. Repeats an
   * attempt that failed in a database outage once the database is back.
   */
  repeat(connection: DaemonConnection, attempt: (last: boolean) => Promise<boolean>): Promise<void>;
}

/** When pages after the first are asked for, in multiples of the configured time since the first. */
export const pauses = [1, 3, 12];
/** Messages in a page; a turn that is longer is asked for with the largest page. */
const fewMessages = 20;

export function createHistoryQuestions(config: RelayConfig, history: History): HistoryQuestions {
  const read: HistoryQuestions['read'] = async (connection, task, find) => {
    if (!task || task.placeholder) return 'unasked';
    const asked: AskedTask & Asked = connection.can('transcript') ? { ...task, uuid: userItemUuid(task.id) } : task;
    const few = await history.page(connection, asked.nativeId, fewMessages);
    if (!few) return 'unasked';
    const found = find(few, asked);
    if (found !== undefined || !few.hasMore) return found;
    const many = await history.page(connection, asked.nativeId, limits.historyPage);
    return many ? find(many, asked) : 'unasked';
  };

  return {
    read,
    answerOf: (connection, asked, heardAtMs) =>
      read(connection, asked, (page, task) => answerIn(page, { ...task, heardAtMs })),
    repeat: async (connection, attempt) => {
      let waited = 0;
      for (const at of [0, ...pauses]) {
        await delay((at - waited) * config.outcomeAskMs, undefined, { ref: false });
        waited = at;
        if (!connection.live) return;
        let isDone = false;
        await outlastAny(
          async () => void (isDone = await attempt(at === pauses.at(-1))),
          () => !connection.live,
        );
        if (isDone) return;
      }
    },
  };
}
