/**
 * GET and DELETE /api/sessions/:id/queue, PATCH and DELETE …/queue/:taskId, POST …/queue/:taskId/now (rules, 2.17, 23.1). Under the lock of
 * the device, like claiming: only unsent tasks are changed, and a changed task is sent as changed.
 */
import {
  type Db,
  type SessionRecord,
  changeLater,
  editQueued,
  moveQueued,
  placeOf,
  readQueue,
  readSessions,
  steerQueued,
  withdrawQueued,
} from '@relay/database';
import { type ChangeQueued, RelayError, type SentNow, type SessionQueue } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import type { Operations } from '../deps.ts';
import { checkMessage } from './accept.ts';
import { checkTime } from './later.ts';
import { requireSession, withSession } from './find.ts';
import { requireTurn } from './steer.ts';

/** @throws RelayError SESSION_NOT_FOUND */
export async function queueOf(deps: Operations, userId: string, sessionId: string): Promise<SessionQueue> {
  const { database } = deps;
  const { key, session } = await requireSession(database, userId, sessionId);
  return { sessionId: session.id, ...(await readQueue(database, key)) };
}

interface Named {
  sessionId: string;
  taskId: string;
}

/** @throws RelayError SESSION_NOT_FOUND, TASK_NOT_FOUND, TASK_ALREADY_SENT, TASK_ALREADY_ENDED, TASK_NOT_CHANGEABLE, INVALID_REQUEST */
export async function changeQueued(
  deps: Operations,
  userId: string,
  { sessionId, taskId }: Named,
  { content, before, after, notBefore }: ChangeQueued,
): Promise<SessionQueue> {
  const target = before ?? after;
  if (content === undefined && target === undefined && notBefore === undefined)
    throw new RelayError('INVALID_REQUEST', 'Send "content", "before", "after" or "notBefore".');
  if (before !== undefined && after !== undefined)
    throw new RelayError('INVALID_REQUEST', 'Send "before" or "after", not both.');
  if (target === taskId) throw new RelayError('INVALID_REQUEST', 'A message cannot be moved next to itself.');
  if (content !== undefined) checkMessage(content, 'content');
  const at = notBefore === undefined ? undefined : checkTime(notBefore);
  let isLater = false;
  const key = await change(deps, userId, { sessionId, taskId }, async (tx, key, _record, place) => {
    isLater = place === 'later';
    if (isLater) {
      if (target !== undefined) throw fixed('A message with a time has no place in the queue before.');
      return changeLater(tx, key, taskId, { content, notBefore: at });
    }
    if (at) throw fixed('Only a message whose time has not come gets another time.');
    if (target !== undefined) {
      if ((await requireQueued(tx, key, target)) === 'later')
        throw fixed('A message with a time has no place in the queue.');
      const isMoved = await moveQueued(tx, key, taskId, before === undefined ? { after: target } : { before: target });
      if (!isMoved) throw fixed('The first message of a session and answers keep their places.');
    }
    if (content !== undefined && !(await editQueued(tx, key, taskId, content)))
      throw fixed('This is a choice and has no text of its own. Remove it, then answer again.');
  });
  // The daemon will repeat this text.
  const userMessage = { role: 'USER', uuid: userItemUuid(taskId) } as const;
  if (content !== undefined && !isLater) await deps.publisher.markPublished(userId, key, { ...userMessage, content });
  return queueOf(deps, userId, sessionId);
}

/** @throws RelayError SESSION_NOT_FOUND, TASK_NOT_FOUND, TASK_ALREADY_SENT, TASK_ALREADY_ENDED */
export async function removeQueued(deps: Operations, userId: string, named: Named): Promise<void> {
  await change(deps, userId, named, async (tx, key) => {
    await withdrawQueued(tx, key, named.taskId);
  });
}

/** Withdraws the messages that are due and unsent, in one transaction. @throws RelayError SESSION_NOT_FOUND */
export async function clearQueue(deps: Operations, userId: string, sessionId: string): Promise<SessionQueue> {
  let withdrawn: string[] = [];
  const record = await withSession(deps.database, userId, sessionId, async (tx, { key }) => {
    withdrawn = await withdrawQueued(tx, key);
    return (await readSessions(tx, [key]))[0]!;
  });
  if (withdrawn.length > 0) await publishChange(deps, record);
  return queueOf(deps, userId, record.session.id);
}

/**
 * Sends a waiting message into the turn that runs.
 * @throws RelayError SESSION_NOT_FOUND, TASK_NOT_FOUND, TASK_ALREADY_SENT, TASK_ALREADY_ENDED, TASK_NOT_CHANGEABLE, AGENT_ASKS,
 *   NOT_SUPPORTED_BY_DEVICE, RATE_LIMITED
 */
export async function sendQueuedNow(deps: Operations, userId: string, named: Named): Promise<SentNow> {
  const { taskId } = named;
  let into: string | undefined;
  const key = await change(deps, userId, named, async (tx, _key, record, place) => {
    if (place === 'later') throw fixed('The time of this message has not come.');
    into = await requireTurn(tx, record);
    if (into !== undefined && !(await steerQueued(tx, taskId, into)))
      throw fixed('The first message of a session and answers are sent in their order.');
  });
  const { session } = (await readSessions(deps.database, [key]))[0] ?? {};
  if (session) deps.sendCommand(session.deviceId, { v: 1, kind: 'wake' });
  return { taskId, state: 'queued', deliver: into === undefined ? 'next' : 'now' };
}

/** Changes a waiting message, publishes it, and sends it to the instance of the daemon. Resolves to the key of the session. */
async function change(
  deps: Operations,
  userId: string,
  { sessionId, taskId }: Named,
  work: (tx: Db, key: string, record: SessionRecord, place: 'later' | 'queued') => Promise<void>,
): Promise<string> {
  const record = await withSession(deps.database, userId, sessionId, async (tx, before) => {
    const { key } = before;
    const place = await requireQueued(tx, key, taskId);
    await work(tx, key, before, place);
    return (await readSessions(tx, [key]))[0]!;
  });
  await publishChange(deps, record);
  return record.key;
}

/** Publishes a session with its changed queue, also to the instance of the daemon. */
async function publishChange(deps: Operations, record: SessionRecord): Promise<void> {
  deps.sendCommand(record.session.deviceId, { v: 1, kind: 'changed', sessionKey: record.key });
  await deps.publisher.session(record);
}

const fixed = (text: string) => new RelayError('TASK_NOT_CHANGEABLE', text);

async function requireQueued(tx: Db, key: string, taskId: string): Promise<'later' | 'queued'> {
  const place = await placeOf(tx, key, taskId);
  const details = { taskId };
  if (place === undefined) throw new RelayError('TASK_NOT_FOUND');
  if (place === 'sent') throw new RelayError('TASK_ALREADY_SENT', { details });
  if (place === 'ended') throw new RelayError('TASK_ALREADY_ENDED', { details });
  return place;
}
