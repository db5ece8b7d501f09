/** PATCH and DELETE /api/sessions/:id, PUT and DELETE …/read (rules, 8.18, 4.12). The daemon's own history is untouched. */
import {
  type Db,
  deleteSession as hideSession,
  markRead,
  markUnread,
  readSessions,
  updateSession as changeSession,
} from '@relay/database';
import { type MarkRead, RelayError, type Session, type UpdateSession } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { requireText } from '../devices/names.ts';
import { forgetHistory } from './forget-history.ts';
import { requireSession, withSession } from './find.ts';
import { publishCount } from './schedules.ts';
import { chooseNotify } from './watch-session.ts';

/** @throws RelayError SESSION_NOT_FOUND, INVALID_REQUEST (blank title, nothing to change), TOO_MANY_WATCHED */
export async function updateSession(
  deps: Operations,
  userId: string,
  sessionId: string,
  { title: given, archived, pinned, notify }: UpdateSession,
): Promise<Session> {
  if ([given, archived, pinned, notify].every((field) => field === undefined))
    throw new RelayError('INVALID_REQUEST', 'Send "title", "archived", "pinned" or "notify".');
  const title = given?.trim();
  requireText(title, 'title');
  const work = async (tx: Db, key: string) => {
    if (notify !== undefined) await chooseNotify(tx, userId, key, notify);
    await changeSession(tx, key, { title, archived, pinned });
  };
  const session = await change(deps, userId, sessionId, work, notify === 'off');
  if (archived === true) await publishCount(deps, userId);
  return session;
}

/**
 * Apps send this whenever they open a session, so a session already read causes no write. @throws RelayError SESSION_NOT_FOUND
 */
export async function markAsRead(
  deps: Operations,
  userId: string,
  sessionId: string,
  { upTo }: MarkRead,
): Promise<Session> {
  const { session } = await requireSession(deps.database, userId, sessionId);
  if (!session.unread) return session;
  return change(deps, userId, sessionId, (tx, key) => markRead(tx, key, upTo === undefined ? null : new Date(upTo)));
}

/** @throws RelayError SESSION_NOT_FOUND */
export const markAsUnread = (deps: Operations, userId: string, sessionId: string): Promise<Session> =>
  change(deps, userId, sessionId, markUnread);

/** Changes a session under the lock of its device, publishes it, and informs the instance of the daemon. */
async function change(
  deps: Operations,
  userId: string,
  sessionId: string,
  work: (tx: Db, key: string) => Promise<void>,
  unwatched = false,
): Promise<Session> {
  const record = await withSession(deps.database, userId, sessionId, async (tx, { key }) => {
    await work(tx, key);
    return (await readSessions(tx, [key]))[0]!;
  });
  deps.sendCommand(record.session.deviceId, { v: 1, kind: 'changed', sessionKey: record.key, unwatched });
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
  if (running !== undefined) deps.sendCommand(deviceId, { v: 1, kind: 'cancel', taskId: running });
  deps.sendCommand(deviceId, { v: 1, kind: 'changed', sessionKey: key });
  await deps.publisher.append(userId, { type: 'session_removed', sessionId: session.id }, 'x');
  await forgetHistory(deps, userId);
}
