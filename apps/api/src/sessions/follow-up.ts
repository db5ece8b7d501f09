/** The common part of a message and an answer: queues a task, and publishes the frames to apps and the daemon. */
import { message, newMessage } from '@relay/attention';
import {
  type Db,
  type Enqueued,
  type PromptAnswer,
  type SessionRecord,
  enqueueMessage,
  readSessions,
  steerQueued,
} from '@relay/database';
import { type DeskChoice, type Message, RelayError } from '@relay/protocol';
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
  /** The open question it answers; null: no question. Absent: the oldest open one, if any. */
  answers?: (PromptAnswer & { uuid: string }) | null;
  /** The person's choice about a terminal that has the session open. */
  desk?: DeskChoice | undefined;
  /** Absent: a person sent it. */
  agent?: AgentTurn | undefined;
  /** The task whose turn it goes into: the queue does not count. */
  into?: string | undefined;
}

/**
 * Returns the answered question, and the session after the change.
 * @throws RelayError SESSION_NOT_RESOLVED, QUEUE_FULL, DEVICE_OFFLINE (only with a time to live of 0)
 */
export async function acceptFollowUp(
  deps: Operations,
  tx: Db,
  userId: string,
  { key, session: { deviceId } }: SessionRecord,
  { content, images, settings, queueTtlSeconds, answers, desk, agent, into }: FollowUp,
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
    queueLimit: into === undefined ? deps.config.queueLimit : unlimited,
    agentDepth: agent?.depth,
    desk,
    ...(answers === undefined ? {} : { answers }),
  });
  const { taskId, record: queued } = requireQueued(deps, enqueued);
  if (into !== undefined) await steerQueued(tx, taskId, into);
  const record = into === undefined ? queued : (await readSessions(tx, [key]))[0]!;
  const userMessage = message(userItemUuid(taskId), 'USER', content, record.session.updatedAt);
  return { sent: { taskId, sessionId: record.session.id, message: userMessage, key }, record };
}

/** A message into the running turn waits in no line. PostgreSQL's largest `int`. */
const unlimited = 2_147_483_647;

/** @throws RelayError SESSION_NOT_RESOLVED, QUEUE_FULL */
export function requireQueued(deps: Operations, enqueued: Enqueued): Extract<Enqueued, { kind: 'queued' }> {
  if (enqueued.kind === 'full')
    throw new RelayError(
      'QUEUE_FULL',
      `${deps.config.queueLimit} messages already wait in this session. Wait, or cancel some.`,
    );
  if (enqueued.kind === 'unresolved') {
    throw new RelayError('SESSION_NOT_RESOLVED');
  }
  return enqueued;
}

/**
 * Publishes an accepted message to apps and the daemon. `record`: the session as `acceptFollowUp` left it; undefined for a
 * repeated request, which is not published.
 */
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
    deps.publisher.markPublished(userId, response.key, { role: 'USER', content, uuid }),
    deps.publisher.append(userId, newMessage(response.sessionId, response.message)),
    deps.publisher.session(record),
  ]);
  deps.sendCommand(deviceId, { v: 1, kind: 'wake' });
}

/** The same key repeats a request about the same session, by any of its ids. */
export const isAboutSession =
  (find: (sessionId: string) => Promise<SessionRecord | undefined>, key: string) =>
  async (earlier: { sessionId: string }): Promise<boolean> =>
    (await find(earlier.sessionId))?.key === key;
