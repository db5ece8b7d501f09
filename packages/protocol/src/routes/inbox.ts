/** The rows of `routes` for the inbox: items that wait for a person (rules, 14.16 to 14.19). */
import { endpoints } from '../endpoints.ts';
import * as inbox from '../rest/inbox.ts';

export const inboxRoutes = {
  listInbox: {
    ...endpoints.listInbox,
    summary: 'What waits for the user, across devices, newest first, with its counts',
    scope: 'sessions:read',
    query: inbox.InboxQuery,
    success: { 200: inbox.Inbox },
    errors: [],
  },
  ackInbox: {
    ...endpoints.ackInbox,
    summary: 'Everything seen so far needs no more attention; questions and devices stay',
    scope: 'sessions:write',
    body: inbox.AckItems,
    success: { 200: inbox.InboxState },
    errors: ['SESSION_NOT_FOUND'],
  },
  ackItem: {
    ...endpoints.ackItem,
    summary: 'The item needs no more attention; one that is closed stays so',
    scope: 'sessions:write',
    success: { 200: inbox.InboxState },
    errors: ['ITEM_NOT_FOUND', 'ITEM_NEEDS_ANSWER'],
  },
  snoozeItem: {
    ...endpoints.snoozeItem,
    summary: 'Hide the item for a while; at most 30 days',
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
