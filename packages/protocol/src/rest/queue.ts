/** The messages of a session that wait to be sent to its daemon, and the changes to them. camelCase, times in UTC. */
import { type Static, Type, flag, id, limits, list, maybe, oneOf, record, sessionId, text, time } from '../schema.ts';
import { queueVersion, taskKinds } from './conversation.ts';
import { automatic, laterCauses } from './later.ts';
import { Schedule } from './schedules.ts';

const queuedFields = {
  taskId: id('The task that carries it'),
  uuid: id('uuid of the message, as in `new_message`'),
  kind: oneOf(
    taskKinds,
    'start: the first message of the session, which stays first. steer: on its way into the turn that runs',
  ),
  state: maybe(Type.Literal('sent', { description: 'Present when a `steer` was sent to the daemon' })),
  into: maybe(id('The task whose turn it was sent to; of another kind than `steer`: that turn could not take it')),
  content: text('The text as it will be sent', { maxLength: limits.messageBytes }),
  images: flag('It has images'),
  answers: maybe(id('The question that it answers: it goes before all others and cannot be moved')),
  choice: maybe(Type.Literal(true, { description: 'It is a choice: its text cannot be edited' })),
  createdAt: time('Accepted'),
  expiresAt: time('When it stops waiting'),
};

export const QueuedTask = record('QueuedTask', 'A message that waits.', queuedFields);

const laterFields = {
  ...queuedFields,
  notBefore: time('When it joins its queue'),
  because: maybe(oneOf(laterCauses, 'limit: it continues after a usage limit')),
  automatic,
};

export const LaterTask = record('LaterTask', 'A message whose time has not come.', laterFields);

export const LaterList = record('LaterList', 'The messages of the user whose time has not come, earliest first.', {
  tasks: list(
    record('LaterOfSession', 'A message whose time has not come, with its session.', {
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

export const SessionQueue = record(
  'SessionQueue',
  'The messages that wait in a session, in the order in which they will be sent.',
  {
    sessionId: sessionId('Canonical session id'),
    v: queueVersion,
    tasks: list(QueuedTask, 'First in line first; without the task that runs'),
    later: maybe(list(LaterTask, 'Messages whose time has not come, earliest first; absent: none')),
  },
);

export const ChangeQueued = Type.Object(
  {
    content: maybe(text('New text; at most 256 KiB of UTF-8', { minLength: 1 })),
    before: maybe(id('Move it before this task of the queue')),
    after: maybe(id('Move it behind this task of the queue; not together with `before`')),
    notBefore: maybe(time('Another time, of a message whose time has not come; 30 s to 90 days ahead')),
  },
  { title: 'ChangeQueued', description: 'The changes; at least one field.', minProperties: 1 },
);

export type LaterTask = Static<typeof LaterTask>;
export type LaterList = Static<typeof LaterList>;
export type QueuedTask = Static<typeof QueuedTask>;
export type SessionQueue = Static<typeof SessionQueue>;
export type ChangeQueued = Static<typeof ChangeQueued>;
