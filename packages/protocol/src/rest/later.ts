/** The fields of messages with a time (rules, chapter 26). */
import { Type, count, id, maybe, oneOf, record, text, time } from '../schema.ts';

/** Why a message has a time, where a program knows. */
export const laterCauses = ['limit'] as const;

export const notBefore = maybe(
  time(
    'When it joins the end of its queue, 30 s to 90 days ahead; `queueTtlSeconds` counts from that time. Such a message never answers a question and cannot have images',
  ),
);

export const because = maybe(
  oneOf(
    laterCauses,
    '`limit`: it continues the session after a usage limit, at the front of the queue; any message before its time cancels it. Only with `notBefore`',
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
    record('LaterState', 'Present while the session has delayed messages.', {
      count: count('Number of messages'),
      next: time('Earliest send time'),
    }),
  ),
  limit: maybe(
    record('SessionLimit', 'Present after a turn that reached a usage limit, until the next message or turn.', {
      name: text('Name of the limit, as the agent reports it; can be empty', { maxLength: 128 }),
      resetsAt: maybe(time('Time of its reset; absent: the agent did not report it')),
      at: time('When the agent reached it'),
    }),
  ),
  scheduleId: maybe(id('The schedule that began it')),
  startsAt: maybe(time('Send time of the first message, for a session that begins later')),
};
