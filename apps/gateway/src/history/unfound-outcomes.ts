/**
 * Outcomes that earlier connections did not find (rules, 3.4): they did not search the history, or closed before it
 * answered. Every connection searches once, and searches again if a task of an unnamed session gets a doubtful outcome.
 * The search waits for the database in an outage: a daemon that sends its status once would not trigger another search.
 */
import { type Database, findDeliveredTask, gathered, unfoundEnds } from '@relay/database';
import type { DaemonConnection } from '../connection/connection.ts';
import { outlast } from '../connection/outage.ts';
import type { Outcomes } from './outcomes.ts';
import type { Unnamed } from './unnamed.ts';

interface UnfoundEndDeps {
  database: Database;
  outcomes: Outcomes;
  unnamed: Unnamed;
}

/** First tasks in doubt whose sessions a connection searches: the newest ones. */
const maxDoubtful = 20;

/**
 * Returns the function that searches for missing outcomes of the last hour. It returns immediately and never throws.
 */
export function createUnfoundEnds({ database, outcomes, unnamed }: UnfoundEndDeps) {
  const searched = new WeakSet<DaemonConnection>();
  const endsOf = gathered((deviceIds) => unfoundEnds(database, deviceIds));

  const findAll = async (connection: DaemonConnection) => {
    const ends = (await endsOf(connection.deviceId)) ?? [];
    const idsOf = (lack: string) => ends.flatMap(({ taskId, lacks }) => (lacks === lack ? taskId : []));
    if (idsOf('unnamed').length > 0) unnamed.look(connection);
    for (const id of idsOf('wordless')) {
      const task = await findDeliveredTask(database, id);
      if (task?.instruction) outcomes.ofWordless(connection, task);
    }
    for (const id of idsOf('doubtful').slice(-maxDoubtful)) await unnamed.named(connection, id);
  };

  const find = async (connection: DaemonConnection) =>
    outlast(
      () => findAll(connection),
      () => !connection.live,
    );

  return (connection: DaemonConnection): void => {
    if (searched.has(connection)) return;
    searched.add(connection);
    find(connection).catch((error: unknown) =>
      connection.logger.warn({ err: error }, 'ends that an earlier connection did not find were not looked for'),
    );
  };
}
