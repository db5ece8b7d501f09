/** Messages whose time has come (rules, chapter 26). Write first, publish second: to every app such a message is a new one. */
import { type Publisher, message, newMessage } from '@relay/attention';
import { type Database, type Fired, type Released, countLater, readSessions } from '@relay/database';
import { userItemUuid } from '@relay/protocol/identity';

interface LaterDeps {
  database: Database;
  publisher: Publisher;
}

/** Publishes messages that joined their queues, in their order. A session that was deleted since is left out. */
export async function publishReleased(
  { database, publisher }: LaterDeps,
  released: readonly Released[],
): Promise<void> {
  const records = await readSessions(
    database,
    released.map(({ sessionKey }) => sessionKey),
  );
  const byKey = new Map(records.map((record) => [record.key, record]));
  for (const { sessionKey, taskId, content } of released) {
    const record = byKey.get(sessionKey);
    if (!record) continue;
    const { ownerId, session } = record;
    const said = message(userItemUuid(taskId), 'USER', content, session.updatedAt);
    await publisher.markPublished(ownerId, sessionKey, { role: 'USER', content, uuid: said.uuid });
    await publisher.append(ownerId, newMessage(session.id, said));
  }
  for (const record of records) await publisher.session(record);
}

/** Publishes the runs of schedules that were due. The session first: an app must know the session of a message. */
export async function publishFired(deps: LaterDeps, ownerId: string, { released, moved }: Fired): Promise<void> {
  await deps.publisher.sessions([...moved, ...released.map(({ sessionKey }) => sessionKey)]);
  await publishReleased(deps, released);
  const count = await countLater(deps.database, ownerId);
  await deps.publisher.append(ownerId, { type: 'later_changed', count }, 'x');
}
