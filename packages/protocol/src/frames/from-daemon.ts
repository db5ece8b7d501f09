/**
 * The frames from a daemon to the relay (specification §6.3, and the superset of `field daemons`: extra event types,
 * nullable optional fields, older spellings). snake_case. A field is required here only if the relay depends on it.
 */
import {
  type Static,
  Type,
  addedLater,
  count,
  flag,
  frame,
  id,
  lenient,
  limits,
  line,
  list,
  maybe,
  nullable,
  opaque,
  overlong,
  record,
  text,
} from '../schema.ts';
import { Held, deskAnswer } from '../rest/desk.ts';
import {
  type AnyPart,
  type Cost,
  Question,
  type UsageLimit,
  operationList,
  questionStates,
  transcriptLimits,
  version,
} from '../transcript/index.ts';
import {
  AgentSettingsResponse,
  Changes,
  ContentResponse,
  ContextResponse,
  File,
  FileDiff,
  Files,
  Folders,
  SearchResponse,
  SettingsResponse,
  SpendingResponse,
} from './answers.ts';

/** A time as daemons in the field write it: parsed leniently, never refused. */
const when = (description: string) => opaque(`${description} (ISO 8601)`, limits.timeCharacters);
const path = (description: string) => opaque(description, limits.pathCharacters);

export const Status = frame('status', 'The tasks that run now. First frame after connecting, and after every change.', {
  running_tasks: list(text('task_id', { maxLength: limits.idCharacters }), 'Ids of running tasks', {
    maxItems: limits.runningTasks,
  }),
  open_prompts: addedLater(
    list(
      text('uuid', { maxLength: limits.idCharacters }),
      'Uuids of the open questions, from a daemon with `prompts`. One that the first `status` of a connection omits is superseded',
      { maxItems: transcriptLimits.openPrompts },
    ),
  ),
});

export const ReportEntry = record('ReportEntry', 'One session on the device.', {
  session_id: id("The agent's native session id (older daemons: `id`)"),
  last_message: lenient(text('Text of the last message')),
  last_activity: lenient(when('Time of the last change')),
  is_active: lenient(flag('True while a task runs in the session')),
  message_count: lenient(count('Number of messages')),
  title: lenient(line('Title')),
  slug: lenient(line('Short name')),
  project: lenient(path('Working directory (older daemons: `project_path`)')),
  project_name: lenient(line('Name of the project')),
  file_path: lenient(path('Opaque to the relay, echoed in `watch_session`')),
  agent_type: addedLater(
    opaque('Which of the agents in `X-Agents` has it; absent: the one that the device is registered for', 64),
  ),
  held: addedLater(Held),
});

const ReportSessions = frame('report_sessions', 'The sessions on the device. Absence is not deletion.', {
  sessions: list(ReportEntry, 'Sessions', { maxItems: limits.reportEntries }),
});

const Pong = frame('pong', 'Answer to `ping`.', {});

export const HistoryMessage = record('HistoryMessage', 'One stored message.', {
  uuid: id('Unique id of the message'),
  role: line('USER, AGENT or SYSTEM'),
  content: text('Text'),
  timestamp: lenient(when('Time of the message')),
  // Fields of an `Item`. Not checked: the relay forwards them.
  seq: maybe(Type.Unsafe<number>({ description: 'Of an `Item`, where `parts` were asked for' })),
  v: maybe(Type.Unsafe<number>({ description: 'Of an `Item`' })),
  turn: maybe(Type.Unsafe<string>({ description: 'Of an `Item`' })),
  part: maybe(Type.Unsafe<AnyPart>({ description: 'Of an `Item`' })),
});

const sessionVersion = (description: string) => addedLater(version(description));
const messageUuid = addedLater(
  opaque('Uuid of the item that this ends with, from a daemon with `transcript`: `new_message` has it too'),
);

const Messages = frame('messages', 'Answer to `get_messages`. With `error` it is a failure, not an empty page.', {
  request_id: id('From the request'),
  session_id: lenient(opaque("The agent's native session id")),
  v: sessionVersion('Version of the session, where `parts` were asked for'),
  reset: addedLater(
    flag('Present when `changed` cannot be answered: this is the newest page, and what the app has is to be dropped'),
  ),
  messages: lenient(list(HistoryMessage, 'In chronological order', { [overlong]: 'last' })),
  has_more: lenient(flag('True when messages were left out')),
  oldest_uuid: lenient(opaque('uuid of the first returned message')),
  newest_uuid: lenient(opaque('uuid of the last returned message')),
  error: lenient(text('Why the daemon could not answer')),
});

const SessionActivity = frame('session_activity', 'A watched session changed.', {
  session_id: id("The agent's native session id"),
  last_message: lenient(text('Text of the last message')),
  message_count: lenient(count('Number of messages; 0 never overwrites a real count')),
  is_completion: lenient(flag('True when a turn ended')),
  file_path: lenient(text('Opaque to the relay, echoed in `watch_session`', { maxLength: limits.pathCharacters })),
  last_activity: lenient(when('Time of the last change')),
  message_uuid: messageUuid,
  own_turn: addedLater(
    flag(
      'The agent works by itself, between the turns of tasks: true when that begins, false when it ends. Also of a session that is not watched',
    ),
  ),
});

export const SlashCommand = record('SlashCommand', 'A command that the agent understands.', {
  name: text('Without the slash', { minLength: 1, maxLength: 128 }),
  description: lenient(text('What it does')),
  input_hint: lenient(text('What to write behind it; absent if it takes nothing (in the field: `usage_hint`)')),
});

export const SlashCommandSet = record('SlashCommandSet', 'The commands of the sessions in one project.', {
  project: text('Working directory, as the sessions report it; empty: every session of the device', {
    maxLength: limits.pathCharacters,
  }),
  commands: list(SlashCommand, 'Commands; a text alone counts as its name', { maxItems: limits.slashCommands }),
});

const ReportSlashCommands = frame(
  'report_slash_commands',
  'The slash commands. Either `commands`, which take the place of those of the same session, or `sets`, which take the place of all sets of the device.',
  {
    session_id: lenient(opaque("With `commands`: the agent's native session id; absent or empty: the whole device")),
    commands: maybe(
      list(SlashCommand, 'Commands; a text alone counts as its name', { maxItems: limits.slashCommands }),
    ),
    sets: maybe(list(SlashCommandSet, 'By project', { maxItems: limits.slashCommandSets })),
  },
);

export const Usage = Type.Object(
  {
    used_tokens: lenient(count('Tokens in the context')),
    max_tokens: lenient(count('Tokens that fit into it')),
    cost: maybe(Type.Unsafe<Cost>({ description: 'What the session has cost so far: `{amount, currency}`' })),
    limits: maybe(Type.Unsafe<UsageLimit[]>({ description: 'Limits of the plan, as in a `usage` item' })),
    caps: maybe(
      Type.Unsafe<Record<string, string>>({
        description:
          'The settings `relay.ask_session` and `relay.ask_day`: the dollars at which the daemon asks, or `none`',
      }),
    ),
  },
  { description: '`used_tokens`, `max_tokens` (integers or null); the relay passes on everything else in it' },
);

const UsageResponse = frame('usage_response', 'Answer to `usage_request`, or an error.', {
  request_id: id('From the request'),
  session_id: lenient(opaque("The agent's native session id")),
  usage: lenient(Usage),
  error: lenient(text('Why the daemon could not answer')),
});

const SettingsActivity = frame(
  'settings_activity',
  'A setting of a session changed, or what can be chosen. To a relay that declared `settings`.',
  {
    session_id: id("The agent's native session id"),
    defaults: maybe(flag('The defaults of its agent changed, too')),
  },
);

const ForceQuitResult = frame('force_quit_result', 'The outcome of a `force_quit_session`.', {
  request_id: id('From the request'),
  session_id: lenient(opaque("The agent's native session id")),
  status: text('released, not_held, busy, foreign, shared, unknown_session or failed; others may come', {
    minLength: 1,
    maxLength: 64,
  }),
  detail: lenient(text('More, for people')),
});

const SessionHeld = frame(
  'session_held',
  'Another program opened a session, changed its state or closed it. To a relay that declared `desk`; a report replaces it.',
  {
    session_id: id("The agent's native session id"),
    held: nullable(Held),
  },
);

const DeskResponse = frame('desk_response', 'Answer to `desk_request`, or an error.', {
  request_id: id('From the request'),
  session_id: id("The agent's native session id"),
  free: maybe(flag('Nothing of the daemon is in the way')),
  ...deskAnswer,
  error: maybe(text('Why the daemon could not answer')),
});

/** Fields that any event can carry. `task_id` is empty for the live transcript of a session started locally. */
const anyEvent = {
  // Cut, not discarded: without a task id the event would be one of a local session. No task of ours has so long an id.
  task_id: lenient(text('The task, or empty', { maxLength: limits.idCharacters })),
  session_id: lenient(opaque("The agent's native session id; on any type it resolves the placeholder")),
  user_message_uuid: lenient(opaque("The daemon's uuid of the user's message")),
};
const event = <N extends string, T extends Parameters<typeof Type.Object>[0]>(
  name: N,
  description: string,
  fields: T,
) =>
  Type.Object(
    { type: Type.Literal('event'), event_type: Type.Literal(name), ...anyEvent, ...fields },
    { title: name, description },
  );
const transcript = {
  session_id: id("The agent's native session id"),
  uuid: lenient(opaque('uuid of the message')),
  content: text('Text'),
  timestamp: lenient(when('Time of the message')),
};

/**
 * Exactly these members in this order, so that the relay forwards the text from `"v":` unchanged. It checks these members and
 * nothing inside `ops`.
 */
export const Transcript = Type.Object(
  {
    type: Type.Literal('event'),
    event_type: Type.Literal('TRANSCRIPT'),
    task_id: text('The task; empty for a session started locally', { maxLength: limits.idCharacters }),
    session_id: id("The agent's native session id"),
    v: version(
      'Version of the session: one more than that of the frame before. A gap is something that was not streamed',
    ),
    ops: operationList,
  },
  {
    title: 'TRANSCRIPT',
    description:
      'The transcript of a session changed. From a daemon with `transcript`, to a relay that said so, with its members in this order.',
  },
);

export const Option = record('Option', 'A choice offered by WAIT_FOR_USER.', {
  label: text('Text of the choice', { maxLength: limits.promptOptionCharacters }),
});

export const daemonEvents = {
  SESSION_STARTED: event('SESSION_STARTED', 'Names the native session; resolves the placeholder.', {
    session_id: id("The agent's native session id"),
  }),
  PROGRESS: event('PROGRESS', 'Short status indicator.', {
    action: line('What the agent does'),
    target: lenient(text('What it does it to; may be empty', { maxLength: limits.pathCharacters })),
  }),
  OUTPUT: event('OUTPUT', 'Verbose output for an expanded view.', { output: text('Text') }),
  VERBOSE: event('VERBOSE', 'Treated like OUTPUT.', {
    output: lenient(text('Text')),
    content: lenient(text('Text, in another spelling')),
  }),
  TASK_COMPLETE: event('TASK_COMPLETE', 'The task ended successfully.', {
    result: text(
      'The answer: the last words of the turn, which no AGENT_RESPONSE repeats. With `transcript` the text of the item `message_uuid`',
    ),
    message_uuid: messageUuid,
  }),
  WAIT_FOR_USER: event('WAIT_FOR_USER', 'The agent needs input; the answer comes back as `task_resume`.', {
    prompt: text('The question'),
    result: lenient(text('Full text shown to the user')),
    // Some daemons put an object here; only a text is shown.
    context: maybe(
      Type.Unsafe<string | object | null>({
        ...text('What the question is about, a command for instance: shown with it'),
        type: ['string', 'null', 'object'],
      }),
    ),
    options: lenient(list(Option, 'Choices', { maxItems: limits.promptOptions, [overlong]: 'first' })),
    message_uuid: messageUuid,
    question: addedLater(Question),
  }),
  ERROR: event('ERROR', 'The task failed.', {
    error: text('Why'),
    code: addedLater(
      text(
        'Why, for programs. `PROMPT_SUPERSEDED`: the answer came too late, or the message before its question was known, and was not applied; questions that are open stay so. `USAGE_LIMIT`: the agent reached a usage limit. `HISTORY_NOT_WRITTEN`: the disk of the device took nothing, and the agent heard nothing',
        { maxLength: 64 },
      ),
    ),
    limit: addedLater(
      record(
        'UsageLimitReached',
        'The usage limit that the agent reached, with `USAGE_LIMIT` and to a relay with `limits`.',
        {
          name: text('Its name, as the agent reports it; empty if it does not', { maxLength: 128 }),
          resets_at: addedLater(
            text('When it resets (ISO 8601); absent: the agent did not report it', { maxLength: 64 }),
          ),
          source: text(
            'The source of the time. figures: of the agent, in numbers. words: of its message, with a date or a zone. clock: of its message, with neither',
            { maxLength: 16 },
          ),
        },
      ),
    ),
    message_uuid: messageUuid,
  }),
  AGENT_RESPONSE: event('AGENT_RESPONSE', 'The agent said something, in a session started anywhere.', transcript),
  USER_MESSAGE: event('USER_MESSAGE', 'The user said something, locally or elsewhere.', transcript),
  WARNING: event('WARNING', 'Something to know: a SYSTEM message of the session.', { warning: text('Text') }),
  TRANSCRIPT: Transcript,
  PROMPT_OPEN: event(
    'PROMPT_OPEN',
    'The agent asks another question, while one is open; also a repetition behind the first `status` of a connection. From a daemon with `prompts`.',
    {
      session_id: id("The agent's native session id"),
      question: Question,
    },
  ),
  PROMPT_CLOSED: event('PROMPT_CLOSED', 'A question can no longer be answered. From a daemon with `prompts`.', {
    session_id: id("The agent's native session id"),
    uuid: id('Uuid of the question'),
    state: text(`What became of it: ${questionStates.slice(1).join(', ')}; others may come`, {
      minLength: 1,
      maxLength: 64,
    }),
    status: addedLater(
      text(
        'Whether its turn continues (`active`) or is over (`idle`). Absent or another one: `active` after `superseded` and `answered`, else `idle`',
        { maxLength: 64 },
      ),
    ),
  }),
  STEERED: event('STEERED', 'The outcome of `task_steer`. From a daemon with `steer`.', {
    outcome: text(
      '`injected`: the turn has the message. `not_running`: the turn was over, and no byte reached the agent. `refused`: the agent cannot take it now, and did not get it. `dropped`: the turn ended before the agent read it, also after `injected`. `unknown`: it was written to the agent, which did not answer. Others may come, and count as `unknown`',
      { minLength: 1, maxLength: 64 },
    ),
    reason: addedLater(text('Why, for people')),
  }),
} as const;

export const fromDaemonFrames = {
  status: Status,
  report_sessions: ReportSessions,
  pong: Pong,
  messages: Messages,
  session_activity: SessionActivity,
  report_slash_commands: ReportSlashCommands,
  usage_response: UsageResponse,
  spending_response: SpendingResponse,
  settings_response: SettingsResponse,
  agent_settings_response: AgentSettingsResponse,
  content_response: ContentResponse,
  folders: Folders,
  search_response: SearchResponse,
  changes: Changes,
  diff: FileDiff,
  files: Files,
  file: File,
  settings_activity: SettingsActivity,
  context_response: ContextResponse,
  force_quit_result: ForceQuitResult,
  session_held: SessionHeld,
  desk_response: DeskResponse,
} as const;

export type DaemonEventType = keyof typeof daemonEvents;
export type DaemonEvent<K extends DaemonEventType = DaemonEventType> = {
  [T in K]: Static<(typeof daemonEvents)[T]>;
}[K];
export type FromDaemonFrame =
  | { [K in keyof typeof fromDaemonFrames]: Static<(typeof fromDaemonFrames)[K]> }[keyof typeof fromDaemonFrames]
  | DaemonEvent;
export type FromDaemon<K extends FromDaemonFrame['type']> = Extract<FromDaemonFrame, { type: K }>;
export type ReportEntry = Static<typeof ReportEntry>;
export type SlashCommand = Static<typeof SlashCommand>;
export type SlashCommandSet = Static<typeof SlashCommandSet>;
export type Usage = Static<typeof Usage>;
