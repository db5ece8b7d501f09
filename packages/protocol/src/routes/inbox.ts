/** The rows of `routes` for the inbox: items that wait for a person (rules, 14.16 to 14.19). */
import * as inbox from '../rest/inbox.ts';

export const inboxRoutes = {
  listInbox: {
    method: 'GET',
    path: '/api/inbox',
    credential: 'user',
    summary: 'The inbox of the user across devices, newest first, with its counts',
    scope: 'sessions:read',
    query: inbox.InboxQuery,
    success: { 200: inbox.Inbox },
    errors: [],
  },
  ackInbox: {
    method: 'POST',
    path: '/api/inbox/ack',
    credential: 'user',
    summary: 'Mark all items seen so far as done; questions and devices stay open',
    scope: 'sessions:write',
    body: inbox.AckItems,
    success: { 200: inbox.InboxState },
    errors: ['SESSION_NOT_FOUND'],
  },
  ackItem: {
    method: 'POST',
    path: '/api/inbox/:id/ack',
    credential: 'user',
    summary: 'Mark the item as done; no effect on a closed item',
    scope: 'sessions:write',
    success: { 200: inbox.InboxState },
    errors: ['ITEM_NOT_FOUND', 'ITEM_NEEDS_ANSWER'],
  },
  snoozeItem: {
    method: 'PUT',
    path: '/api/inbox/:id/snooze',
    credential: 'user',
    summary: 'Snooze the item, for at most 30 days',
    scope: 'sessions:write',
    body: inbox.SnoozeItem,
    success: { 200: inbox.InboxState },
    errors: ['ITEM_NOT_FOUND'],
  },
  unsnoozeItem: {
    method: 'DELETE',
    path: '/api/inbox/:id/snooze',
    credential: 'user',
    summary: 'Show the item again',
    scope: 'sessions:write',
    success: { 200: inbox.InboxState },
    errors: ['ITEM_NOT_FOUND'],
  },
} as const;
