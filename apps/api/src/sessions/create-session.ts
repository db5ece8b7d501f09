/** POST /api/sessions (rules, 6.19): a session with a placeholder id, its first task, and a wake-up for the daemon. */
import { message, newMessage } from '@relay/attention';
import {
  agentTypesOf,
  attachedText,
  SessionsFull,
  findSession,
  createSession as insertSession,
  readSessions,
  withDevice,
} from '@relay/database';
import {
  type CreateSession,
  type CreatedSession,
  RelayError,
  formatSessionId,
  placeholderNativeId,
} from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import type { Operations } from '../deps.ts';
import { requireText } from '../devices/names.ts';
import { type Accepted, checkMessage, onceOnly, timeToLive } from './accept.ts';
import { type AgentTurn, requireFreeTurn } from './agent-turn.ts';
import { requireRoomForLater, timeOf } from './later.ts';
import { checkImages, filesIn, requireFiles, requireRoomForImages } from './images.ts';
import { requireControls } from './settings.ts';

/**
 * Accepts a session: when this returns, the task is in the database. It is published second, and the agent is not waited for.
 * `agent`: an agent starts it.
 * @throws RelayError DEVICE_NOT_FOUND, DEVICE_OFFLINE (only with a time to live of 0), PAYLOAD_TOO_LARGE, IDEMPOTENCY_CONFLICT,
 *   INVALID_IMAGE, AGENT_NOT_OFFERED, TOO_MANY_LATER, NOT_SUPPORTED_BY_DEVICE, QUEUE_FULL (of images), TOO_MANY_SESSIONS
 */
export async function createSession(
  deps: Operations,
  userId: string,
  body: CreateSession,
  idempotencyKey: string | undefined,
  agent?: AgentTurn,
): Promise<Accepted<CreatedSession>> {
  checkMessage(body.message, 'message');
  const notBefore = timeOf(body);
  const images = checkImages(body.images);
  requireText(body.title, 'title');
  const missing = () => new RelayError('DEVICE_NOT_FOUND');
  const accepted = await withDevice(deps.database, body.deviceId, async (tx, device) => {
    if (device?.ownerId !== userId) throw missing();
    const settings = await requireControls(tx, device.id, body.settings);
    await requireFiles(tx, device.id, body.files);
    const idempotent = {
      userId,
      route: 'createSession',
      key: idempotencyKey,
      request: [
        body.deviceId,
        body.message,
        body.projectPath,
        body.title,
        body.queueTtlSeconds,
        ...(body.agentType === undefined ? [] : [`agent ${body.agentType}`]),
        ...(body.pendingId === undefined ? [] : [`pending ${body.pendingId}`]),
        ...(images ? [images.digest] : []),
        ...filesIn(body.files),
        ...(settings === undefined ? [] : [`settings ${settings}`]),
        ...(body.notBefore === undefined ? [] : [`later ${body.notBefore}`]),
      ],
      status: 201,
    } as const;
    return onceOnly(tx, idempotent, deps.config.idempotencyTtlSeconds, body.message, async () => {
      const agentType = body.agentType ?? device.agentType;
      if (agentType !== device.agentType && !(await agentTypesOf(tx, device)).includes(agentType))
        throw new RelayError('AGENT_NOT_OFFERED');
      if (body.pendingId !== undefined) {
        const named = { deviceId: device.id, agentType, nativeId: placeholderNativeId(body.pendingId) };
        if (await findSession(tx, userId, formatSessionId(named)))
          throw new RelayError(
            'INVALID_REQUEST',
            '"pendingId" names a session already. Make a new one for each session.',
          );
      }
      if (agent) await requireFreeTurn(tx, userId);
      if (notBefore) await requireRoomForLater(tx, userId);
      const { waitingImagesMibPerUser } = deps.config;
      const unconfirmed = images && (await requireRoomForImages(tx, device.id, images.text, waitingImagesMibPerUser));
      const { key, taskId } = await insertSession(tx, {
        ownerId: userId,
        deviceId: device.id,
        agentType,
        message: body.message,
        images: attachedText(images?.text, body.files),
        settings,
        title: body.title?.trim(),
        projectPath: body.projectPath ?? '',
        pendingId: body.pendingId,
        notBefore,
        ttlMs: await timeToLive(deps, device.id, body.queueTtlSeconds),
        maxSessions: deps.config.sessionsPerDevice,
        agentDepth: agent?.depth,
        startedBy: agent?.signIn,
      }).catch((error: unknown) => {
        if (!(error instanceof SessionsFull)) throw error;
        throw new RelayError(
          'TOO_MANY_SESSIONS',
          `The device has ${deps.config.sessionsPerDevice} sessions, which is the limit of this relay. Delete some.`,
        );
      });
      const [record] = await readSessions(tx, [key]);
      if (!record) throw new TypeError('a session vanished in its own transaction');
      return {
        ...record.session,
        taskId,
        message: message(
          userItemUuid(taskId),
          'USER',
          body.message,
          notBefore?.toISOString() ?? record.session.createdAt,
        ),
        ...unconfirmed,
        key,
        version: record.version,
      };
    });
  });
  const { key, version, ...response } = accepted.response;
  if (!accepted.replayed) {
    const { taskId: _taskId, message: userMessage, images: _images, ...session } = response;
    if (!notBefore)
      await deps.publisher.markPublished(userId, key, { role: 'USER', content: body.message, uuid: userMessage.uuid });
    // The session first: a client must know the session of the message.
    await deps.publisher.session({ ownerId: userId, key, version, session });
    if (notBefore) return { response, replayed: false };
    await deps.publisher.append(userId, newMessage(session.id, userMessage));
    deps.sendCommand(body.deviceId, { v: 1, kind: 'wake' });
  }
  return { response, replayed: accepted.replayed };
}
