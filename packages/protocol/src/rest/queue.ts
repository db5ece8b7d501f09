/** The messages of a session that wait to be sent to its daemon, and the changes to them. camelCase, times in UTC. */
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
import { queueVersion, taskKinds } from './conversation.ts';
import { automatic, laterCauses } from './later.ts';
import { Schedule } from './schedules.ts';

const queuedFields = {
  taskId: id('The task that carries it'),
  uuid: id('uuid of the message, as in `new_message`'),
  kind: oneOf(
    taskKinds,
    '`start`: the first message of the session, which stays first. `steer`: on its way into the running turn',
  ),
  state: maybe(Type.Literal('sent', { description: 'Present once the gateway sent a `steer` to the daemon' })),
  into: maybe(id('The task whose turn it was sent to; for any kind but `steer`, that turn could not take it')),
  content: text('The text to send', { maxLength: limits.messageBytes }),
  images: flag('It has images'),
  files: maybe(count('Number of its files')),
  answers: maybe(id('The question that it answers: an answer goes before all other messages and cannot be moved')),
  choice: maybe(Type.Literal(true, { description: 'It is a choice: its text cannot be edited' })),
  createdAt: time('Accepted'),
  expiresAt: time('When it expires'),
};

export const QueuedTask = record('QueuedTask', 'A queued message.', queuedFields);

const laterFields = {
  ...queuedFields,
  notBefore: time('When it joins its queue'),
  because: maybe(oneOf(laterCauses, '`limit`: it continues the session after a usage limit')),
  automatic,
};

export const LaterTask = record('LaterTask', 'A delayed message.', laterFields);

export const LaterList = record('LaterList', 'The delayed messages of the user, earliest first.', {
  tasks: list(
    record('LaterOfSession', 'A delayed message, with its session.', {
      sessionId: sessionId('Canonical session id'),
      title: text('Title of the session'),
      ...laterFields,
    }),
    'Earliest first',
    { maxItems: limits.laterOfPerson },
  ),
  schedules: maybe(
    list(Schedule, 'Messages that repeat, the next one first; absent: none', { maxItems: limits.schedules }),
  ),
});

export const SessionQueue = record('SessionQueue', 'The queued messages of a session, in sending order.', {
  sessionId: sessionId('Canonical session id'),
  v: queueVersion,
  tasks: list(QueuedTask, 'Queued messages in sending order, without the running task'),
  later: maybe(list(LaterTask, 'Delayed messages, earliest first; absent: none')),
});

export const ChangeQueued = Type.Object(
  {
    content: maybe(text('New text; at most 256 KiB of UTF-8', { minLength: 1 })),
    before: maybe(id('Move it before this task of the queue')),
    after: maybe(id('Move it after this task of the queue; not together with `before`')),
    notBefore: maybe(time('New time of a delayed message; 30 s to 90 days ahead')),
  },
  { title: 'ChangeQueued', description: 'The changes; at least one field.', minProperties: 1 },
);

export type LaterTask = Static<typeof LaterTask>;
export type LaterList = Static<typeof LaterList>;
export type QueuedTask = Static<typeof QueuedTask>;
export type SessionQueue = Static<typeof SessionQueue>;
export type ChangeQueued = Static<typeof ChangeQueued>;
