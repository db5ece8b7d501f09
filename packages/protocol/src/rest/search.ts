/** Search in the transcripts of a device, which only its daemon has. camelCase. */
import { messageRoles } from './conversation.ts';
import { id, oneOf, text, time } from '../schema.ts';

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
