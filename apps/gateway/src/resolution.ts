/** Announces the new name of a session: apps learn the id, and the daemon which session to watch. */
import type { Publisher } from '@relay/attention';
import type { Resolved, SessionRecord } from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import type { Watching } from './watching.ts';

/** Nothing follows from a resolution that changed nothing. */
export async function announceResolution(
  { publisher, watching }: { publisher: Publisher; watching: Watching },
  connection: DaemonConnection,
  record: SessionRecord,
  resolved: Resolved | undefined,
): Promise<void> {
  if (resolved?.previousId === undefined) return;
  if (resolved.mergedKey !== undefined) connection.memory.rekey(resolved.mergedKey, record.key);
  // Said under the key that has gone: the daemon may repeat it as a message of the user.
  for (const content of resolved.instructions ?? [])
    await publisher.markSaid(record.ownerId, record.key, { role: 'USER', content });
  connection.memory.rememberKey(record.nativeId, record.key);
  await publisher.session(record, resolved.previousId);
  await watching
    .sync(connection, record.key)
    .catch((error: unknown) => connection.logger.warn({ err: error }, 'the daemon was not told what to watch'));
}
