/** PATCH and DELETE /api/sessions/:id (rules, 8.18). The daemon's own history is untouched. */
import { deleteSession as hideSession, readSessions, updateSession as changeSession } from '@relay/database';
import { RelayError, type Session, type UpdateSession } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { forgetHistory } from './forget-history.ts';
import { withSession } from './find.ts';

/** @throws RelayError SESSION_NOT_FOUND, INVALID_REQUEST (blank title, nothing to change) */
export async function updateSession(
  deps: Operations,
  userId: string,
  sessionId: string,
  change: UpdateSession,
): Promise<Session> {
  if (change.title === undefined && change.archived === undefined)
    throw new RelayError('INVALID_REQUEST', 'Send "title" or "archived".');
  const title = change.title?.trim();
  if (title === '') throw new RelayError('INVALID_REQUEST', '"title" may not be empty.');
  const record = await withSession(deps.database, userId, sessionId, async (tx, { key }) => {
    await changeSession(tx, key, {
      ...(title === undefined ? {} : { title }),
      ...(change.archived === undefined ? {} : { archived: change.archived }),
    });
    return (await readSessions(tx, [key]))[0]!;
  });
  deps.tell(record.session.deviceId, { v: 1, kind: 'changed', sessionKey: record.key });
  await deps.publisher.session(record);
  return record.session;
}

/** Erases a session; it is discovered again when the daemon reports later activity. @throws RelayError SESSION_NOT_FOUND */
export async function deleteSession(deps: Operations, userId: string, sessionId: string): Promise<void> {
  const { key, session, running } = await withSession(deps.database, userId, sessionId, async (tx, record) => ({
    ...record,
    running: await hideSession(tx, record.key),
  }));
  const { deviceId } = session;
  if (running !== undefined) deps.tell(deviceId, { v: 1, kind: 'cancel', taskId: running });
  deps.tell(deviceId, { v: 1, kind: 'changed', sessionKey: key });
  await deps.publisher.append(userId, { type: 'session_removed', sessionId: session.id }, 'x');
  await forgetHistory(deps, userId);
}
