/** Watching (rules, 14.1): per user; the daemon is told by whichever instance holds it. */
import { type SessionRecord, countWatches, findSession, unwatchSession, watchSession } from '@relay/database';
import { RelayError, limits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { requireSession } from './find.ts';

async function publishWatch(deps: Operations, { key, session }: SessionRecord): Promise<void> {
  deps.tell(session.deviceId, { v: 1, kind: 'changed', sessionKey: key });
  await deps.publisher.sessions([key]);
}

/** @throws RelayError SESSION_NOT_FOUND, TOO_MANY_WATCHED */
export async function watch(
  deps: Operations,
  userId: string,
  sessionId: string,
): Promise<{ sessionId: string; first: boolean }> {
  const record = await requireSession(deps.database, userId, sessionId);
  if ((await countWatches(deps.database, userId)) >= limits.watchedSessions && !record.session.watched)
    throw new RelayError('TOO_MANY_WATCHED', `You watch ${limits.watchedSessions} sessions. Stop watching some.`);
  const first = await watchSession(deps.database, userId, record.key);
  if (first) await publishWatch(deps, record);
  return { sessionId: record.session.id, first };
}

/** Any id will do: what is not watched, or does not exist, is not watched afterwards either. */
export async function unwatch(deps: Operations, userId: string, sessionId: string): Promise<string> {
  const record = await findSession(deps.database, userId, sessionId);
  if (!record) return sessionId;
  const was = await unwatchSession(deps.database, userId, record.key);
  if (was) await publishWatch(deps, record);
  return record.session.id;
}
