/** The rows of `routes` for the conversation between people and the agent: history, messages, answers. */
import { endpoints } from '../endpoints.ts';
import * as conversation from '../rest/conversation.ts';
import * as prompts from '../rest/prompts.ts';
import { HistoryQuery } from './queries.ts';

export const messageRoutes = {
  readMessages: {
    ...endpoints.readMessages,
    summary: 'A page of history, from the daemon',
    scope: 'sessions:read',
    query: HistoryQuery,
    success: { 200: conversation.MessagePage },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_RESOLVED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'DEVICE_ERROR'],
  },
  sendMessage: {
    ...endpoints.sendMessage,
    summary: 'Send a follow-up or an answer',
    scope: 'sessions:write',
    body: conversation.SendMessage,
    largeField: 'images',
    success: { 202: conversation.SentMessage },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'QUEUE_FULL',
      'TOO_MANY_LATER',
      'DEVICE_OFFLINE',
      'IDEMPOTENCY_CONFLICT',
      'INVALID_IMAGE',
      'NOT_SUPPORTED_BY_DEVICE',
      'AGENT_ASKS',
      'INVALID_ANSWER',
      'PROMPT_NOT_FOUND',
      'PROMPT_ALREADY_ANSWERED',
      'PROMPT_SUPERSEDED',
      'PROMPT_REFERENCE_REQUIRED',
    ],
    refusals: { 409: prompts.PromptRefusal },
  },
  answerPrompt: {
    ...endpoints.answerPrompt,
    summary: 'Answer a question of the agent by its id; only the first answer counts and reaches the agent',
    scope: 'sessions:write',
    body: prompts.AnswerPrompt,
    success: { 202: prompts.AnsweredPrompt },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'INVALID_ANSWER',
      'PROMPT_NOT_FOUND',
      'PROMPT_ALREADY_ANSWERED',
      'PROMPT_SUPERSEDED',
      'IDEMPOTENCY_CONFLICT',
    ],
    refusals: { 409: prompts.PromptRefusal },
  },
} as const;
