/** The audit of a person (rules, 8.20). */
import { type Static, Type, id, limits, line, list, maybe, record, text, time } from '../schema.ts';

export const AuditEntry = record('AuditEntry', 'One change, or one sign-in. Never a text of a person or an agent.', {
  id: id('Entry id'),
  at: time('When'),
  action: line('The name of the route, such as `sendMessage`, or an action of the sign-in, such as `signIn`'),
  outcome: line('`done`, or the code of the refusal'),
  times: maybe(
    Type.Integer({
      description:
        'How often it was refused within an hour of `at`; absent: once. The address and the request are the newest',
      minimum: 2,
    }),
  ),
  program: maybe(line('The program that asked: the client of its token, `device`, or `relay-admin`')),
  address: maybe(line('The network address it asked from')),
  target: maybe(line('The id of what it was done to')),
  question: maybe(line('The id of the question that was answered')),
  digest: maybe(line('The digest of that question, as the answer named it')),
  deliver: maybe(line('When a message was to reach the agent (`now` or `next`), if the request chose')),
  setting: maybe(line('The setting that was changed and its value, as ids of the agent')),
  requestId: maybe(line('`X-Request-Id` of the request')),
});

export const AuditPage = record('AuditPage', 'Newest first; of the last 90 days, at most 10,000.', {
  entries: list(AuditEntry, 'Entries', { maxItems: limits.sessionsPage }),
  nextCursor: maybe(text('For the next page; absent on the last', { maxLength: 512 })),
});

export const AuditQuery = Type.Object({
  limit: maybe(
    Type.Integer({ description: 'Entries of a page; 50 if absent', minimum: 1, maximum: limits.sessionsPage }),
  ),
  cursor: maybe(text('nextCursor of the page before', { maxLength: 512 })),
});

export type AuditEntry = Static<typeof AuditEntry>;
export type AuditPage = Static<typeof AuditPage>;
