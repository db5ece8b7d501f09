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
import { attached } from './uploads.ts';
import { messageSettings } from './settings.ts';
import {
  QuestionField,
  QuestionReason,
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

const page = {
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
};

export const MessagePage = record('MessagePage', 'A page of history, fetched from the daemon.', page);

export const SessionDetail = record('SessionDetail', 'A session with its recent messages.', {
  ...sessionFields,
  ...page,
  messagesError: maybe(
    record('MessagesError', 'Why `messages` is empty: the relay could not get them from the daemon.', {
      code: line('DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR, SESSION_NOT_RESOLVED or SERVICE_UNAVAILABLE'),
      error: text('Text for people'),
    }),
  ),
});

export const SessionList = record('SessionList', 'Sessions of the user, newest `updatedAt` first.', {
  sessions: list(Session, 'Sessions', { maxItems: limits.sessionsPage }),
  nextCursor: maybe(
    line(
      'Send it as `cursor` for the next page; absent on the last page. A page of a search can be shorter than `limit` and have one',
    ),
  ),
});

const boundedText = (description: string) => text(`${description}; at most 256 KiB of UTF-8`, { minLength: 1 });
const queueTtlSeconds = maybe(
  Type.Integer({
    description: 'How long the message can wait for an offline device; 0 = not at all',
    minimum: 0,
    maximum: limits.queueTtlSeconds,
    default: 900,
  }),
);

export const CreateSession = record('CreateSession', 'Start a session with a first message.', {
  deviceId: id('Where'),
  message: boundedText('First instruction'),
  projectPath: maybe(text('Working directory on the device', { maxLength: limits.pathCharacters })),
  title: maybe(text('Title', { minLength: 1, maxLength: limits.nameCharacters })),
  agentType: maybe(text('One of the `agents` of the device; absent: the agent of the registration', { maxLength: 64 })),
  pendingId: maybe(
    text(
      'A ULID made by the app. The native session id is `PENDING-<ULID>` until the daemon names the session, and stays a valid alias',
      { pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$', maxLength: 26 },
    ),
  ),
  ...attached,
  settings: messageSettings,
  queueTtlSeconds,
  notBefore,
});

const imagesUnconfirmed = maybe(
  Type.Literal('unconfirmed', {
    description: 'The message has images, but the daemon of the device did not declare `images` and can ignore them',
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
});

export const SentMessage = record('SentMessage', 'The message was accepted.', {
  taskId: id('The task that carries it'),
  sessionId: sessionId('Canonical session id'),
  state: oneOf(taskStates, 'State of the task'),
  message: Message,
  images: imagesUnconfirmed,
  deliver: maybe(oneOf(deliveries, 'Present if the request has `deliver: "now"`. `next`: no turn was running')),
});

export const SentNow = record('SentNow', 'A queued message on its way into the running turn.', {
  taskId: id('The task that carries it'),
  state: oneOf(taskStates, 'State of the task'),
  deliver: oneOf(deliveries, '`next`: no turn was running, and the message stays queued'),
});

export const CancelSession = Type.Object(
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
);

export const CancelledTask = record('CancelledTask', 'The task was cancelled.', {
  taskId: id('Task id'),
  state: Type.Literal('cancelled'),
  queued: maybe(list(id('Task id'), 'With `all`: the queued tasks that were cancelled too')),
});

export const UpdateSession = Type.Object(
  {
    title: maybe(text('New title', { minLength: 1, maxLength: limits.nameCharacters })),
    archived: maybe(flag('Archive or restore')),
    pinned: maybe(flag('Pin or unpin')),
    notify: maybe(
      oneOf(
        ['all', 'watched', 'off'],
        'Notifications of this session: every cause, as in the settings for watched sessions, or none. `all` and `watched` also watch the session',
      ),
    ),
  },
  { title: 'UpdateSession', description: 'The changes; at least one field.', minProperties: 1 },
);

export const MarkRead = Type.Object(
  { upTo: maybe(time('`newsAt` of the session that the app shows; absent: everything is read')) },
  { title: 'MarkRead', description: 'The time up to which the user has read; optional.' },
);

export const Task = record('Task', 'One run inside a session.', {
  id: id('Task id'),
  sessionId: sessionId('Canonical session id'),
  kind: oneOf(taskKinds, 'The first task of a session, a later one, or a message into a running turn'),
  state: oneOf(taskStates, 'State'),
  createdAt: time('Accepted'),
  sentAt: maybe(time('Written to the daemon')),
  finishedAt: maybe(time('Ended')),
  result: maybe(text('The answer of the agent', { maxLength: limits.messageBytes })),
  error: maybe(
    record('TaskError', 'Why it did not complete.', { code: line('Task error code'), error: text('Text for people') }),
  ),
  note: maybe(text('How the relay learned the outcome, if no event of the daemon reported it in time')),
  into: maybe(id('The task whose turn it was sent to, even if it later became an ordinary message')),
  notBefore: maybe(time('When it joined its queue; in the state `later`, when it will join')),
});

export const CommandList = record('CommandList', 'The slash commands of the agent of a session.', {
  commands: list(
    record('Command', 'A command.', {
      name: line('Without the slash'),
      description: text('Description; can be empty'),
      inputHint: maybe(text('Hint for its arguments')),
    }),
    'In the order of the daemon; empty if the daemon never reported any',
    { maxItems: limits.slashCommands },
  ),
});

export const SessionContext = record('SessionContext', 'The context usage of a session, as the daemon reports it.', {
  sessionId: sessionId('Canonical session id'),
  usedTokens: nullable(count('Tokens in the context; null if the daemon does not know')),
  maxTokens: nullable(count('Capacity of the context in tokens; null if the daemon does not know it')),
  details: Type.Object({}, { description: 'The complete answer of the daemon, unchanged' }),
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
export const SessionSummary = record('SessionSummary', 'The summary of a session, as its daemon reports it.', {
  sessionId: sessionId('Canonical session id'),
  ...summaryFields,
});

export const ReleasedSession = record('ReleasedSession', 'The outcome of a request to release a session.', {
  sessionId: sessionId('Canonical session id'),
  result: text(
    '`released`: the daemon closed the program. `not_held`: no program had the session open. `busy`: the program is in the middle of a turn. `foreign`: the session is open in a program that is not the agent of this user. `shared`: the same program runs other sessions. `unknown_session`: the device has no such session. `failed`: closing the program failed. New values can be added',
  ),
  detail: maybe(text('Details for people')),
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
