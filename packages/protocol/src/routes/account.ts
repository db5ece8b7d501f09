/** Routes of the caller: the account, its audit (rules, 8.20), and tickets. */
import { openQuestion } from '../examples/transcript.ts';
import * as story from '../examples/story.ts';
import { type Static, Type, count, id, limits, line, list, maybe, record, text, time } from '../schema.ts';
import { body, exampleOf } from './body.ts';
import type { Rows } from './route.ts';

const Ticket = body(
  record('Ticket', 'A single-use credential for `/ws/attention?ticket=`.', {
    ticket: line('Secret'),
    expiresIn: count('Seconds'),
    offset: maybe(
      line(
        'Position in the frames of the person before the ticket was made, for `since`. Absent if there is no such position',
      ),
    ),
  }),
  { ticket: story.ticket, expiresIn: 30, offset: 'm8x2k1-17' },
);

const Me = body(
  record('Me', 'The caller.', {
    id: id('User id'),
    email: maybe(line('E-mail address, if the issuer provides it')),
    name: maybe(line('Name, if the issuer provides it')),
    scopes: list(line('Scope'), 'Scopes of the token'),
  }),
  {
    id: story.userId,
    email: 'ada@example.com',
    name: 'Ada',
    scopes: ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'],
  },
);

export const deleteConfirmation = 'delete my account';

const DeleteAccount = body(
  record('DeleteAccount', 'Confirmation of the person.', {
    confirm: Type.Literal(deleteConfirmation, { description: 'The phrase that the person must type' }),
  }),
  { confirm: deleteConfirmation },
);

export const AuditEntry = body(
  record('AuditEntry', 'One change or one sign-in. Never contains text from a person or an agent.', {
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
  }),
  {
    id: '01KKNSXYQZ2S5B0V7K9D3M4N6P',
    at: story.times.answered,
    action: 'answerPrompt',
    outcome: 'done',
    program: 'relay-web',
    address: '192.0.2.17',
    target: story.sessionId,
    question: openQuestion.uuid,
    digest: '5f2c1d9e0b7a4c3e8d6f1a2b3c4d5e6f',
    requestId: story.requestId,
  },
);

export const AuditPage = body(
  record('AuditPage', 'The audit log, newest first: at most 10,000 entries of the last 90 days.', {
    entries: list(AuditEntry, 'Entries', { maxItems: limits.sessionsPage }),
    nextCursor: maybe(text('Cursor of the next page; absent on the last page', { maxLength: 512 })),
  }),
  {
    entries: [
      exampleOf(AuditEntry),
      {
        id: '01KKNSXYQZ2S5B0V7K9D3M4N6Q',
        at: story.times.answered,
        action: 'signIn',
        outcome: 'INVALID_EMAIL_OR_PASSWORD',
        times: 20,
        address: '198.51.100.7',
      },
    ],
  },
);

const AuditQuery = Type.Object({
  limit: maybe(Type.Integer({ description: 'Page size; 50 if absent', minimum: 1, maximum: limits.sessionsPage })),
  cursor: maybe(text('`nextCursor` of the previous page', { maxLength: 512 })),
});

export type AuditEntry = Static<typeof AuditEntry>;
export type AuditPage = Static<typeof AuditPage>;

export const accountRoutes = {
  me: {
    method: 'GET',
    path: '/api/me',
    credential: 'user',
    summary: 'The caller',
    success: { 200: Me },
    errors: [],
  },
  deleteMe: {
    method: 'DELETE',
    path: '/api/me',
    credential: 'user',
    summary: 'Delete the account and all data of the person at once',
    scope: ['sessions:write', 'devices:write'],
    body: DeleteAccount,
    success: { 204: undefined },
    errors: ['SIGN_IN_NOT_RECENT'],
  },
} as const satisfies Rows;

export const auditRoutes = {
  listAudit: {
    method: 'GET',
    path: '/api/me/audit',
    credential: 'user',
    summary: 'The audit log of the user, newest first',
    scope: ['sessions:read', 'devices:read'],
    query: AuditQuery,
    success: { 200: AuditPage },
    errors: [],
  },
} as const satisfies Rows;

export const ticketRoutes = {
  createTicket: {
    method: 'POST',
    path: '/api/ws-tickets',
    credential: 'user',
    summary: 'A single-use credential for `/ws/attention`',
    scope: 'sessions:read',
    success: { 201: Ticket },
    errors: [],
  },
} as const satisfies Rows;
