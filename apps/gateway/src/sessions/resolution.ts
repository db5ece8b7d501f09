/** Publishes the new name of a session: apps learn the id, and the daemon which session to watch. */
import type { Publisher } from '@relay/attention';
import { type Db, type Resolved, type SessionRecord, resolveSession } from '@relay/database';
import type { DaemonEvent } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';
import { nativeIdOf } from './translate.ts';
import type { Watching } from './watching.ts';

/** Gives the session the native id that the event carries, if it is a new one. Must run inside `withDevice`. */
export async function resolveNamed(
  tx: Db,
  deviceId: string,
  sessionKey: string,
  event: DaemonEvent,
): Promise<Resolved | undefined> {
  const nativeId = nativeIdOf(event);
  if (nativeId === undefined) return undefined;
  return resolveSession(tx, deviceId, sessionKey, nativeId, event.event_type === 'SESSION_STARTED');
}

/** Nothing follows from a resolution that changed nothing. */
export async function publishResolution(
  { publisher, watching }: { publisher: Publisher; watching: Watching },
  connection: DaemonConnection,
  record: SessionRecord,
  resolved: Resolved | undefined,
): Promise<void> {
  if (resolved?.previousId === undefined) return;
  if (resolved.mergedKey !== undefined) connection.sessions.rekey(resolved.mergedKey, record.key);
  // The relay marked them under the merged key, which is deleted: mark them again, so that the daemon's repetition does
  // not become a second message.
  for (const content of resolved.instructions ?? [])
    await publisher.markPublished(record.ownerId, record.key, { role: 'USER', content });
  connection.sessions.rename(record.nativeId, record.key);
  await publisher.session(record, resolved.previousId);
  await watching
    .sync(connection, record.key)
    .catch((error: unknown) => connection.logger.warn({ err: error }, 'the watch of a session could not be sent'));
}
