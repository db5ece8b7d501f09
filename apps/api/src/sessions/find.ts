/** The session a route names, by any id it ever had. */
import { RelayError, parseSessionId } from '@relay/protocol';
import {
  type Database,
  type Db,
  type SessionPlace,
  type SessionRecord,
  findSession,
  withSessionLocked,
} from '@relay/database';
import type { Operations } from '../deps.ts';

const missing = () => new RelayError('SESSION_NOT_FOUND');

/** @throws RelayError SESSION_NOT_FOUND, also for another user's session: ids cannot be probed */
export async function requireSession(db: Db, userId: string, sessionId: string): Promise<SessionRecord> {
  const record = await findSession(db, userId, sessionId);
  if (!record) throw missing();
  return record;
}

/** Where the session is, which is all that a question to its daemon needs. @throws RelayError as `requireSession` */
export async function requirePlace(
  deps: Pick<Operations, 'findPlace'>,
  userId: string,
  sessionId: string,
): Promise<SessionPlace> {
  const place = await deps.findPlace({ ownerId: userId, sessionId });
  if (!place) throw missing();
  return place;
}

/**
 * Runs `work` with the session, in a transaction that holds the lock of its device. Every id that a session ever had contains the
 * device, so the session is read once, under the lock, where its name cannot change and it cannot disappear.
 * @throws RelayError SESSION_NOT_FOUND, and the errors of `work`
 */
export async function withSession<T>(
  database: Pick<Database, 'sql'>,
  userId: string,
  sessionId: string,
  work: (tx: Db, record: SessionRecord) => Promise<T>,
): Promise<T> {
  const id = parseSessionId(sessionId);
  if (!id || sessionId.includes('\0')) throw missing();
  return withSessionLocked(database, userId, id, async (tx, record) => {
    if (!record) throw missing();
    return work(tx, record);
  });
}
