/** The rows of `routes` for tasks: running and waiting tasks, and their cancellation. */
import { endpoints } from '../endpoints.ts';
import * as conversation from '../rest/conversation.ts';
import * as prompts from '../rest/prompts.ts';
import * as queue from '../rest/queue.ts';

export const taskRoutes = {
  cancelSession: {
    ...endpoints.cancelSession,
    summary:
      'Cancel what runs, else dismiss what the agent asks, else cancel what waits longest; or only what runs, or all',
    scope: 'sessions:write',
    body: conversation.CancelSession,
    success: { 202: conversation.CancelledTask },
    errors: ['SESSION_NOT_FOUND', 'NO_RUNNING_TASK'],
  },
  readQueue: {
    ...endpoints.readQueue,
    summary: 'The messages that wait in a session, in the order in which they will be sent',
    scope: 'sessions:read',
    success: { 200: queue.SessionQueue },
    errors: ['SESSION_NOT_FOUND'],
  },
  changeQueued: {
    ...endpoints.changeQueued,
    summary:
      'Edit or move a message that waits; only before it is sent to the daemon. One whose time has not come gets another text or time',
    scope: 'sessions:write',
    body: queue.ChangeQueued,
    success: { 200: queue.SessionQueue },
    errors: ['SESSION_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_ALREADY_SENT', 'TASK_ALREADY_ENDED', 'TASK_NOT_CHANGEABLE'],
  },
  removeQueued: {
    ...endpoints.removeQueued,
    summary: 'Take a message back that waits; only before it is sent to the daemon',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SESSION_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_ALREADY_SENT', 'TASK_ALREADY_ENDED'],
  },
  sendQueuedNow: {
    ...endpoints.sendQueuedNow,
    summary: 'Send a message that waits into the turn that runs',
    scope: 'sessions:write',
    success: { 202: conversation.SentNow },
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
    refusals: { 409: prompts.PromptRefusal },
  },
  listLater: {
    ...endpoints.listLater,
    summary: 'The messages of the user whose time has not come',
    scope: 'sessions:read',
    success: { 200: queue.LaterList },
    errors: [],
  },
  readTask: {
    ...endpoints.readTask,
    summary: 'One task',
    scope: 'sessions:read',
    success: { 200: conversation.Task },
    errors: ['TASK_NOT_FOUND'],
  },
} as const;
