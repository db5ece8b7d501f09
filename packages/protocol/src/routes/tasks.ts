/** Routes of tasks: running and waiting tasks, and their cancellation. */
import * as story from '../examples/story.ts';
import { queueVersion, taskKinds, taskStates } from '../rest/conversation.ts';
import { automatic, laterCauses } from '../rest/later.ts';
import { deliveries } from '../rest/messages.ts';
import {
  type Static,
  Type,
  count,
  flag,
  id,
  limits,
  line,
  list,
  maybe,
  oneOf,
  record,
  sessionId,
  text,
  time,
} from '../schema.ts';
import { body, exampleOf } from './body.ts';
import { PromptRefusal } from './messages.ts';
import { Schedule } from './schedules.ts';
import type { Rows } from './route.ts';

export const SentNow = body(
  record('SentNow', 'A queued message on its way into the running turn.', {
    taskId: id('The task that carries it'),
    state: oneOf(taskStates, 'State of the task'),
    deliver: oneOf(deliveries, '`next`: no turn was running, and the message stays queued'),
  }),
  { taskId: story.tasks.cancelled, state: 'queued', deliver: 'now' },
);

export const CancelSession = body(
  Type.Object(
    {
      which: maybe(
        oneOf(
          ['running', 'all'],
          '`running`: only the running task or the open question. `all`: queued tasks too. Absent: the running task, else the open question, else the oldest queued task',
        ),
      ),
      taskId: maybe(id('Only this task, if it is running or waits for an answer; never a queued task')),
    },
    { title: 'CancelSession', description: 'The task to cancel; optional.' },
  ),
  { which: 'running' },
);

export const CancelledTask = body(
  record('CancelledTask', 'The task was cancelled.', {
    taskId: id('Task id'),
    state: Type.Literal('cancelled'),
    queued: maybe(list(id('Task id'), 'With `all`: the queued tasks that were cancelled too')),
  }),
  { taskId: story.tasks.cancelled, state: 'cancelled' },
);

export const Task = body(
  record('Task', 'One run inside a session.', {
    id: id('Task id'),
    sessionId: sessionId('Canonical session id'),
    kind: oneOf(taskKinds, 'The first task of a session, a later one, or a message into a running turn'),
    state: oneOf(taskStates, 'State'),
    createdAt: time('Accepted'),
    sentAt: maybe(time('Written to the daemon')),
    finishedAt: maybe(time('Ended')),
    result: maybe(text('The answer of the agent', { maxLength: limits.messageBytes })),
    error: maybe(
      record('TaskError', 'Why it did not complete.', {
        code: line('Task error code'),
        error: text('Text for people'),
      }),
    ),
    note: maybe(text('How the relay learned the outcome, if no event of the daemon reported it in time')),
    into: maybe(id('The task whose turn it was sent to, even if it later became an ordinary message')),
    notBefore: maybe(time('When it joined its queue; in the state `later`, when it will join')),
  }),
  {
    id: story.tasks.answer,
    sessionId: story.sessionId,
    kind: 'resume',
    state: 'completed',
    createdAt: story.times.answered,
    sentAt: story.times.answerSent,
    finishedAt: story.times.completed,
    result: story.result,
  },
);

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

export const LaterList = body(
  record('LaterList', 'The delayed messages of the user, earliest first.', {
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
  }),
  {
    tasks: [
      {
        sessionId: story.sessionId,
        title: story.title,
        taskId: story.tasks.cancelled,
        uuid: '19c54259-4d73-573b-93ad-fd151d407f20',
        kind: 'resume',
        content: 'Then push it.',
        images: false,
        createdAt: story.times.answered,
        expiresAt: '2026-03-15T09:15:00.000Z',
        notBefore: '2026-03-15T09:00:00.000Z',
      },
    ],
    schedules: [exampleOf(Schedule)],
  },
);

export const SessionQueue = body(
  record('SessionQueue', 'The queued messages of a session, in sending order.', {
    sessionId: sessionId('Canonical session id'),
    v: queueVersion,
    tasks: list(QueuedTask, 'Queued messages in sending order, without the running task'),
    later: maybe(list(LaterTask, 'Delayed messages, earliest first; absent: none')),
  }),
  {
    sessionId: story.sessionId,
    v: '-3306251862211426917',
    tasks: [
      {
        taskId: story.tasks.cancelled,
        uuid: '19c54259-4d73-573b-93ad-fd151d407f20',
        kind: 'resume',
        content: 'Then push it.',
        images: false,
        createdAt: story.times.answered,
        expiresAt: '2026-03-14T09:28:10.655Z',
      },
    ],
  },
);

export const ChangeQueued = body(
  Type.Object(
    {
      content: maybe(text('New text; at most 256 KiB of UTF-8', { minLength: 1 })),
      before: maybe(id('Move it before this task of the queue')),
      after: maybe(id('Move it after this task of the queue; not together with `before`')),
      notBefore: maybe(time('New time of a delayed message; 30 s to 90 days ahead')),
    },
    { title: 'ChangeQueued', description: 'The changes; at least one field.', minProperties: 1 },
  ),
  { content: 'Then push it to a branch.', before: story.tasks.failed },
);

export type SentNow = Static<typeof SentNow>;
export type CancelSession = Static<typeof CancelSession>;
export type CancelledTask = Static<typeof CancelledTask>;
export type Task = Static<typeof Task>;
export type LaterTask = Static<typeof LaterTask>;
export type LaterList = Static<typeof LaterList>;
export type QueuedTask = Static<typeof QueuedTask>;
export type SessionQueue = Static<typeof SessionQueue>;
export type ChangeQueued = Static<typeof ChangeQueued>;

export const taskRoutes = {
  cancelSession: {
    method: 'POST',
    path: '/api/sessions/:id/cancel',
    credential: 'user',
    summary:
      'Cancel the running task, else dismiss the open question, else cancel the oldest queued task; or only the running task, or all',
    scope: 'sessions:write',
    body: CancelSession,
    success: { 202: CancelledTask },
    errors: ['SESSION_NOT_FOUND', 'NO_RUNNING_TASK'],
  },
  readQueue: {
    method: 'GET',
    path: '/api/sessions/:id/queue',
    credential: 'user',
    summary: 'The queued messages of a session, in sending order',
    scope: 'sessions:read',
    success: { 200: SessionQueue },
    errors: ['SESSION_NOT_FOUND'],
  },
  changeQueued: {
    method: 'PATCH',
    path: '/api/sessions/:id/queue/:taskId',
    credential: 'user',
    summary: 'Edit or move a queued message, until it is sent to the daemon; edit or reschedule a delayed message',
    scope: 'sessions:write',
    body: ChangeQueued,
    success: { 200: SessionQueue },
    errors: ['SESSION_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_ALREADY_SENT', 'TASK_ALREADY_ENDED', 'TASK_NOT_CHANGEABLE'],
  },
  clearQueue: {
    method: 'DELETE',
    path: '/api/sessions/:id/queue',
    credential: 'user',
    summary: 'Withdraw all queued messages that are not sent yet; delayed messages stay',
    scope: 'sessions:write',
    success: { 200: SessionQueue },
    errors: ['SESSION_NOT_FOUND'],
  },
  removeQueued: {
    method: 'DELETE',
    path: '/api/sessions/:id/queue/:taskId',
    credential: 'user',
    summary: 'Withdraw a queued message, until it is sent to the daemon',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SESSION_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_ALREADY_SENT', 'TASK_ALREADY_ENDED'],
  },
  sendQueuedNow: {
    method: 'POST',
    path: '/api/sessions/:id/queue/:taskId/now',
    credential: 'user',
    summary: 'Send a queued message into the running turn',
    scope: 'sessions:write',
    success: { 202: SentNow },
    errors: [
      'SESSION_NOT_FOUND',
      'TASK_NOT_FOUND',
      'TASK_ALREADY_SENT',
      'TASK_ALREADY_ENDED',
      'TASK_NOT_CHANGEABLE',
      'NOT_SUPPORTED_BY_DEVICE',
      'AGENT_ASKS',
      'RATE_LIMITED',
    ],
    refusals: { 409: PromptRefusal },
  },
  listLater: {
    method: 'GET',
    path: '/api/later',
    credential: 'user',
    summary: 'The delayed messages of the user',
    scope: 'sessions:read',
    success: { 200: LaterList },
    errors: [],
  },
  readTask: {
    method: 'GET',
    path: '/api/tasks/:id',
    credential: 'user',
    summary: 'One task',
    scope: 'sessions:read',
    success: { 200: Task },
    errors: ['TASK_NOT_FOUND'],
  },
} as const satisfies Rows;
