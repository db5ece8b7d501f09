/**
 * Searches a daemon's history for one task (rules, 3.4): one machine and one retry rule for four purposes.
 *
 * - completion: the outcome of a task that runs, as far as this connection knows
 * - arrival: whether an unconfirmed task reached the daemon
 * - text: the text of an outcome that the daemon reported without one
 * - name: the outcome of a task in doubt whose session has just got its name
 *
 * A search is `planned` until its timer fires, `reading` until its purpose has judged the pages, and then planned again
 * or `over`. It reads at once and after 10, 30 and 120 s. Each reading is a finding, `absent` (the pages lack it), or
 * `unread` (no page came, which proves nothing). A reading that fails in an outage of the database is repeated once the
 * database is back. A search is over with its connection: the next one searches again.
 */
import type { RelayConfig } from '@relay/config';
import { type DeliveredTask, findDeliveredTask, forgetInstruction } from '@relay/database';
import { limits } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import { type TurnAnswer, type SearchedTask, type MessageSlice, answerIn, hasArrived, isEnd } from './answer.ts';
import type { DaemonConnection } from '../connection/connection.ts';
import { type FoundAnswerDeps, createFoundAnswers } from './found-answers.ts';
import type { History } from './history.ts';
import { outlastAny } from '../connection/outage.ts';
import { type Purpose, type TaskSearch, searchKey } from '../connection/requests.ts';

export interface SearchDeps extends FoundAnswerDeps {
  history: History;
}

export interface ArrivalOutcome {
  arrived: (taskId: string, nativeId: string) => Promise<void>;
  otherwise: (taskIds: string[]) => Promise<void>;
}

interface CompletionOptions {
  /** The daemon itself dropped the task: this runs if its history lacks an answer. */
  otherwise?: () => Promise<void>;
  delayMs?: number;
  /** Begins again even if such a search is under way. */
  restart?: boolean;
}

/** Each returns immediately and never throws. */
interface HistorySearch {
  /** Does nothing while a search with the same or more evidence is under way. */
  completion(connection: DaemonConnection, taskId: string, options?: CompletionOptions): void;
  /** Does nothing while a search is under way. */
  arrival(connection: DaemonConnection, task: DeliveredTask, outcome: ArrivalOutcome): void;
  /** `failed`: the text is shown even though it does not change the task. */
  text(connection: DaemonConnection, task: DeliveredTask, failed?: boolean): void;
  name(connection: DaemonConnection, taskId: string, instruction: string): void;
  /** An earlier connection completed a task that this connection considered open; its instance might not have found the text. */
  completedEarlier(connection: DaemonConnection, task: DeliveredTask): void;
}

/** Pauses between readings, in multiples of `outcomeAskMs` (10 s). */
const pauses = [1, 2, 9];
/** Messages in a page; a longer turn takes the largest page. */
export const fewMessages = 20;
/** After this number of readings without the instruction of a task, the task counts as not arrived. */
const absencesOfArrival = 2;
/** Readings for a text: the agent can write its transcript a moment after the completion. */
const readingsOfText = 2;

type Reading<T> = T | 'absent' | 'unread';
type Decision = 'again' | 'over';
/** Reads the history once and judges it. `last`: no reading follows. */
type Look = (last: boolean) => Promise<Decision>;

export function cancelSearch({ requests }: DaemonConnection, search: TaskSearch): void {
  search.state = 'over';
  clearTimeout(search.timer);
  const key = searchKey(search.purpose, search.taskId);
  if (requests.searches.get(key) === search) requests.searches.delete(key);
}

/** Returns the function that begins a search. It replaces an earlier search, which the caller cancels or leaves running. */
function createMachine({ outcomeAskMs }: Pick<RelayConfig, 'outcomeAskMs'>) {
  const read = async (
    connection: DaemonConnection,
    search: TaskSearch,
    look: Look,
    readings: number,
  ): Promise<void> => {
    const pause = pauses[readings];
    const isOver = () => search.state === 'over' || !connection.live;
    let decision: Decision = 'over';
    if (!isOver()) {
      search.state = 'reading';
      await outlastAny(
        async () => void (decision = isOver() ? 'over' : await look(pause === undefined)),
        () => !connection.live,
      );
    }
    if (decision === 'over' || pause === undefined || isOver()) cancelSearch(connection, search);
    else plan(connection, search, look, readings + 1, pause * outcomeAskMs);
  };

  const plan = (
    connection: DaemonConnection,
    search: TaskSearch,
    look: Look,
    readings: number,
    delayMs: number,
  ): void => {
    search.state = 'planned';
    search.timer = setTimeout(() => {
      read(connection, search, look, readings).catch((error: unknown) => {
        cancelSearch(connection, search);
        const { purpose, taskId } = search;
        connection.logger.warn({ err: error, purpose, taskId }, 'a search of the history failed');
      });
    }, delayMs);
    search.timer.unref();
  };

  return (connection: DaemonConnection, search: TaskSearch, look: Look, delayMs = 0): void => {
    connection.requests.searches.set(searchKey(search.purpose, search.taskId), search);
    plan(connection, search, look, 0, delayMs);
  };
}

/** Returns the function that reads the newest page of the task's session, or else a larger one. */
function createReader(history: History) {
  return async <T extends object | true>(
    connection: DaemonConnection,
    task: DeliveredTask | undefined,
    find: (page: MessageSlice, task: SearchedTask) => T | undefined,
  ): Promise<Reading<T>> => {
    if (!task || task.placeholder) return 'unread';
    const searched: DeliveredTask & SearchedTask = connection.can('transcript')
      ? { ...task, uuid: userItemUuid(task.id) }
      : task;
    const few = await history.page(connection, searched.nativeId, fewMessages);
    if (!few) return 'unread';
    const found = find(few, searched);
    if (found !== undefined || !few.hasMore) return found ?? 'absent';
    const many = await history.page(connection, searched.nativeId, limits.historyPage);
    return many ? (find(many, searched) ?? 'absent') : 'unread';
  };
}

const answerOf = (reading: Reading<TurnAnswer>): TurnAnswer | undefined =>
  typeof reading === 'string' ? undefined : reading;
const newSearch = (purpose: Purpose, taskId: string): TaskSearch => ({ purpose, taskId, state: 'planned' });

export function createHistorySearch(deps: SearchDeps): HistorySearch {
  const { config, database } = deps;
  const begin = createMachine(config);
  const read = createReader(deps.history);
  const answers = createFoundAnswers(deps);

  const text: HistorySearch['text'] = (connection, task, failed = false) => {
    let shown: string | undefined;
    let readings = 0;
    begin(connection, newSearch('text', task.id), async (last) => {
      const reading = await read(connection, task, answerIn);
      if (reading === 'unread') return 'again';
      readings += 1;
      const found = answerOf(reading);
      if (found && found.content !== shown) {
        await answers.addText(connection, task, found, failed);
        shown = found.content;
      }
      if (readings < readingsOfText && !last) return 'again';
      if (shown === undefined) await forgetInstruction(database, task.id);
      return 'over';
    });
  };

  const completedEarlier: HistorySearch['completedEarlier'] = (connection, task) => {
    connection.tasks.forget(task.id);
    if (task.instruction !== '') text(connection, task);
  };

  /** An event of the task is a sign of life: the search is over. */
  const isCurrent = ({ tasks, live }: DaemonConnection, { taskId, state, lastEventAtMs }: TaskSearch) =>
    live && state !== 'over' && tasks.has(taskId) && tasks.get(taskId)?.lastEventAtMs === lastEventAtMs;

  const completion: HistorySearch['completion'] = (connection, taskId, { otherwise, delayMs, restart } = {}) => {
    const { tasks, requests, evidence, report } = connection;
    const current = requests.searches.get(searchKey('completion', taskId));
    const isUnderWay = current !== undefined && isCurrent(connection, current);
    if (isUnderWay && !restart && (current.isOmitted || !otherwise)) return;
    if (current) cancelSearch(connection, current);
    const isOmitted = otherwise !== undefined;
    const search = { ...newSearch('completion', taskId), isOmitted, lastEventAtMs: tasks.get(taskId)?.lastEventAtMs };
    let before: TurnAnswer | undefined;
    const look: Look = async (last) => {
      if (!isCurrent(connection, search)) return 'over';
      const task = await findDeliveredTask(database, taskId);
      if (task?.ended) {
        completedEarlier(connection, task);
        return 'over';
      }
      const { lastEventAtMs } = search;
      const reading = await read(connection, task, (page, searched) => answerIn(page, { ...searched, lastEventAtMs }));
      if (!isCurrent(connection, search)) return 'over';
      const now = answerOf(reading);
      const listed = evidence.isListed(taskId);
      const active = task !== undefined && report.active.has(task.nativeId);
      if (now && isEnd({ before, now, omitted: isOmitted, listed, active, last })) {
        await answers.complete(connection, taskId, now);
        return 'over';
      }
      // A daemon that was too busy to answer might still have the outcome: ask again.
      if (last || (isOmitted && reading === 'absent')) {
        await otherwise?.();
        return 'over';
      }
      before = now;
      return 'again';
    };
    begin(connection, search, look, delayMs);
  };

  return {
    completion,
    text,
    completedEarlier,
    arrival: (connection, task, { arrived, otherwise }) => {
      const { id, nativeId } = task;
      const { tasks, requests, report } = connection;
      if (requests.searches.has(searchKey('arrival', id))) return;
      const entry = tasks.get(id);
      let absences = 0;
      begin(connection, newSearch('arrival', id), async (last) => {
        const { clockAheadMs } = report;
        const reading = await read(
          connection,
          task,
          (page, searched) => hasArrived(page, searched, clockAheadMs) || undefined,
        );
        // A frame might have named it since, or this connection wrote it after a give-back.
        if (!connection.live || entry?.state !== 'sent' || tasks.get(id) !== entry) return 'over';
        if (reading === 'absent') absences += 1;
        // No answer proves nothing, and an agent that has just begun might not have stored its instruction yet.
        if (reading !== true && absences < absencesOfArrival && !last) return 'again';
        await (reading === true ? arrived(id, nativeId) : otherwise([id]));
        return 'over';
      });
    },
    name: (connection, taskId, instruction) => {
      let before: TurnAnswer | undefined;
      begin(connection, newSearch('name', taskId), async (last) => {
        const task = await findDeliveredTask(database, taskId);
        if (!task?.doubtful) return 'over';
        const reading = await read(connection, { ...task, instruction }, answerIn);
        const now = answerOf(reading);
        const active = connection.report.active.has(task.nativeId);
        const isFound = now && isEnd({ before, now, omitted: false, listed: false, active, last });
        // A daemon that was too busy to answer proves nothing about the answer before.
        if (reading !== 'unread') before = now;
        if (!isFound) return 'again';
        await answers.correct(connection, taskId, now);
        return 'over';
      });
    },
  };
}
