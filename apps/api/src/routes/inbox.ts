/** Routes of the inbox: the items that wait for the person, and marking them as seen. */
import { readInbox } from '@relay/database';
import { inboxLimits, type inboxRoutes } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { decodeCursor, encodeCursor } from '../http/cursor.ts';
import type { Handlers } from '../http/pipeline.ts';
import { acknowledge, acknowledgeAll, snooze, unsnooze } from '../inbox.ts';

export function inboxHandlers(deps: Operations): Handlers<keyof typeof inboxRoutes> {
  return {
    listInbox: async ({ principal, query }) => {
      const limit = query.limit ?? inboxLimits.pageDefault;
      const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      const { items: found, ...state } = await readInbox(deps.database, principal.userId, {
        limit,
        kind: query.kind,
        snoozed: query.snoozed === 'true',
        ...(cursor && { after: { createdAt: cursor.at, id: cursor.id } }),
      });
      const items = found.slice(0, limit);
      const last = items.at(-1);
      const more = found.length > limit && last ? { nextCursor: encodeCursor(last.createdAt, last.id) } : {};
      return { status: 200, body: { ...state, items, ...more } };
    },
    ackInbox: async ({ principal, body }) => ({
      status: 200,
      body: await acknowledgeAll(deps, principal.userId, body),
    }),
    ackItem: async ({ principal, params }) => ({
      status: 200,
      body: await acknowledge(deps, principal.userId, params.id),
    }),
    snoozeItem: async ({ principal, params, body }) => ({
      status: 200,
      body: await snooze(deps, principal.userId, params.id, body.until),
    }),
    unsnoozeItem: async ({ principal, params }) => ({
      status: 200,
      body: await unsnooze(deps, principal.userId, params.id),
    }),
  };
}
