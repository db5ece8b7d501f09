/** The fields of messages with a time (rules, chapter 26). */
import { Type, count, id, maybe, oneOf, record, text, time } from '../schema.ts';

/** Why a message has a time, where a program knows. */
export const laterCauses = ['limit'] as const;

export const notBefore = maybe(
  time(
    'When it joins the end of its queue, 30 s to 90 days ahead; `queueTtlSeconds` counts from then. It never answers a question, and has no images',
  ),
);

export const because = maybe(
  oneOf(
    laterCauses,
    'limit: it continues after a usage limit, at the front of its queue; a message before its time cancels it. Only with `notBefore`',
  ),
);

export const automatic = maybe(
  Type.Literal(true, {
    description: 'Present when the relay wrote the message, to continue after a usage limit as the user chose',
  }),
);

/** The session's. */
export const laterOfSession = {
  later: maybe(
    record('LaterState', 'Present while messages of the session have a time that has not come.', {
      count: count('How many'),
      next: time('The earliest of their times'),
    }),
  ),
  limit: maybe(
    record('SessionLimit', 'Present after a turn that reached a usage limit, until the next message or turn.', {
      name: text('Its name, as the agent reports it; may be empty', { maxLength: 128 }),
      resetsAt: maybe(time('When it resets; absent: the agent did not report it')),
      at: time('When it was reached'),
    }),
  ),
  scheduleId: maybe(id('The schedule that began it')),
  startsAt: maybe(time('When its first message is sent, of a session that begins later')),
};
