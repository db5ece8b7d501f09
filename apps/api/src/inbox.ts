/** Changes of a person's inbox (rules, 14.17): acknowledge and snooze. Publishing follows the commit by itself. */
import { type AckWhich, ackItem, ackItems, inboxCounts, snoozeItem } from '@relay/database';
import { type AckItems, type InboxState, RelayError, inboxLimits } from '@relay/protocol';
import type { Operations } from './deps.ts';
import { requireSession } from './sessions/find.ts';

type Deps = Pick<Operations, 'database'>;

const missing = () => new RelayError('ITEM_NOT_FOUND');

/** @throws RelayError ITEM_NOT_FOUND, ITEM_NEEDS_ANSWER */
export async function acknowledge({ database }: Deps, userId: string, id: string): Promise<InboxState> {
  const change = await ackItem(database, userId, id);
  if (change === 'missing') throw missing();
  if (change === 'needsAnswer') throw new RelayError('ITEM_NEEDS_ANSWER');
  return inboxCounts(database, userId);
}

/** @throws RelayError SESSION_NOT_FOUND */
export async function acknowledgeAll({ database }: Deps, userId: string, body: AckItems): Promise<InboxState> {
  const which: AckWhich = { kind: body.kind, upToVersion: body.upToVersion };
  if (body.sessionId !== undefined) which.sessionKey = (await requireSession(database, userId, body.sessionId)).key;
  await ackItems(database, userId, which);
  return inboxCounts(database, userId);
}

/** @throws RelayError INVALID_REQUEST for a time that is over or too far away, ITEM_NOT_FOUND */
export async function snooze({ database }: Deps, userId: string, id: string, until: string): Promise<InboxState> {
  const at = new Date(until);
  const inMs = at.getTime() - Date.now();
  if (!(inMs > 0 && inMs <= inboxLimits.snoozeMs))
    throw new RelayError('INVALID_REQUEST', '"until" is a time within the next 30 days.');
  if (!(await snoozeItem(database, userId, id, at))) throw missing();
  return inboxCounts(database, userId);
}

/** @throws RelayError ITEM_NOT_FOUND */
export async function unsnooze({ database }: Deps, userId: string, id: string): Promise<InboxState> {
  if (!(await snoozeItem(database, userId, id, null))) throw missing();
  return inboxCounts(database, userId);
}
