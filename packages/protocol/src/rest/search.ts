/** Search in the transcripts of a device, which only its daemon has. camelCase. */
import { type Static, Type, flag, id, line, list, maybe, oneOf, record, sessionId, text, time } from '../schema.ts';
import { messageRoles } from './conversation.ts';

export const searchLimits = { hits: 50, queryCharacters: 200, hitCharacters: 400 } as const;

export const searchQuery = text('Search terms: a message must contain all of them, in any case and order', {
  minLength: 1,
  maxLength: searchLimits.queryCharacters,
});

/** Members of a hit that are the same on every plane. */
export const hit = {
  uuid: id('The message or item'),
  role: oneOf(messageRoles, 'Its author'),
  text: text('Excerpt around the first match', { maxLength: searchLimits.hitCharacters }),
  timestamp: time('Its time'),
};

export const SearchHits = record('SearchHits', 'Messages found by the daemon of the device.', {
  hits: list(
    record('SearchHit', 'A message that matches.', {
      sessionId: sessionId('The session'),
      title: line('Title of the session'),
      ...hit,
    }),
    'Newest sessions first, and within each session the newest messages first',
    { maxItems: searchLimits.hits },
  ),
  more: maybe(flag('The daemon stopped before it searched all transcripts')),
});
export type SearchHits = Static<typeof SearchHits>;

export const SearchQuery = Type.Object({ q: searchQuery });
