/** Search in the transcripts of a device, which only its daemon has. camelCase. */
import { type Static, Type, flag, id, line, list, maybe, oneOf, record, sessionId, text, time } from '../schema.ts';
import { messageRoles } from './conversation.ts';

export const searchLimits = { hits: 50, queryCharacters: 200, hitCharacters: 400 } as const;

export const searchQuery = text('Search terms: a message contains all of them, in any case and order', {
  minLength: 1,
  maxLength: searchLimits.queryCharacters,
});

/** Members of a hit that are the same on every plane. */
export const hit = {
  uuid: id('The message or item'),
  role: oneOf(messageRoles, 'Its author'),
  text: text('The part of it around the first match', { maxLength: searchLimits.hitCharacters }),
  timestamp: time('Its time'),
};

export const SearchHits = record('SearchHits', 'Messages that the daemon of the device found.', {
  hits: list(
    record('SearchHit', 'A message that matches.', {
      sessionId: sessionId('The session'),
      title: line('Title of the session'),
      ...hit,
    }),
    'The newest sessions first, and in each the newest message',
    { maxItems: searchLimits.hits },
  ),
  more: maybe(flag('The daemon stopped before it had looked at all of its transcripts')),
});
export type SearchHits = Static<typeof SearchHits>;

export const SearchQuery = Type.Object({ q: searchQuery });
