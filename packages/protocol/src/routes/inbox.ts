/** The rows of `routes` for the inbox: items that wait for a person (rules, 14.16 to 14.19). */
import { endpoints } from '../endpoints.ts';
import * as inbox from '../rest/inbox.ts';

export const inboxRoutes = {
  listInbox: {
    ...endpoints.listInbox,
    summary: 'The inbox of the user across devices, newest first, with its counts',
    scope: 'sessions:read',
    query: inbox.InboxQuery,
    success: { 200: inbox.Inbox },
    errors: [],
  },
  ackInbox: {
    ...endpoints.ackInbox,
    summary: 'Mark all items seen so far as done; questions and devices stay open',
    scope: 'sessions:write',
    body: inbox.AckItems,
    success: { 200: inbox.InboxState },
    errors: ['SESSION_NOT_FOUND'],
  },
  ackItem: {
    ...endpoints.ackItem,
    summary: 'Mark the item as done; no effect on a closed item',
    scope: 'sessions:write',
    success: { 200: inbox.InboxState },
    errors: ['ITEM_NOT_FOUND', 'ITEM_NEEDS_ANSWER'],
  },
  snoozeItem: {
    ...endpoints.snoozeItem,
    summary: 'Snooze the item, for at most 30 days',
    scope: 'sessions:write',
    body: inbox.SnoozeItem,
    success: { 200: inbox.InboxState },
    errors: ['ITEM_NOT_FOUND'],
  },
  unsnoozeItem: {
    ...endpoints.unsnoozeItem,
    summary: 'Show the item again',
    scope: 'sessions:write',
    success: { 200: inbox.InboxState },
    errors: ['ITEM_NOT_FOUND'],
  },
} as const;
