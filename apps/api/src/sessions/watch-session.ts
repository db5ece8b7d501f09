/** Watching (rules, 14.1): per user; the instance that owns the device informs the daemon. */
import { type Db, type SessionRecord, findSession, setNotify, unwatchSession, watchSession } from '@relay/database';
import { RelayError, limits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { requireSession, withSession } from './find.ts';

async function publishWatch(deps: Operations, { key, session }: SessionRecord, unwatched: boolean): Promise<void> {
  deps.sendCommand(session.deviceId, { v: 1, kind: 'changed', sessionKey: key, unwatched });
  await deps.publisher.sessions([key]);
}

/** True the first time. @throws RelayError TOO_MANY_WATCHED */
async function startWatching(tx: Db, userId: string, key: string): Promise<boolean> {
  const started = await watchSession(tx, userId, key, limits.watchedSessions);
  if (started !== 'full') return started === 'first';
  throw new RelayError('TOO_MANY_WATCHED');
}

const asInSettings = (deps: Operations, userId: string, sessionId: string): Promise<void> =>
  withSession(deps.database, userId, sessionId, (tx, { key }) => setNotify(tx, key, null));

/** Under the lock of the device. `all` and `watched` watch the session, `off` does not (rules, 14.11). @throws RelayError TOO_MANY_WATCHED */
export async function chooseNotify(
  tx: Db,
  userId: string,
  key: string,
  level: 'all' | 'watched' | 'off',
): Promise<void> {
  if (level === 'off') await unwatchSession(tx, userId, key);
  else await startWatching(tx, userId, key);
  await setNotify(tx, key, level === 'watched' ? null : level);
}

/** @throws RelayError SESSION_NOT_FOUND, TOO_MANY_WATCHED */
export async function watch(
  deps: Operations,
  userId: string,
  sessionId: string,
): Promise<{ sessionId: string; first: boolean }> {
  const record = await requireSession(deps.database, userId, sessionId);
  const first = await deps.database.sql.transaction((tx) => startWatching(tx, userId, record.key));
  const wasOff = record.session.notify === 'off';
  if (wasOff) await asInSettings(deps, userId, sessionId);
  if (first || wasOff) await publishWatch(deps, record, false);
  return { sessionId: record.session.id, first };
}

/** Accepts any id: an unwatched or unknown session is not watched afterwards either. */
export async function unwatch(deps: Operations, userId: string, sessionId: string): Promise<string> {
  const record = await findSession(deps.database, userId, sessionId);
  if (!record) return sessionId;
  const was = await unwatchSession(deps.database, userId, record.key);
  const wasAll = record.session.notify === 'all';
  if (wasAll) await asInSettings(deps, userId, sessionId);
  if (was || wasAll) await publishWatch(deps, record, true);
  return record.session.id;
}
