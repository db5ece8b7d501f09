/** The rows of `routes` for tasks: running and waiting tasks, and their cancellation. */
import { endpoints } from '../endpoints.ts';
import * as conversation from '../rest/conversation.ts';
import * as prompts from '../rest/prompts.ts';
import * as queue from '../rest/queue.ts';

export const taskRoutes = {
  cancelSession: {
    ...endpoints.cancelSession,
    summary:
      'Cancel the running task, else dismiss the open question, else cancel the oldest queued task; or only the running task, or all',
    scope: 'sessions:write',
    body: conversation.CancelSession,
    success: { 202: conversation.CancelledTask },
    errors: ['SESSION_NOT_FOUND', 'NO_RUNNING_TASK'],
  },
  readQueue: {
    ...endpoints.readQueue,
    summary: 'The queued messages of a session, in sending order',
    scope: 'sessions:read',
    success: { 200: queue.SessionQueue },
    errors: ['SESSION_NOT_FOUND'],
  },
  changeQueued: {
    ...endpoints.changeQueued,
    summary: 'Edit or move a queued message, until it is sent to the daemon; edit or reschedule a delayed message',
    scope: 'sessions:write',
    body: queue.ChangeQueued,
    success: { 200: queue.SessionQueue },
    errors: ['SESSION_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_ALREADY_SENT', 'TASK_ALREADY_ENDED', 'TASK_NOT_CHANGEABLE'],
  },
  clearQueue: {
    ...endpoints.clearQueue,
    summary: 'Withdraw all queued messages that are not sent yet; delayed messages stay',
    scope: 'sessions:write',
    success: { 200: queue.SessionQueue },
    errors: ['SESSION_NOT_FOUND'],
  },
  removeQueued: {
    ...endpoints.removeQueued,
    summary: 'Withdraw a queued message, until it is sent to the daemon',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SESSION_NOT_FOUND', 'TASK_NOT_FOUND', 'TASK_ALREADY_SENT', 'TASK_ALREADY_ENDED'],
  },
  sendQueuedNow: {
    ...endpoints.sendQueuedNow,
    summary: 'Send a queued message into the running turn',
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
    summary: 'The delayed messages of the user',
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
