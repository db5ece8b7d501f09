/** Messages with a time (rules, chapter 26). Until then a message is in no conversation: apps get the number of them and the next time. */
import { message } from '@relay/attention';
import {
  type Db,
  type SessionRecord,
  enqueueLater,
  hasTooManyLater,
  laterOf,
  readSchedules,
  readSessions,
} from '@relay/database';
import { type LaterList, RelayError, type SendMessage, type SentMessage, limits } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import type { Operations } from '../deps.ts';

/**
 * The time of a message, which is 30 s to 90 days ahead; undefined without one.
 * @throws RelayError INVALID_REQUEST, NOT_SUPPORTED_BY_DEVICE (images)
 */
export function timeOf(body: {
  notBefore?: string | undefined;
  images?: readonly string[] | undefined;
  files?: readonly string[] | undefined;
  queueTtlSeconds?: number | undefined;
}): Date | undefined {
  if (body.notBefore === undefined) return undefined;
  if (body.queueTtlSeconds === 0)
    throw new RelayError('INVALID_REQUEST', 'Send "notBefore" with a "queueTtlSeconds" above 0, or without it.');
  if ((body.images?.length ?? 0) + (body.files?.length ?? 0) > 0)
    throw new RelayError(
      'NOT_SUPPORTED_BY_DEVICE',
      'A message with a time has no images and no files: they are not kept for so long. Send them now, or later by hand.',
    );
  return checkTime(body.notBefore);
}

/** @throws RelayError INVALID_REQUEST */
export function checkTime(text: string): Date {
  const at = new Date(text);
  const aheadMs = at.getTime() - Date.now();
  if (!(aheadMs >= limits.laterFromMs && aheadMs <= limits.laterUntilMs))
    throw new RelayError('INVALID_REQUEST', '"notBefore" must be 30 seconds to 90 days ahead.');
  return at;
}

/** @throws RelayError TOO_MANY_LATER */
export async function requireRoomForLater(tx: Db, userId: string, key?: string): Promise<void> {
  if (await hasTooManyLater(tx, userId, key)) throw new RelayError('TOO_MANY_LATER');
}

/** Refuses a message that cannot have a time. @throws RelayError INVALID_REQUEST */
export function checkLater({ notBefore, because, deliver, answers, desk }: SendMessage): void {
  if (notBefore === undefined && because !== undefined)
    throw new RelayError('INVALID_REQUEST', 'Send "because" only with "notBefore".');
  if (notBefore !== undefined && (deliver !== undefined || typeof answers === 'string' || desk !== undefined))
    throw new RelayError(
      'INVALID_REQUEST',
      'Send "notBefore" without "deliver", "answers" and "desk": the message joins the queue at its time.',
    );
}

type SentLater = SentMessage & { key: string };

/**
 * Keeps a message for its time. Returns the response body and the session after it.
 * @throws RelayError SESSION_NOT_RESOLVED, TOO_MANY_LATER
 */
export async function acceptLater(
  deps: Operations,
  tx: Db,
  userId: string,
  { key, session }: SessionRecord,
  body: Pick<SendMessage, 'content' | 'because' | 'queueTtlSeconds'> & {
    notBefore: Date;
    settings?: string | undefined;
  },
): Promise<{ sent: SentLater; record: SessionRecord }> {
  await requireRoomForLater(tx, userId, key);
  const { content, because, settings, notBefore } = body;
  const ttlMs = (body.queueTtlSeconds ?? deps.config.queueTtlDefaultSeconds) * 1000;
  const about = { key, deviceId: session.deviceId, ownerId: userId };
  const taskId = await enqueueLater(tx, { ...about, content, settings, notBefore, because, ttlMs });
  if (taskId === undefined) throw new RelayError('SESSION_NOT_RESOLVED');
  const record = (await readSessions(tx, [key]))[0]!;
  const userMessage = message(userItemUuid(taskId), 'USER', content, notBefore.toISOString());
  return { sent: { taskId, sessionId: record.session.id, state: 'later', message: userMessage, key }, record };
}

/** Messages whose time has not come, and schedules. */
export async function listLater({ database }: Operations, userId: string): Promise<LaterList> {
  const [tasks, schedules] = await Promise.all([laterOf(database, userId), readSchedules(database, userId)]);
  return { tasks, ...(schedules.length === 0 ? {} : { schedules }) };
}
