/** POST /api/sessions/:id/messages (rules, 6.19): a follow-up, or the answer to the agent's question. */
import { message } from '@relay/attention';
import { type SessionRecord, acceptMessage, attachedText, findSession, isKeyTaken, newUlid } from '@relay/database';
import { RelayError, type SendMessage, type SentMessage, formatSessionId, parseSessionId } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import type { Operations } from '../deps.ts';
import { type Accepted, checkMessage, conflict, hashOf, onceOnly, timeToLive } from './accept.ts';
import { withSession } from './find.ts';
import type { AgentTurn } from './agent-turn.ts';
import { acceptFollowUp, isAboutSession, publishFollowUp, requireQueued } from './follow-up.ts';
import { acceptLater, checkLater, timeOf } from './later.ts';
import { checkImages, filesIn, requireFiles, requireRoomForImages } from './images.ts';
import { judgeAnswer } from './judge-answer.ts';
import { requireControls } from './settings.ts';
import { refuseUnbound, requireOpenPrompt } from './open-prompt.ts';
import { requireTurn } from './steer.ts';

/**
 * Queues a message after the running and waiting tasks of the session. `agent`: an agent sends it.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, QUEUE_FULL, DEVICE_OFFLINE (only with a time to live of 0),
 *   TOO_MANY_LATER, AGENT_ASKS, RATE_LIMITED, PAYLOAD_TOO_LARGE, IDEMPOTENCY_CONFLICT, INVALID_IMAGE, NOT_SUPPORTED_BY_DEVICE; PROMPT_REFERENCE_REQUIRED without `answers`, and
 *   with it PROMPT_NOT_FOUND, PROMPT_ALREADY_ANSWERED, PROMPT_SUPERSEDED, INVALID_ANSWER
 */
export async function sendMessage(
  deps: Operations,
  userId: string,
  sessionId: string,
  body: SendMessage,
  idempotencyKey: string | undefined,
  agent?: AgentTurn,
): Promise<Accepted<SentMessage>> {
  const { content, answers: uuid } = body;
  checkMessage(content, 'content');
  if (body.deliver === 'now' && typeof uuid === 'string')
    throw new RelayError('INVALID_REQUEST', 'An answer has its own way: send it without "deliver".');
  checkLater(body);
  const notBefore = timeOf(body);
  const images = checkImages(body.images);
  // `deliver` is left out: a message whose answer was lost is sent again for the next turn.
  const request = [
    content,
    body.queueTtlSeconds,
    ...(images ? [images.digest] : []),
    ...filesIn(body.files),
    ...(body.settings === undefined ? [] : [`settings ${JSON.stringify(body.settings)}`]),
    ...(uuid === undefined ? [] : [`answers ${uuid ?? ''}`]),
    ...(body.desk === undefined ? [] : [`desk ${body.desk}`]),
    ...(body.notBefore === undefined ? [] : [`later ${body.notBefore} ${body.because ?? ''}`]),
  ];
  const isSpecial =
    notBefore !== undefined || body.settings !== undefined || body.desk !== undefined || body.deliver === 'now';
  const isPlain =
    !images &&
    !body.files?.length &&
    !agent &&
    !isSpecial &&
    (uuid === undefined || uuid === null) &&
    body.queueTtlSeconds !== 0;
  const plain = isPlain ? await acceptPlain(deps, userId, sessionId, body, idempotencyKey, hashOf(request)) : undefined;
  if (plain) {
    await publishFollowUp(deps, userId, plain.deviceId, plain, plain.after);
    const { key: _key, ...response } = plain.response;
    return { response, replayed: false };
  }
  let after: SessionRecord | undefined;
  const { accepted, deviceId } = await withSession(deps.database, userId, sessionId, async (tx, record) => {
    const { deviceId } = record.session;
    const settings = await requireControls(tx, deviceId, body.settings);
    await requireFiles(tx, deviceId, body.files);
    const idempotent = {
      userId,
      route: 'sendMessage',
      key: idempotencyKey,
      request,
      status: 202,
      isAboutSame: isAboutSession((id) => findSession(tx, userId, id), record.key),
    } as const;
    const accept = async () => {
      if (notBefore !== undefined) {
        const { content, because, queueTtlSeconds } = body;
        const later = await acceptLater(deps, tx, userId, record, {
          content,
          because,
          queueTtlSeconds,
          notBefore,
          settings,
        });
        after = later.record;
        return later.sent;
      }
      const now = body.deliver === 'now';
      const into = now ? await requireTurn(tx, record) : undefined;
      if (uuid === undefined) refuseUnbound(record, deps.config.boundApprovals);
      const openPrompt =
        uuid === undefined || uuid === null ? undefined : await requireOpenPrompt(tx, record, uuid, undefined);
      if (openPrompt) judgeAnswer(openPrompt.prompt, { text: content });
      const { waitingImagesMibPerUser } = deps.config;
      const unconfirmed = images && (await requireRoomForImages(tx, deviceId, images.text, waitingImagesMibPerUser));
      const answers = openPrompt ? { uuid: openPrompt.uuid } : null;
      const followUp = {
        ...{ content, images: attachedText(images?.text, body.files), settings, queueTtlSeconds: body.queueTtlSeconds },
        ...{ desk: body.desk, agent },
      };
      const { sent, record: changed } = await acceptFollowUp(deps, tx, userId, record, {
        ...followUp,
        ...(uuid === undefined && into === undefined ? {} : { answers }),
        into,
      });
      after = changed;
      const deliver: Pick<SentMessage, 'deliver'> = now ? { deliver: into === undefined ? 'next' : 'now' } : {};
      return { ...sent, state: 'queued' as const, ...unconfirmed, ...deliver };
    };
    return {
      accepted: await onceOnly(tx, idempotent, deps.config.idempotencyTtlSeconds, content, accept),
      deviceId,
    };
  });
  if (notBefore === undefined) await publishFollowUp(deps, userId, deviceId, accepted, after);
  else if (after) await deps.publisher.session(after);
  const { key: _key, ...response } = accepted.response;
  return { response, replayed: accepted.replayed };
}

/** Most messages: one statement accepts them (ADR 89). Undefined: nothing was written, and the transaction above decides. */
async function acceptPlain(
  deps: Operations,
  userId: string,
  sessionId: string,
  { content, answers, queueTtlSeconds }: SendMessage,
  key: string | undefined,
  hash: string,
) {
  const id = sessionId.includes('\0') ? undefined : parseSessionId(sessionId);
  if (!id) return undefined;
  const { config, database } = deps;
  const taskId = newUlid();
  const sent = (at: string) => ({
    taskId,
    sessionId: formatSessionId(id),
    message: message(userItemUuid(taskId), 'USER', content, at),
    state: 'queued' as const,
  });
  const kept = sent('');
  const replay = key !== undefined && {
    route: 'sendMessage',
    key,
    hash,
    ttlSeconds: config.idempotencyTtlSeconds,
    status: 202,
    response: JSON.stringify({ ...kept, message: { ...kept.message, content: '' } }),
  };
  const enqueued = await acceptMessage(database, {
    ...id,
    ownerId: userId,
    taskId,
    content,
    ttlMs: await timeToLive(deps, id.deviceId, queueTtlSeconds),
    queueLimit: config.queueLimit,
    isBehind: answers === null,
    isBound: config.boundApprovals === 'required',
    ...(replay && { replay }),
  }).catch((error: unknown) => {
    throw isKeyTaken(error) ? conflict() : error;
  });
  if (!enqueued) return undefined;
  const { record } = requireQueued(deps, enqueued);
  const response = { ...sent(record.session.updatedAt), key: record.key };
  return { response, replayed: false, deviceId: id.deviceId, after: record };
}
