/** Routes of the conversation between people and the agent: history, messages, answers. */
import { sentenceOf } from '../errors.ts';
import { openQuestion } from '../examples/transcript.ts';
import * as story from '../examples/story.ts';
import { Message, Prompt, taskStates } from '../rest/conversation.ts';
import { deskChoice } from '../rest/desk.ts';
import { because, notBefore } from '../rest/later.ts';
import { boundedText, deliveries, imagesUnconfirmed, queueTtlSeconds } from '../rest/messages.ts';
import { messageSettings } from '../rest/settings.ts';
import { attached } from '../rest/uploads.ts';
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
  nullable,
  oneOf,
  opaque,
  record,
  sessionId,
  text,
  time,
} from '../schema.ts';
import { FieldValues, version } from '../transcript/index.ts';
import { body } from './body.ts';
import { HistoryQuery } from './queries.ts';
import type { Rows } from './route.ts';

export const MessagePage = body(
  record('MessagePage', 'A page of history, fetched from the daemon.', {
    messages: list(Message, 'In chronological order'),
    hasMore: flag('True if there are more messages'),
    oldestUuid: nullable(opaque('uuid of the first message returned')),
    newestUuid: nullable(opaque('uuid of the last message returned')),
    v: maybe(version('Version of the session, with `parts=1` from a daemon that supports it')),
    reset: maybe(
      Type.Literal(true, {
        description:
          'Present if the daemon could not answer `changed`: this is the newest page, and the app drops its copy',
      }),
    ),
  }),
  {
    messages: [...story.messages],
    hasMore: false,
    oldestUuid: story.messages[0].uuid,
    newestUuid: story.messages[3].uuid,
  },
);

export const SendMessage = body(
  record('SendMessage', 'A follow-up, or the answer to a prompt.', {
    content: boundedText('Text'),
    deliver: maybe(
      oneOf(
        deliveries,
        '`now`: into the running turn, for a device with `steer` among its `capabilities`; if no turn runs, the same as `next`. `next` (default): after the running turn',
      ),
    ),
    answers: maybe(
      nullable(
        id(
          'The question that the text answers; null: no question, the message waits until all questions are closed. Absent: the oldest question, if there is one',
        ),
      ),
    ),
    ...attached,
    settings: messageSettings,
    queueTtlSeconds,
    notBefore,
    because,
    desk: deskChoice,
  }),
  { content: story.answer, queueTtlSeconds: 900 },
);

export const SentMessage = body(
  record('SentMessage', 'The message was accepted.', {
    taskId: id('The task that carries it'),
    sessionId: sessionId('Canonical session id'),
    state: oneOf(taskStates, 'State of the task'),
    message: Message,
    images: imagesUnconfirmed,
    deliver: maybe(oneOf(deliveries, 'Present if the request has `deliver: "now"`. `next`: no turn was running')),
  }),
  { taskId: story.tasks.answer, sessionId: story.sessionId, state: 'queued', message: story.messages[2] },
);

export const AnswerPrompt = body(
  record('AnswerPrompt', 'The answer to a question: an option, a text, or the fields of a form.', {
    option: maybe(id('Id of the option')),
    text: maybe(text('Text, if the question accepts one', { minLength: 1, maxLength: limits.messageBytes })),
    fields: maybe(FieldValues),
    digest: maybe(text('`digest` of the question that was shown', { maxLength: 64 })),
    on: maybe(text('The program in which the person answers, for display', { maxLength: limits.nameCharacters })),
  }),
  { option: 'opt1', digest: openQuestion.digest },
);

export const AnsweredPrompt = body(
  record('AnsweredPrompt', 'The relay accepted the answer and accepts no other answer to this question.', {
    sessionId: sessionId('Canonical session id'),
    promptId: id('The question'),
    taskId: id('The task that carries the answer'),
    message: Message,
  }),
  { sessionId: story.sessionId, promptId: openQuestion.uuid, taskId: story.tasks.answer, message: story.messages[2] },
);

export const PromptRefusal = body(
  record('PromptRefusal', 'Why the relay refused an answer.', {
    error: line('Text for people'),
    code: line('Stable code'),
    status: count('HTTP status'),
    answer: maybe(
      record('GivenAnswer', 'The first answer, if the question is already answered.', {
        option: maybe(id('Id of the option')),
        label: maybe(line('Its text, while the relay keeps the question')),
        at: time('When'),
        by: maybe(line('Who')),
        on: maybe(line('The program in which it was given, or the address whose notification was used')),
      }),
    ),
    prompts: maybe(list(Prompt, 'The open questions, oldest first', { maxItems: limits.promptOptions })),
  }),
  {
    error: sentenceOf('PROMPT_ALREADY_ANSWERED'),
    code: 'PROMPT_ALREADY_ANSWERED',
    status: 409,
    answer: { option: 'opt1', at: story.times.answered, by: story.userId },
  },
);

const GiveAnswer = body(
  record('GiveAnswer', 'The rest of an answer; its token contains the question and the option.', {
    text: maybe(text('The text, with a token for a text answer', { minLength: 1, maxLength: limits.messageBytes })),
  }),
  { text: 'Only the weeds, please' },
);

const answerOutcomes = ['sent', 'queued'] as const;

export const GivenByToken = body(
  record('GivenByToken', 'The relay accepted the answer and accepts no other answer to this question.', {
    sessionId: sessionId('Canonical session id'),
    promptId: id('The question'),
    outcome: oneOf(answerOutcomes, '`queued`: the machine is offline, and the answer waits for it'),
    queuedUntil: maybe(time('When the answer expires, while `queued`')),
  }),
  { sessionId: story.sessionId, promptId: openQuestion.uuid, outcome: 'sent' },
);

/** The kinds of answer; a request gives exactly one of the three. */
export const answerKinds = ['option', 'text', 'fields'] as const;

export type MessagePage = Static<typeof MessagePage>;
export type SendMessage = Static<typeof SendMessage>;
export type SentMessage = Static<typeof SentMessage>;
export type AnswerPrompt = Static<typeof AnswerPrompt>;
export type AnsweredPrompt = Static<typeof AnsweredPrompt>;
export type GivenByToken = Static<typeof GivenByToken>;
export type PromptRefusal = Static<typeof PromptRefusal>;

export const messageRoutes = {
  readMessages: {
    method: 'GET',
    path: '/api/sessions/:id/messages',
    credential: 'user',
    summary: 'A page of history, from the daemon',
    scope: 'sessions:read',
    query: HistoryQuery,
    success: { 200: MessagePage },
    errors: ['SESSION_NOT_FOUND', 'SESSION_NOT_RESOLVED', 'DEVICE_OFFLINE', 'DEVICE_TIMEOUT', 'DEVICE_ERROR'],
  },
  sendMessage: {
    method: 'POST',
    path: '/api/sessions/:id/messages',
    credential: 'user',
    idempotent: true,
    summary: 'Send a follow-up or an answer',
    scope: 'sessions:write',
    body: SendMessage,
    largeField: 'images',
    success: { 202: SentMessage },
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
    refusals: { 409: PromptRefusal },
  },
  answerPrompt: {
    method: 'POST',
    path: '/api/sessions/:id/prompts/:uuid/answer',
    credential: 'user',
    idempotent: true,
    summary: 'Answer a question of the agent by its id; only the first answer counts and reaches the agent',
    scope: 'sessions:write',
    body: AnswerPrompt,
    success: { 202: AnsweredPrompt },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'INVALID_ANSWER',
      'PROMPT_NOT_FOUND',
      'PROMPT_ALREADY_ANSWERED',
      'PROMPT_SUPERSEDED',
      'IDEMPOTENCY_CONFLICT',
    ],
    refusals: { 409: PromptRefusal },
  },
} as const satisfies Rows;

export const answerRoutes = {
  giveAnswer: {
    method: 'POST',
    path: '/api/answers',
    credential: 'answer',
    summary: 'Answer the question of a notification with its token; only the first answer counts',
    body: GiveAnswer,
    success: { 202: GivenByToken },
    errors: [
      'SESSION_NOT_FOUND',
      'SESSION_NOT_RESOLVED',
      'INVALID_ANSWER',
      'PROMPT_NOT_FOUND',
      'PROMPT_ALREADY_ANSWERED',
      'PROMPT_SUPERSEDED',
    ],
    refusals: { 409: PromptRefusal },
  },
} as const satisfies Rows;
