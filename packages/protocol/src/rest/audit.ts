/** The audit of a person (rules, 8.20). */
import { type Static, Type, id, limits, line, list, maybe, record, text, time } from '../schema.ts';

export const AuditEntry = record(
  'AuditEntry',
  'One change or one sign-in. Never contains text from a person or an agent.',
  {
    id: id('Entry id'),
    at: time('When'),
    action: line('Name of the route, such as `sendMessage`, or of an action of the sign-in, such as `signIn`'),
    outcome: line('`done`, or the error code'),
    times: maybe(
      Type.Integer({
        description:
          'Number of refusals within an hour of `at`; absent: one. Address and request id are from the newest',
        minimum: 2,
      }),
    ),
    program: maybe(line('The calling program: the client of its token, `device`, or `relay-admin`')),
    address: maybe(line('Network address of the caller')),
    target: maybe(line('Id of the changed resource')),
    question: maybe(line('Id of the answered question')),
    digest: maybe(line('Digest of that question, from the answer')),
    deliver: maybe(line('Requested delivery of a message (`now` or `next`), if the request has one')),
    setting: maybe(line('The changed setting and its value, as ids of the agent')),
    requestId: maybe(line('`X-Request-Id` of the request')),
  },
);

export const AuditPage = record(
  'AuditPage',
  'The audit log, newest first: at most 10,000 entries of the last 90 days.',
  {
    entries: list(AuditEntry, 'Entries', { maxItems: limits.sessionsPage }),
    nextCursor: maybe(text('Cursor of the next page; absent on the last page', { maxLength: 512 })),
  },
);

export const AuditQuery = Type.Object({
  limit: maybe(Type.Integer({ description: 'Page size; 50 if absent', minimum: 1, maximum: limits.sessionsPage })),
  cursor: maybe(text('`nextCursor` of the previous page', { maxLength: 512 })),
});

export type AuditEntry = Static<typeof AuditEntry>;
export type AuditPage = Static<typeof AuditPage>;
