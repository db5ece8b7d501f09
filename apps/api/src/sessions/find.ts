/** The session a route names, by any id it ever had. */
import { RelayError } from '@relay/protocol';
import { type Db, type SessionRecord, findSession } from '@relay/database';

/** @throws RelayError SESSION_NOT_FOUND, also for another user's session: ids cannot be probed */
export async function requireSession(db: Db, userId: string, sessionId: string): Promise<SessionRecord> {
  const record = await findSession(db, userId, sessionId);
  if (!record) throw new RelayError('SESSION_NOT_FOUND', 'You have no session with this id.');
  return record;
}
