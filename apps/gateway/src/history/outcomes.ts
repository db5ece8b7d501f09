/**
 * Searches a daemon's history for an outcome (rules, 3.4). Daemons drop events while they are disconnected, and some
 * complete a task without its text; only their history remains. A frame of a running task never triggers a search.
 * Searches stop with the connection, and a new connection searches again (`unfound-outcomes.ts` for tasks that were over
 * before).
 */
import { type DeliveredTask, findDeliveredTask } from '@relay/database';
import type { DaemonConnection } from '../connection/connection.ts';
import { type ArrivalOutcome, type SearchDeps, cancelSearch, createHistorySearch } from './history-search.ts';
import type { TaskEntry } from '../connection/open-tasks.ts';
import { searchKey } from '../connection/requests.ts';

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
  ofWordless(connection: DaemonConnection, task: DeliveredTask, failed?: boolean): void;
}

export function createOutcomes(deps: SearchDeps): Outcomes {
  const { config, database } = deps;
  const search = createHistorySearch(deps);

  return {
    ofWordless: (connection, task, failed) => search.text(connection, task, failed),
    ofFound: (connection, taskId, instruction) => search.name(connection, taskId, instruction),
    ofUnconfirmed: async (connection, taskIds, outcome) => {
      const unnamed: string[] = [];
      for (const id of taskIds) {
        if (connection.requests.searches.has(searchKey('arrival', id))) continue;
        const task = await findDeliveredTask(database, id);
        if (task?.ended) search.completedEarlier(connection, task);
        else if (!task || task.placeholder) unnamed.push(id);
        else search.arrival(connection, task, outcome);
      }
      if (unnamed.length > 0) await outcome.otherwise(unnamed);
    },
    afterReconnect: (connection) => {
      for (const [id, task] of connection.tasks)
        if (task.state === 'running' && !task.isSteer && hasNoEvent(task, connection))
          search.completion(connection, id);
    },
    ofSilent: async (connection, otherwise) => {
      const nowMs = Date.now();
      const unnamed: string[] = [];
      for (const [id, entry] of connection.tasks) {
        const sinceMs = Math.max(entry.mentionedAtMs, entry.searchedAtMs ?? 0);
        if (entry.state !== 'running' || entry.isSteer || nowMs - sinceMs < config.taskSilenceMs) continue;
        entry.searchedAtMs = nowMs;
        const task = hasNoEvent(entry, connection) ? await findDeliveredTask(database, id) : undefined;
        if (task?.placeholder && !task.ended) unnamed.push(id);
        else search.completion(connection, id);
      }
      if (unnamed.length > 0) await otherwise(unnamed);
    },
    ofOmitted: async (connection, taskIds, otherwise) => {
      const unnamed: string[] = [];
      for (const id of taskIds) {
        const task = await findDeliveredTask(database, id);
        if (!task || task.placeholder) unnamed.push(id);
        else search.completion(connection, id, { otherwise: () => otherwise([id]) });
      }
      if (unnamed.length > 0) await otherwise(unnamed);
    },
    listed: (connection, taskId) => {
      const current = connection.requests.searches.get(searchKey('completion', taskId));
      if (current?.isOmitted) cancelSearch(connection, current);
    },
    stirred: (connection, sessionKey, isCompletion) => {
      const { tasks, requests } = connection;
      const options = { delayMs: isCompletion ? 0 : config.outcomeAskMs, restart: true };
      for (const { purpose, taskId, isOmitted } of [...requests.searches.values()])
        if (purpose === 'completion' && !isOmitted && tasks.get(taskId)?.sessionKey === sessionKey)
          search.completion(connection, taskId, options);
    },
  };
}

/** The task can have completed in the gap between two connections: a task with an event on this one cannot. */
const hasNoEvent = ({ fence, lastEventAtMs }: TaskEntry, connection: DaemonConnection): boolean =>
  fence < connection.fence && lastEventAtMs === undefined;
