/** Sessions, messages and tasks as apps see them (specification §2.1). camelCase, times in UTC. */
import { Held } from './desk.ts';
import { automatic, laterOfSession } from './later.ts';
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
  record,
  sessionId,
  text,
  time,
} from '../schema.ts';
import {
  QuestionField,
  QuestionReason,
  Subject,
  itemFields,
  optionKinds,
  promptKinds,
  transcriptLimits,
} from '../transcript/index.ts';
import { word } from '../transcript/question.ts';

export const sessionStatuses = ['pending', 'active', 'waiting', 'idle', 'failed'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];
export const taskStates = [
  'later',
  'queued',
  'sent',
  'running',
  'completed',
  'failed',
  'cancelled',
  'waiting',
  'unknown',
  'expired',
] as const;
export type TaskState = (typeof taskStates)[number];
export const taskKinds = ['start', 'resume', 'steer'] as const;
export type TaskKind = (typeof taskKinds)[number];
export const messageRoles = ['USER', 'AGENT', 'SYSTEM'] as const;
export type MessageRole = (typeof messageRoles)[number];

export const Progress = record('Progress', 'The current action of the agent.', {
  action: line('Name of the action'),
  target: text('Target of the action; can be empty', { maxLength: limits.pathCharacters }),
  at: time('When it reported the action'),
});

export const Prompt = record('Prompt', 'The question of the agent, while the session is `waiting`.', {
  id: maybe(id('Id of the question: the relay never applies an answer with this id to another question')),
  kind: maybe(word(promptKinds, 'Kind, if the daemon reports it')),
  prompt: text('The question', { maxLength: limits.messageBytes }),
  result: text('Full text to show; can be empty', { maxLength: limits.messageBytes }),
  context: maybe(text('Subject of the question, to show with it', { maxLength: limits.messageBytes })),
  options: list(
    record('PromptOption', 'A choice.', {
      id: maybe(id('Id of the choice, for the answer')),
      label: text('Text of the choice', { maxLength: limits.promptOptionCharacters }),
      kind: maybe(word(optionKinds, 'For a permission; absent if the agent does not report it')),
    }),
    'Choices; can be empty',
    { maxItems: limits.promptOptions },
  ),
  text: maybe(flag('The question accepts a text as answer')),
  subject: maybe(Subject),
  fields: maybe(list(QuestionField, 'Fields of a form', { maxItems: transcriptLimits.fields })),
  person: maybe(flag('Only a person can answer; the relay refuses an agent with any scope')),
  reason: maybe(QuestionReason),
  expires: maybe(text('Deadline for the answer (ISO 8601)', { maxLength: limits.timeCharacters })),
  digest: maybe(
    text('Digest of the question. The relay refuses an answer with another digest', {
      maxLength: 64,
    }),
  ),
  at: time('When it was asked'),
});

/** The version of a queue; equal in `SessionQueue` and in `queue` of the session. */
export const queueVersion = id('Changes with every change of the queue');

const sessionFields = {
  id: sessionId('`<device_id>:<agent_type>:<native_session_id>`; a native id can contain colons and slashes'),
  title: line('Human-readable title'),
  status: oneOf(sessionStatuses, 'State of the session'),
  agentType: line('Agent type name'),
  deviceId: id('Id of the device that hosts the session'),
  projectPath: text('Working directory on the device; empty if unknown', { maxLength: limits.pathCharacters }),
  createdAt: time('Creation'),
  updatedAt: time('Last change'),
  messageCount: count('Number of messages that the relay knows of'),
  lastMessage: text('The last message, truncated to 2 KiB; empty if unknown', { maxLength: limits.lastMessageBytes }),
  archived: flag('Hidden from the default list'),
  watched: flag('The user watches the session and gets its notifications'),
  notify: maybe(
    oneOf(['all', 'off'], 'Overrides the notification settings: every cause, or none; absent: no override'),
  ),
  pinned: maybe(Type.Literal(true, { description: 'Present while the user has pinned it' })),
  unread: maybe(Type.Literal(true, { description: 'Present while messages of the agent are unread, on every device' })),
  newsAt: maybe(time("Time of the agent's latest message, question or failure; the `upTo` to send when it is read")),
  progress: maybe(Progress),
  runningSince: maybe(time('When the running task was sent to its daemon; absent while no task runs')),
  queue: maybe(
    record('QueueState', 'Present while messages are queued.', { count: count('Number of messages'), v: queueVersion }),
  ),
  ...laterOfSession,
  prompt: maybe(Prompt),
  prompts: maybe(
    list(Prompt, 'Every open question, oldest first; `prompt` is the oldest', { maxItems: limits.promptOptions }),
  ),
  lastTask: maybe(
    record('LastTask', 'The newest task of the session.', {
      id: id('Task id'),
      state: oneOf(taskStates, 'State of the task'),
      code: maybe(line('Error code of the task')),
      automatic,
    }),
  ),
  held: maybe(Held),
};

export const Session = record('Session', 'A conversation between a user and an agent on one device.', sessionFields);

export const Message = record('Message', 'One message of a conversation.', {
  uuid: id('Unique id'),
  role: oneOf(messageRoles, 'Author'),
  content: text('Text, truncated to 256 KiB in attention frames and history', { maxLength: limits.messageBytes }),
  timestamp: time('Time of the message'),
  truncated: maybe(Type.Literal(true, { description: 'Present if `content` is truncated' })),
  seq: maybe(itemFields.seq),
  v: itemFields.v,
  turn: itemFields.turn,
  part: maybe(itemFields.part),
});

const summaryFields = {
  title: text('Title; can be empty', { maxLength: 8192 }),
  projectPath: text('Working directory; can be empty', { maxLength: 8192 }),
  initialPrompt: maybe(text('The first message, truncated to 8 KiB')),
  recentMessages: list(
    record('SummaryMessage', 'One message.', {
      role: oneOf(messageRoles, 'Author'),
      content: text('Text, truncated to 8 KiB'),
    }),
    'The newest messages, oldest first; can be empty',
    { maxItems: 20 },
  ),
  lastToolUse: maybe(text('Latest tool use of the agent')),
  messageCount: nullable(count('Number of messages; null if the daemon does not report it')),
  startedAt: maybe(time('Time of the first message')),
  lastActivityAt: maybe(time('Last change')),
  status: text('working, waiting_for_input, completed, errored or stale; new values can be added; can be empty'),
  statusDetail: maybe(text('Details for people')),
};
export const Summary = record('Summary', 'The summary of a session, as its daemon reports it.', summaryFields);

export type Summary = Static<typeof Summary>;
export type Session = Static<typeof Session>;
export type Message = Static<typeof Message>;
export type Progress = Static<typeof Progress>;
export type Prompt = Static<typeof Prompt>;
