/** Archiving and deleting many sessions by a filter. camelCase, times in UTC. */
import {
  type Static,
  Type,
  count,
  flag,
  id,
  limits,
  list,
  maybe,
  oneOf,
  record,
  sessionId,
  text,
  time,
} from '../schema.ts';
import { sessionStatuses } from './conversation.ts';

export const ChangeSessions = record('ChangeSessions', 'An action on all sessions that a filter selects.', {
  action: oneOf(['archive', 'unarchive', 'delete'], 'The action'),
  filter: Type.Object(
    {
      ids: maybe(list(sessionId('Session id or alias'), 'Only these', { maxItems: limits.bulkSessions })),
      deviceId: maybe(id('Only sessions of this device')),
      status: maybe(oneOf(sessionStatuses, 'Only sessions in this state')),
      q: maybe(text('Search terms, as `q` of the list of sessions', { maxLength: limits.nameCharacters })),
      before: maybe(time('Only sessions with an earlier `updatedAt`')),
      archived: maybe(
        oneOf(['false', 'true', 'all'], 'For deletions, as in the list of sessions; default false: not archived'),
      ),
    },
    { description: 'At least one field; a session must match all of them', minProperties: 1 },
  ),
});

export const ChangedSessions = record('ChangedSessions', 'The result of the action.', {
  changed: count(`How many sessions were changed; at most ${limits.bulkSessions} in one call`),
  more: flag('More sessions match the filter: call again'),
});

export type ChangeSessions = Static<typeof ChangeSessions>;
export type ChangedSessions = Static<typeof ChangedSessions>;
