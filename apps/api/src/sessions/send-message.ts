/** POST /api/sessions/:id/messages (rules, 6.19): a follow-up, or the answer to what the agent asked. */
import { type SessionRecord, findSession } from '@relay/database';
import type { SendMessage, SentMessage } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { type Accepted, checkMessage, onceOnly } from './accept.ts';
import { withSession } from './find.ts';
import type { AgentTurn } from './agent-turn.ts';
import { acceptFollowUp, isAboutSession, publishFollowUp } from './follow-up.ts';
import { checkImages, requireRoomForImages } from './images.ts';
import { judgeAnswer } from './judge-answer.ts';
import { requireControls } from './settings.ts';
import { refuseUnbound, requireOpenPrompt } from './open-prompt.ts';

/**
 * Accepts a message behind whatever runs and waits in the session. `agent`: an agent sends it.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, QUEUE_FULL, DEVICE_OFFLINE (only with a time to live of 0),
 *   PAYLOAD_TOO_LARGE, IDEMPOTENCY_CONFLICT, INVALID_IMAGE, NOT_SUPPORTED_BY_DEVICE; PROMPT_REFERENCE_REQUIRED without `answers`, and
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
  const images = checkImages(body.images);
  let after: SessionRecord | undefined;
  const { accepted, deviceId } = await withSession(deps.database, userId, sessionId, async (tx, record) => {
    const { deviceId } = record.session;
    const settings = await requireControls(tx, deviceId, body.settings);
    const idempotent = {
      userId,
      route: 'sendMessage',
      key: idempotencyKey,
      request: [
        content,
        body.queueTtlSeconds,
        ...(images ? [images.digest] : []),
        ...(settings === undefined ? [] : [`settings ${settings}`]),
        ...(uuid === undefined ? [] : [`answers ${uuid ?? ''}`]),
      ],
      status: 202,
      isAboutSame: isAboutSession((id) => findSession(tx, userId, id), record.key),
    } as const;
    const accept = async () => {
      if (uuid === undefined) refuseUnbound(record, deps.config.boundApprovals);
      const asked =
        uuid === undefined || uuid === null ? undefined : await requireOpenPrompt(tx, record, uuid, undefined);
      if (asked) judgeAnswer(asked.prompt, { text: content });
      const { waitingImagesMibPerUser } = deps.config;
      const unconfirmed = images && (await requireRoomForImages(tx, deviceId, images.text, waitingImagesMibPerUser));
      const answers = asked ? { uuid: asked.uuid } : null;
      const followUp = { content, images: images?.text, settings, queueTtlSeconds: body.queueTtlSeconds, agent };
      const { sent, record: changed } = await acceptFollowUp(deps, tx, userId, record, {
        ...followUp,
        ...(uuid === undefined ? {} : { answers }),
      });
      after = changed;
      return { ...sent, state: 'queued' as const, ...unconfirmed };
    };
    return {
      accepted: await onceOnly(tx, idempotent, deps.config.idempotencyTtlSeconds, content, accept),
      deviceId,
    };
  });
  await publishFollowUp(deps, userId, deviceId, accepted, after);
  const { key: _key, ...response } = accepted.response;
  return { response, replayed: accepted.replayed };
}
