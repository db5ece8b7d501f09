/** Routes of the inbox: items that wait for a person (rules, 14.16 to 14.19). */
import { inboxCounts, inboxItem } from '../examples/inbox.ts';
import { InboxCounts, InboxItem, inboxKinds, inboxLimits, inboxUpdateFields } from '../rest/inbox.ts';
import { type Static, Type, count, line, list, maybe, oneOf, record, sessionId, text, time } from '../schema.ts';
import { body } from './body.ts';
import type { Rows } from './route.ts';

export const Inbox = body(
  record('Inbox', 'A page of inbox items, newest first.', {
    version: inboxUpdateFields.version,
    counts: InboxCounts,
    items: list(InboxItem, 'Items', { maxItems: inboxLimits.page }),
    nextCursor: maybe(line('Cursor of the next page')),
  }),
  { version: 42, counts: inboxCounts, items: [inboxItem] },
);

export const InboxState = body(
  record('InboxState', 'The inbox after a change.', { version: inboxUpdateFields.version, counts: InboxCounts }),
  { version: 43, counts: { ...inboxCounts, failure: 0, total: 2, badge: 1 } },
);

export const AckItems = body(
  record('AckItems', 'Items to mark as seen. This never closes questions and devices.', {
    kind: maybe(oneOf(inboxKinds, 'Only items of this kind')),
    sessionId: maybe(sessionId('Only items of this session')),
    upToVersion: count('Only items that changed up to this `version`, the version that the person saw'),
  }),
  { kind: 'finished', upToVersion: 42 },
);

const SnoozeItem = body(
  record('SnoozeItem', 'When to show the item again.', {
    until: time('At most 30 days from now'),
  }),
  { until: '2026-03-14T18:00:00.000Z' },
);

const InboxQuery = Type.Object({
  limit: maybe(Type.Integer({ description: 'Page size', minimum: 1, maximum: inboxLimits.page })),
  cursor: maybe(text('`nextCursor` of the previous page', { maxLength: 512 })),
  kind: maybe(oneOf(inboxKinds, 'Only items of this kind')),
  snoozed: maybe(oneOf(['true'], 'Snoozed items instead of open ones')),
});

export type Inbox = Static<typeof Inbox>;
export type InboxState = Static<typeof InboxState>;
export type AckItems = Static<typeof AckItems>;

export const inboxRoutes = {
  listInbox: {
    method: 'GET',
    path: '/api/inbox',
    credential: 'user',
    summary: 'The inbox of the user across devices, newest first, with its counts',
    scope: 'sessions:read',
    query: InboxQuery,
    success: { 200: Inbox },
    errors: [],
  },
  ackInbox: {
    method: 'POST',
    path: '/api/inbox/ack',
    credential: 'user',
    summary: 'Mark all items seen so far as done; questions and devices stay open',
    scope: 'sessions:write',
    body: AckItems,
    success: { 200: InboxState },
    errors: ['SESSION_NOT_FOUND'],
  },
  ackItem: {
    method: 'POST',
    path: '/api/inbox/:id/ack',
    credential: 'user',
    summary: 'Mark the item as done; no effect on a closed item',
    scope: 'sessions:write',
    success: { 200: InboxState },
    errors: ['ITEM_NOT_FOUND', 'ITEM_NEEDS_ANSWER'],
  },
  snoozeItem: {
    method: 'PUT',
    path: '/api/inbox/:id/snooze',
    credential: 'user',
    summary: 'Snooze the item, for at most 30 days',
    scope: 'sessions:write',
    body: SnoozeItem,
    success: { 200: InboxState },
    errors: ['ITEM_NOT_FOUND'],
  },
  unsnoozeItem: {
    method: 'DELETE',
    path: '/api/inbox/:id/snooze',
    credential: 'user',
    summary: 'Show the item again',
    scope: 'sessions:write',
    success: { 200: InboxState },
    errors: ['ITEM_NOT_FOUND'],
  },
} as const satisfies Rows;
