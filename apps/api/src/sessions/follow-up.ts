/** The common part of a message and the answer to a question: a task behind the others, and the frames to apps and the daemon. */
import { message, newMessage } from '@relay/attention';
import { type Db, type PromptAnswer, type SessionRecord, enqueueMessage } from '@relay/database';
import { type Message, RelayError } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import type { Operations } from '../deps.ts';
import { type Accepted, timeToLive } from './accept.ts';
import { type AgentTurn, requireFreeTurn } from './agent-turn.ts';

interface FollowUp {
  content: string;
  /** Data URLs; a JSON array. */
  images?: string | undefined;
  /** Chosen with it; a JSON array. */
  settings?: string | undefined;
  queueTtlSeconds?: number | undefined;
  /** The open question that it answers; null: none. Absent: the oldest one, if any. */
  answers?: (PromptAnswer & { uuid: string }) | null;
  /** Absent: a person sent it. */
  agent?: AgentTurn | undefined;
}

/**
 * Returns what is answered, and the session as it then is.
 * @throws RelayError SESSION_NOT_RESOLVED, QUEUE_FULL, DEVICE_OFFLINE (only with a time to live of 0)
 */
export async function acceptFollowUp(
  deps: Operations,
  tx: Db,
  userId: string,
  { key, session: { deviceId } }: SessionRecord,
  { content, images, settings, queueTtlSeconds, answers, agent }: FollowUp,
): Promise<{ sent: { taskId: string; sessionId: string; message: Message; key: string }; record: SessionRecord }> {
  if (agent) await requireFreeTurn(tx, userId);
  const enqueued = await enqueueMessage(tx, {
    key,
    deviceId,
    ownerId: userId,
    content,
    images,
    settings,
    ttlMs: await timeToLive(deps, deviceId, queueTtlSeconds),
    queueLimit: deps.config.queueLimit,
    agentDepth: agent?.depth,
    ...(answers === undefined ? {} : { answers }),
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
  const { record } = enqueued;
  const said = message(userItemUuid(enqueued.taskId), 'USER', content, record.session.updatedAt);
  return { sent: { taskId: enqueued.taskId, sessionId: record.session.id, message: said, key }, record };
}

/** Tells apps and the daemon of what was accepted. `record`: the session as `acceptFollowUp` left it; a repetition has none, and is published to none. */
export async function publishFollowUp(
  deps: Operations,
  userId: string,
  deviceId: string,
  { response }: Accepted<{ sessionId: string; message: Message; key: string }>,
  record: SessionRecord | undefined,
): Promise<void> {
  if (!record) return;
  const { content, uuid } = response.message;
  // Asked of the backplane in one turn, which carries them out in this order.
  await Promise.all([
    deps.publisher.markSaid(userId, response.key, { role: 'USER', content, uuid }),
    deps.publisher.append(userId, newMessage(response.sessionId, response.message)),
    deps.publisher.session(record),
  ]);
  deps.tell(deviceId, { v: 1, kind: 'wake' });
}

/** The same key repeats a request about the same session, whichever of its ids was used. */
export const isAboutSession =
  (find: (sessionId: string) => Promise<SessionRecord | undefined>, key: string) =>
  async (earlier: { sessionId: string }): Promise<boolean> =>
    (await find(earlier.sessionId))?.key === key;
