/** POST /api/sessions/:id/messages (contract §2, §3): a follow-up, or the answer to what the agent asked. */
import { message, newMessage } from '@relay/attention';
import { enqueueMessage, findSession, readSessions } from '@relay/database';
import { RelayError, type SendMessage, type SentMessage } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import type { Operations } from '../deps.ts';
import { type Accepted, checkMessage, onceOnly, timeToLive } from './accept.ts';
import { withSession } from './find.ts';
import { checkImages, requireRoomForImages } from './images.ts';

/**
 * Accepts a message behind whatever runs and waits in the session.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, QUEUE_FULL, DEVICE_OFFLINE (only with a time to live of 0),
 *   PAYLOAD_TOO_LARGE, IDEMPOTENCY_CONFLICT, INVALID_IMAGE, NOT_SUPPORTED_BY_DEVICE
 */
export async function sendMessage(
  deps: Operations,
  userId: string,
  sessionId: string,
  body: SendMessage,
  idempotencyKey: string | undefined,
): Promise<Accepted<SentMessage>> {
  checkMessage(body.content, 'content');
  const images = checkImages(body.images);
  const { accepted, deviceId } = await withSession(deps.database, userId, sessionId, async (tx, { key, session }) => {
    const { deviceId } = session;
    const idempotent = {
      userId,
      route: 'sendMessage',
      key: idempotencyKey,
      request: [body.content, body.queueTtlSeconds, ...(images ? [images.digest] : [])],
      status: 202,
      isAboutSame: async (earlier: Pick<SentMessage, 'sessionId'>) =>
        (await findSession(tx, userId, earlier.sessionId))?.key === key,
    } as const;
    const accept = async () => {
      const { waitingImagesMibPerUser } = deps.config;
      const unconfirmed = images && (await requireRoomForImages(tx, deviceId, images.text, waitingImagesMibPerUser));
      const enqueued = await enqueueMessage(tx, {
        key,
        deviceId,
        ownerId: userId,
        content: body.content,
        images: images?.text,
        ttlMs: await timeToLive(deps, deviceId, body.queueTtlSeconds),
        queueLimit: deps.config.queueLimit,
      });
      if (enqueued.kind === 'full')
        throw new RelayError(
          'QUEUE_FULL',
          `${deps.config.queueLimit} messages already wait in this session. Wait, or cancel some.`,
        );
      if (enqueued.kind === 'unresolved') {
        throw new RelayError(
          'SESSION_NOT_RESOLVED',
          'The device never started this session, so there is nothing to continue. Start a new one.',
        );
      }
      const [record] = await readSessions(tx, [key]);
      if (!record) throw new TypeError('a session vanished in its own transaction');
      const said = message(userItemUuid(enqueued.taskId), 'USER', body.content, record.session.updatedAt);
      return {
        taskId: enqueued.taskId,
        sessionId: record.session.id,
        state: 'queued' as const,
        message: said,
        ...unconfirmed,
        key,
      };
    };
    const { idempotencyTtlSeconds } = deps.config;
    return { accepted: await onceOnly(tx, idempotent, idempotencyTtlSeconds, body.content, accept), deviceId };
  });
  const { key, ...response } = accepted.response;
  if (!accepted.replayed) {
    await deps.publisher.markSaid(userId, key, { role: 'USER', content: body.content, uuid: response.message.uuid });
    await deps.publisher.append(userId, newMessage(response.sessionId, response.message));
    await deps.publisher.sessions([key]);
    deps.tell(deviceId, { v: 1, kind: 'wake' });
  }
  return { response, replayed: accepted.replayed };
}
