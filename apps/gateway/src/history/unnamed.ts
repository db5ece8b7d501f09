/**
 * A first task finished before the daemon named its session, and then the daemon reports a session like any other. If
 * that session's first user message is the instruction of the task, both are the same session (rules, 3.11). The
 * daemon's history confirms this, and also shows the outcome of a task that was unknown or lost until then.
 */
import type { Publisher } from '@relay/attention';
import {
  type Database,
  type Discovered,
  type UnnamedStart,
  discoveredSince,
  findDeliveredTask,
  firstWordsOf,
  readSessions,
  resolveSession,
  unnamedStarts,
  withOwned,
} from '@relay/database';
import { type Message, limits } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';
import { fewMessages } from './history-search.ts';
import type { History } from './history.ts';
import type { Outcomes } from './outcomes.ts';
import { publishResolution } from '../sessions/resolution.ts';
import type { Watching } from '../sessions/watching.ts';

interface UnnamedDeps {
  database: Database;
  publisher: Publisher;
  watching: Watching;
  history: History;
  outcomes: Outcomes;
}

export interface Unnamed {
  /** New sessions appeared; the device might have unnamed ones. Returns immediately; never throws. */
  look(connection: DaemonConnection): void;
  /**
   * A late event named the session of this first task, which was over. If the task was unknown or lost, the history of
   * that session can have its outcome. Resolves when the daemon answers the first question, or fails to.
   */
  named(connection: DaemonConnection, taskId: string): Promise<void>;
}

/** Sessions to query after a report, and tries per session on a connection until its history shows how it began. */
const maxQuestions = 5;
const maxTries = 3;
/** Tolerance for the clocks of daemons before a message counts as older than the task. */
const clockMs = 60_000;

export function createUnnamed({ database, publisher, watching, history, outcomes }: UnnamedDeps): Unnamed {
  const running = new WeakMap<DaemonConnection, { again: boolean }>();

  /**
   * The first message of the user; undefined if the history does not reach back to it, lacks one, or is unavailable.
   */
  const firstMessage = async (connection: DaemonConnection, nativeId: string): Promise<Message | undefined> => {
    const few = await history.page(connection, nativeId, fewMessages);
    const many = few?.hasMore ? await history.page(connection, nativeId, limits.historyPage) : few;
    // Some daemons report more for every page: the larger page added nothing.
    const isAll = many && (!many.hasMore || many.messages.at(0)?.uuid === few?.messages.at(0)?.uuid);
    return isAll ? many.messages.find(({ role }) => role === 'USER') : undefined;
  };

  const adopt = async (connection: DaemonConnection, start: UnnamedStart, session: Discovered) => {
    const { deviceId } = connection;
    const adopted = await withOwned(database, connection, async (tx) => {
      const [now] = await readSessions(tx, [session.key]);
      const starts = now?.nativeId === session.nativeId ? await unnamedStarts(tx, deviceId) : [];
      // Either session might have been renamed or deleted during the request.
      if (!starts.some(({ key }) => key === start.key)) return undefined;
      const resolved = await resolveSession(tx, deviceId, start.key, session.nativeId, false);
      const [record] = await readSessions(tx, [session.key]);
      return record && { record, resolved };
    });
    if (!adopted) return false;
    const { record, resolved } = adopted;
    connection.sessions.forgetRecords(record.key);
    await publishResolution({ publisher, watching }, connection, record, resolved);
    return true;
  };

  const run = async (connection: DaemonConnection) => {
    const { deviceId } = connection;
    const starts = await unnamedStarts(database, deviceId);
    const oldest = starts.filter(({ ended }) => ended).at(-1);
    if (!oldest) return;
    const done = connection.sessions.lookedAt(maxTries);
    const sessions = await discoveredSince(database, deviceId, oldest.key, done, maxQuestions);
    for (const session of sessions) {
      if (!connection.live) return;
      const first = await firstMessage(connection, session.nativeId);
      const start = first && startOf(starts, first);
      // Look again at a session that belongs to an open task: the daemon names it, or the task completes.
      connection.sessions.countLooks(session.key, first && !start ? maxTries : start ? 0 : 1);
      if (!first || !start?.ended) continue;
      const isAdopted = await adopt(connection, start, session);
      if (isAdopted) outcomes.ofFound(connection, start.taskId, first.content);
      starts.splice(starts.indexOf(start), 1);
    }
  };

  return {
    named: async (connection, taskId) => {
      const task = await findDeliveredTask(database, taskId);
      if (!task?.doubtful || task.placeholder || task.kind !== 'start') return;
      const first = await firstMessage(connection, task.nativeId);
      const isOwn = first && Date.parse(first.timestamp) >= task.sentAtMs - clockMs;
      if (isOwn) outcomes.ofFound(connection, taskId, first.content);
    },
    look: (connection) => {
      const current = running.get(connection);
      if (current) {
        current.again = true;
        return;
      }
      const state = { again: true };
      running.set(connection, state);
      void (async () => {
        try {
          while (state.again && connection.live) {
            state.again = false;
            await run(connection);
          }
        } catch (error) {
          connection.logger.warn({ err: error }, 'whether a session is one without a name could not be found out');
        } finally {
          running.delete(connection);
        }
      })();
    },
  };
}

/** The task that this message began. Among several with the same text, the one written nearest to it. */
function startOf(starts: readonly UnnamedStart[], { content, timestamp }: Message): UnnamedStart | undefined {
  const firstAtMs = Date.parse(timestamp);
  const far = ({ sentAtMs }: UnnamedStart) => Math.abs(firstAtMs - sentAtMs);
  return starts
    .filter((start) => firstAtMs >= start.sentAtMs - clockMs && firstWordsOf(start.key, content) === start.firstWords)
    .sort((one, other) => far(one) - far(other))[0];
}
