/** Sessions, messages and tasks as apps see them (specification §2.1). camelCase, times in UTC. */
import {
  type Static,
  Type,
  count,
  flag,
  id,
  sessionId,
  limits,
  line,
  list,
  maybe,
  nullable,
  oneOf,
  opaque,
  record,
  text,
  time,
} from '../schema.ts';
import { automatic, because, laterOfSession, notBefore } from './later.ts';
import { messageSettings } from './settings.ts';
import {
  QuestionField,
  Subject,
  itemFields,
  optionKinds,
  promptKinds,
  transcriptLimits,
  version,
  word,
} from '../transcript/index.ts';
import { Held, deskChoice } from './desk.ts';

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
  action: line('What it does'),
  target: text('What it does it to; may be empty', { maxLength: limits.pathCharacters }),
  at: time('When it said so'),
});

export const Prompt = record('Prompt', 'The question of the agent, while the session is `waiting`.', {
  id: maybe(id('Names the question: an answer that gives it is never applied to another one')),
  kind: maybe(word(promptKinds, 'Kind, where the daemon says it')),
  prompt: text('The question', { maxLength: limits.messageBytes }),
  result: text('Full text to show; may be empty', { maxLength: limits.messageBytes }),
  context: maybe(text('What the question is about: to be shown with it', { maxLength: limits.messageBytes })),
  options: list(
    record('PromptOption', 'A choice.', {
      id: maybe(id('Names the choice in an answer')),
      label: text('Text of the choice', { maxLength: limits.promptOptionCharacters }),
      kind: maybe(word(optionKinds, 'Of a permission; absent when the agent does not say')),
    }),
    'Choices; may be empty',
    { maxItems: limits.promptOptions },
  ),
  text: maybe(flag('Words may answer')),
  subject: maybe(Subject),
  fields: maybe(list(QuestionField, 'Of a form', { maxItems: transcriptLimits.fields })),
  person: maybe(flag('No agent answers it, whatever its scopes')),
  expires: maybe(text('When it can no longer be answered (ISO 8601)', { maxLength: limits.timeCharacters })),
  digest: maybe(
    text('Of what was asked: given back, the answer is refused when it is another question', { maxLength: 64 }),
  ),
  at: time('When it was asked'),
});

/** The version of a queue; equal in `SessionQueue` and in `queue` of the session. */
export const queueVersion = id('Changes with every change of the queue');

const sessionFields = {
  id: sessionId('`<device_id>:<agent_type>:<native_session_id>`; a native id may contain colons and slashes'),
  title: line('Human-readable title'),
  status: oneOf(sessionStatuses, 'State of the session'),
  agentType: line('Agent type name'),
  deviceId: id('Id of the device that hosts the session'),
  projectPath: text('Working directory on the device; empty if unknown', { maxLength: limits.pathCharacters }),
  createdAt: time('Creation'),
  updatedAt: time('Last change'),
  messageCount: count('Messages, as far as the relay knows'),
  lastMessage: text('The last message, cut at 2 KiB; empty if unknown', { maxLength: limits.lastMessageBytes }),
  archived: flag('Hidden from the ordinary list'),
  watched: flag('The user gets notifications'),
  notify: maybe(
    oneOf(['all', 'off'], 'The user wants notifications of every cause, or none; absent: as in the settings'),
  ),
  pinned: maybe(Type.Literal(true, { description: 'Present while the user has pinned it' })),
  unread: maybe(Type.Literal(true, { description: 'Present while something of the agent is unread, on every device' })),
  newsAt: maybe(time('When the agent last said something, asked or failed; `upTo` of what was read')),
  progress: maybe(Progress),
  runningSince: maybe(time('When the running task was sent to its daemon; absent while none runs')),
  queue: maybe(
    record('QueueState', 'Present while messages wait in the session.', { count: count('How many'), v: queueVersion }),
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
  role: oneOf(messageRoles, 'Who said it'),
  content: text('Text, cut at 256 KiB in attention frames and history', { maxLength: limits.messageBytes }),
  timestamp: time('When it was said'),
  truncated: maybe(Type.Literal(true, { description: 'Present when `content` was cut' })),
  seq: maybe(itemFields.seq),
  v: itemFields.v,
  turn: itemFields.turn,
  part: maybe(itemFields.part),
});

const page = {
  messages: list(Message, 'In chronological order'),
  hasMore: flag('True when messages were left out'),
  oldestUuid: nullable(opaque('uuid of the first message returned')),
  newestUuid: nullable(opaque('uuid of the last message returned')),
  v: maybe(version('Version of the session, with `parts=1` from a daemon that has it')),
  reset: maybe(
    Type.Literal(true, {
      description:
        'Present when `changed` could not be answered: this is the newest page, and what the app has is to be dropped',
    }),
  ),
};

export const MessagePage = record('MessagePage', 'A page of history, fetched from the daemon.', page);

export const SessionDetail = record('SessionDetail', 'A session with its recent messages.', {
  ...sessionFields,
  ...page,
  messagesError: maybe(
    record('MessagesError', 'Why `messages` is empty: the daemon could not be asked.', {
      code: line('DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR, SESSION_NOT_RESOLVED or SERVICE_UNAVAILABLE'),
      error: text('For people'),
    }),
  ),
});

export const SessionList = record('SessionList', 'Sessions of the user, newest `updatedAt` first.', {
  sessions: list(Session, 'Sessions', { maxItems: limits.sessionsPage }),
  nextCursor: maybe(line('Give it back as `cursor` for the next page; absent on the last')),
});

const boundedText = (description: string) => text(`${description}; at most 256 KiB of UTF-8`, { minLength: 1 });
const queueTtlSeconds = maybe(
  Type.Integer({
    description: 'How long it may wait for the device; 0 = not at all',
    minimum: 0,
    maximum: limits.queueTtlSeconds,
    default: 900,
  }),
);

const imageUrl = text('`data:image/png;base64,…`; png, jpeg, gif or webp, at most 5 MiB when decoded', {
  maxLength: limits.imageRequestBytes,
});
const images = maybe(
  Type.Array(imageUrl, {
    description:
      'For the agent, with the text; at most 8 and 10 MiB together. Only for a device with `images` among its `capabilities`',
    maxItems: limits.images,
  }),
);

export const CreateSession = record('CreateSession', 'Start a session with a first message.', {
  deviceId: id('Where'),
  message: boundedText('First instruction'),
  projectPath: maybe(text('Working directory on the device', { maxLength: limits.pathCharacters })),
  title: maybe(text('Title', { minLength: 1, maxLength: limits.nameCharacters })),
  agentType: maybe(
    text('One of the `agents` of the device; without it the one that it is registered for', { maxLength: 64 }),
  ),
  pendingId: maybe(
    text(
      'A ULID made by the app: the session is `PENDING-<it>` until its daemon names it, and is found by that for good',
      { pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$', maxLength: 26 },
    ),
  ),
  images,
  settings: messageSettings,
  queueTtlSeconds,
  notBefore,
});

const imagesUnconfirmed = maybe(
  Type.Literal('unconfirmed', {
    description:
      'The message has images, and the daemon of the device did not declare that it takes them: it may ignore them',
  }),
);

export const CreatedSession = record('CreatedSession', 'The session, the task and the first message.', {
  ...sessionFields,
  taskId: id('The task that carries the message'),
  message: Message,
  images: imagesUnconfirmed,
});

/** When a message reaches the agent. */
const deliveries = ['now', 'next'] as const;

export const SendMessage = record('SendMessage', 'A follow-up, or the answer to a prompt.', {
  content: boundedText('Text'),
  deliver: maybe(
    oneOf(
      deliveries,
      'now: into the turn that runs, for a device with `steer` among its `capabilities`; without a running turn as `next`. next, as without it: when the turn is over',
    ),
  ),
  answers: maybe(
    nullable(
      id(
        'The question that the words answer; null: none, it waits behind all questions. Absent: the oldest one, if any',
      ),
    ),
  ),
  images,
  settings: messageSettings,
  queueTtlSeconds,
  notBefore,
  because,
  desk: deskChoice,
});

export const SentMessage = record('SentMessage', 'The message was accepted.', {
  taskId: id('The task that carries it'),
  sessionId: sessionId('Canonical session id'),
  state: oneOf(taskStates, 'State of the task'),
  message: Message,
  images: imagesUnconfirmed,
  deliver: maybe(oneOf(deliveries, 'With `deliver: "now"` in the request. next: no turn ran')),
});

export const SentNow = record('SentNow', 'A queued message on its way into the turn that runs.', {
  taskId: id('The task that carries it'),
  state: oneOf(taskStates, 'State of the task'),
  deliver: oneOf(deliveries, 'next: no turn ran, and the message stays queued'),
});

export const CancelSession = Type.Object(
  {
    which: maybe(
      oneOf(
        ['running', 'all'],
        'running: only what runs, or what the agent asks. all: also everything that waits. Absent: what runs, else what the agent asks, else what waits longest',
      ),
    ),
    taskId: maybe(id('Only this task, if it runs or asks; nothing that waits')),
  },
  { title: 'CancelSession', description: 'The task to cancel; may be left out.' },
);

export const CancelledTask = record('CancelledTask', 'The task was cancelled.', {
  taskId: id('Task id'),
  state: Type.Literal('cancelled'),
  queued: maybe(list(id('Task id'), 'With `all`: the tasks that waited and were cancelled too')),
});

export const UpdateSession = Type.Object(
  {
    title: maybe(text('New title', { minLength: 1, maxLength: limits.nameCharacters })),
    archived: maybe(flag('Hide or show')),
    pinned: maybe(flag('Pin, or take the pin away')),
    notify: maybe(
      oneOf(
        ['all', 'watched', 'off'],
        'Notifications of this session: every cause, as in the settings for watched sessions, or none. `all` and `watched` watch it',
      ),
    ),
  },
  { title: 'UpdateSession', description: 'The changes; at least one field.', minProperties: 1 },
);

export const MarkRead = Type.Object(
  { upTo: maybe(time('`newsAt` of the session as it was shown; absent: everything')) },
  { title: 'MarkRead', description: 'Up to where the user has read; may be left out.' },
);

export const Task = record('Task', 'One run inside a session.', {
  id: id('Task id'),
  sessionId: sessionId('Canonical session id'),
  kind: oneOf(taskKinds, 'The first task of a session, a later one, or a message into a running turn'),
  state: oneOf(taskStates, 'State'),
  createdAt: time('Accepted'),
  sentAt: maybe(time('Written to the daemon')),
  finishedAt: maybe(time('Ended')),
  result: maybe(text('What the agent answered', { maxLength: limits.messageBytes })),
  error: maybe(
    record('TaskError', 'Why it did not complete.', { code: line('Task error code'), error: text('For people') }),
  ),
  note: maybe(text('How the outcome was learned, when no event of the daemon told it in time')),
  into: maybe(id('The task whose turn it was sent to, also when it became an ordinary message')),
  notBefore: maybe(time('When it joined its queue, or joins it in the state `later`')),
});

export const CommandList = record('CommandList', 'The slash commands of the agent of a session.', {
  commands: list(
    record('Command', 'A command.', {
      name: line('Without the slash'),
      description: text('What it does; may be empty'),
      inputHint: maybe(text('What to write behind it')),
    }),
    'In the order of the daemon; empty if it never told any',
    { maxItems: limits.slashCommands },
  ),
});

export const SessionContext = record('SessionContext', 'How full the context of a session is, as the daemon says.', {
  sessionId: sessionId('Canonical session id'),
  usedTokens: nullable(count('Tokens in the context; null if the daemon does not know')),
  maxTokens: nullable(count('Tokens that fit into it; null if the daemon does not know')),
  details: Type.Object({}, { description: 'Everything the daemon said, as it said it' }),
});

const summaryFields = {
  title: text('Title; may be empty', { maxLength: 8192 }),
  projectPath: text('Working directory; may be empty', { maxLength: 8192 }),
  initialPrompt: maybe(text('The first message, cut at 8 KiB')),
  recentMessages: list(
    record('SummaryMessage', 'One message.', {
      role: oneOf(messageRoles, 'Who said it'),
      content: text('Text, cut at 8 KiB'),
    }),
    'The newest messages, oldest first; may be empty',
    { maxItems: 20 },
  ),
  lastToolUse: maybe(text('What the agent did last')),
  messageCount: nullable(count('Messages; null if the daemon does not say')),
  startedAt: maybe(time('First message')),
  lastActivityAt: maybe(time('Last change')),
  status: text('working, waiting_for_input, completed, errored or stale; others may come; may be empty'),
  statusDetail: maybe(text('More, for people')),
};
export const Summary = record('Summary', 'The subject of a session, as its daemon reports it.', summaryFields);
export const SessionSummary = record('SessionSummary', 'The subject of a session, as its daemon reports it.', {
  sessionId: sessionId('Canonical session id'),
  ...summaryFields,
});

export const ReleasedSession = record('ReleasedSession', 'The outcome of a request to release a session.', {
  sessionId: sessionId('Canonical session id'),
  result: text(
    'released: what held it is gone. not_held: nothing did. busy: it is in the middle of a turn. foreign: something else than the agent of this user holds it. shared: the same program runs other sessions. unknown_session: the device has no such session. failed. Others may come',
  ),
  detail: maybe(text('More, for people')),
});

export type Summary = Static<typeof Summary>;
export type SessionSummary = Static<typeof SessionSummary>;
export type ReleasedSession = Static<typeof ReleasedSession>;
export type CommandList = Static<typeof CommandList>;
export type SessionContext = Static<typeof SessionContext>;
export type Session = Static<typeof Session>;
export type SessionDetail = Static<typeof SessionDetail>;
export type SessionList = Static<typeof SessionList>;
export type Message = Static<typeof Message>;
export type MessagePage = Static<typeof MessagePage>;
export type CreateSession = Static<typeof CreateSession>;
export type CreatedSession = Static<typeof CreatedSession>;
export type SendMessage = Static<typeof SendMessage>;
export type SentMessage = Static<typeof SentMessage>;
export type SentNow = Static<typeof SentNow>;
export type UpdateSession = Static<typeof UpdateSession>;
export type MarkRead = Static<typeof MarkRead>;
export type CancelSession = Static<typeof CancelSession>;
export type CancelledTask = Static<typeof CancelledTask>;
export type Task = Static<typeof Task>;
export type Progress = Static<typeof Progress>;
export type Prompt = Static<typeof Prompt>;
