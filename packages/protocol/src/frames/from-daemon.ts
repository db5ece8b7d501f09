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
  FileResult,
  Files,
  Folders,
  SearchResponse,
  SettingsResponse,
  SpendingResponse,
} from './answers.ts';

/** A time as daemons in the field write it: parsed leniently, never refused. */
const when = (description: string) => opaque(`${description} (ISO 8601)`, limits.timeCharacters);
const path = (description: string) => opaque(description, limits.pathCharacters);

const Status = frame('status', 'The running tasks. First frame of a connection, and sent after every change.', {
  running_tasks: list(text('task_id', { maxLength: limits.idCharacters }), 'Ids of running tasks', {
    maxItems: limits.runningTasks,
  }),
  open_prompts: addedLater(
    list(
      text('uuid', { maxLength: limits.idCharacters }),
      'Uuids of the open questions, from a daemon with `prompts`. The relay marks a question as superseded if the first `status` of a connection omits it',
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
  file_path: lenient(path('Opaque to the relay; returned in `watch_session`')),
  agent_type: addedLater(
    opaque('The agent of the session, one of those in `X-Agents`; absent: the agent of the registration', 64),
  ),
  held: addedLater(Held),
});

const ReportSessions = frame('report_sessions', 'The sessions on the device. A missing session is not deleted.', {
  sessions: list(ReportEntry, 'Sessions', { maxItems: limits.reportEntries }),
});

export const HistoryMessage = record('HistoryMessage', 'One stored message.', {
  uuid: id('Unique id of the message'),
  role: line('USER, AGENT or SYSTEM'),
  content: text('Text'),
  timestamp: lenient(when('Time of the message')),
  // Fields of an `Item`. Not checked: the relay forwards them.
  seq: maybe(Type.Unsafe<number>({ description: 'As in `Item`, if the request has `parts`' })),
  v: maybe(Type.Unsafe<number>({ description: 'As in `Item`' })),
  turn: maybe(Type.Unsafe<string>({ description: 'As in `Item`' })),
  part: maybe(Type.Unsafe<AnyPart>({ description: 'As in `Item`' })),
});

const sessionVersion = (description: string) => addedLater(version(description));
const messageUuid = addedLater(
  opaque('Uuid of the final item, from a daemon with `transcript`; `new_message` has the same uuid'),
);

const Messages = frame('messages', 'Answer to `get_messages`. A frame with `error` is a failure, not an empty page.', {
  request_id: id('From the request'),
  session_id: lenient(opaque("The agent's native session id")),
  v: sessionVersion('Version of the session, if the request has `parts`'),
  reset: addedLater(
    flag('Present if the daemon cannot answer `changed`: this is the newest page, and the app drops its copy'),
  ),
  messages: lenient(list(HistoryMessage, 'In chronological order', { [overlong]: 'last' })),
  has_more: lenient(flag('True if there are more messages')),
  oldest_uuid: lenient(opaque('uuid of the first returned message')),
  newest_uuid: lenient(opaque('uuid of the last returned message')),
  error: lenient(text('Why the daemon could not answer')),
});

const SessionActivity = frame('session_activity', 'A watched session changed.', {
  session_id: id("The agent's native session id"),
  last_message: lenient(text('Text of the last message')),
  message_count: lenient(count('Number of messages; 0 never overwrites a real count')),
  is_completion: lenient(flag('True when a turn completed')),
  file_path: lenient(text('Opaque to the relay; returned in `watch_session`', { maxLength: limits.pathCharacters })),
  last_activity: lenient(when('Time of the last change')),
  message_uuid: messageUuid,
  own_turn: addedLater(
    flag(
      'The agent works on its own between the turns of tasks: true when it starts, false when it stops. Sent for unwatched sessions too',
    ),
  ),
});

export const SlashCommand = record('SlashCommand', 'A slash command of the agent.', {
  name: text('Without the slash', { minLength: 1, maxLength: 128 }),
  description: lenient(text('Description')),
  input_hint: lenient(text('Hint for its arguments; absent if it takes none (field daemons: `usage_hint`)')),
});

export const SlashCommandSet = record('SlashCommandSet', 'The commands of the sessions in one project.', {
  project: text('Working directory, as in the reports of the sessions; empty: every session of the device', {
    maxLength: limits.pathCharacters,
  }),
  commands: list(SlashCommand, 'Commands; a plain string counts as the name', { maxItems: limits.slashCommands }),
});

const ReportSlashCommands = frame(
  'report_slash_commands',
  'The slash commands: either `commands`, which replace the commands of the same session, or `sets`, which replace all sets of the device.',
  {
    session_id: lenient(opaque("With `commands`: the agent's native session id; absent or empty: the whole device")),
    commands: maybe(
      list(SlashCommand, 'Commands; a plain string counts as the name', { maxItems: limits.slashCommands }),
    ),
    sets: maybe(list(SlashCommandSet, 'By project', { maxItems: limits.slashCommandSets })),
  },
);

export const Usage = Type.Object(
  {
    used_tokens: lenient(count('Tokens in the context')),
    max_tokens: lenient(count('Capacity of the context in tokens')),
    cost: maybe(Type.Unsafe<Cost>({ description: 'Cost of the session so far: `{amount, currency}`' })),
    limits: maybe(Type.Unsafe<UsageLimit[]>({ description: 'Limits of the plan, as in a `usage` item' })),
    caps: maybe(
      Type.Unsafe<Record<string, string>>({
        description:
          'The settings `relay.ask_session` and `relay.ask_day`: the cost in dollars at which the daemon asks, or `none`',
      }),
    ),
  },
  { description: '`used_tokens`, `max_tokens` (integers or null); the relay forwards all other fields unchanged' },
);

const UsageResponse = frame('usage_response', 'Answer to `usage_request`, or an error.', {
  request_id: id('From the request'),
  session_id: lenient(opaque("The agent's native session id")),
  usage: lenient(Usage),
  error: lenient(text('Why the daemon could not answer')),
});

const SettingsActivity = frame(
  'settings_activity',
  'A setting of a session or its options changed. Only to a relay that declared `settings`.',
  {
    session_id: id("The agent's native session id"),
    defaults: maybe(flag('The defaults of its agent changed too')),
  },
);

const ForceQuitResult = frame('force_quit_result', 'The outcome of a `force_quit_session`.', {
  request_id: id('From the request'),
  session_id: lenient(opaque("The agent's native session id")),
  status: text('released, not_held, busy, foreign, shared, unknown_session or failed; new values can be added', {
    minLength: 1,
    maxLength: 64,
  }),
  detail: lenient(text('Details for people')),
});

const SessionHeld = frame(
  'session_held',
  'Another program opened a session, changed its state or closed it. Only to a relay that declared `desk`; each report replaces the one before.',
  {
    session_id: id("The agent's native session id"),
    held: nullable(Held),
  },
);

const DeskResponse = frame('desk_response', 'Answer to `desk_request`, or an error.', {
  request_id: id('From the request'),
  session_id: id("The agent's native session id"),
  free: maybe(flag('True if nothing blocks the session; otherwise `why` has the reason')),
  ...deskAnswer,
  error: maybe(text('Why the daemon could not answer')),
});

/** Fields that any event can carry. `task_id` is empty for the live transcript of a session started locally. */
const anyEvent = {
  // Cut, not discarded: without a task id the event would be one of a local session. No task of ours has so long an id.
  task_id: lenient(text('The task, or empty', { maxLength: limits.idCharacters })),
  session_id: lenient(opaque("The agent's native session id; it resolves the placeholder in an event of any type")),
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
const Transcript = Type.Object(
  {
    type: Type.Literal('event'),
    event_type: Type.Literal('TRANSCRIPT'),
    task_id: text('The task; empty for a session started locally', { maxLength: limits.idCharacters }),
    session_id: id("The agent's native session id"),
    v: version(
      'Version of the session, one higher than in the previous frame. A gap means that the daemon did not stream a change',
    ),
    ops: operationList,
  },
  {
    title: 'TRANSCRIPT',
    description:
      'The transcript of a session changed. From a daemon with `transcript` to a relay that declared `transcript`, with its members in this order.',
  },
);

const Option = record('Option', 'A choice offered by WAIT_FOR_USER.', {
  label: text('Text of the choice', { maxLength: limits.promptOptionCharacters }),
});

export const daemonEvents = {
  SESSION_STARTED: event('SESSION_STARTED', 'Names the native session; resolves the placeholder.', {
    session_id: id("The agent's native session id"),
  }),
  PROGRESS: event('PROGRESS', 'Short status indicator.', {
    action: line('Current action of the agent'),
    target: lenient(text('Target of the action; can be empty', { maxLength: limits.pathCharacters })),
  }),
  OUTPUT: event('OUTPUT', 'Verbose output for an expanded view.', { output: text('Text') }),
  VERBOSE: event('VERBOSE', 'The relay treats it like OUTPUT.', {
    output: lenient(text('Text')),
    content: lenient(text('The text under another name')),
  }),
  TASK_COMPLETE: event('TASK_COMPLETE', 'The task completed.', {
    result: text(
      'The answer: the final text of the turn, which no AGENT_RESPONSE repeats. With `transcript`, the text of the item `message_uuid`',
    ),
    message_uuid: messageUuid,
  }),
  WAIT_FOR_USER: event('WAIT_FOR_USER', 'The agent needs input; the relay sends the answer as `task_resume`.', {
    prompt: text('The question'),
    result: lenient(text('Full text to show')),
    // Some daemons put an object here; only a text is shown.
    context: maybe(
      Type.Unsafe<string | object | null>({
        ...text('Subject of the question, such as a command, to show with it'),
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
        'Error code. `PROMPT_SUPERSEDED`: the daemon did not apply the answer, because it came too late or the message arrived before its question; open questions stay open. `USAGE_LIMIT`: the agent reached a usage limit. `COST_CAP`: the daemon stopped the turn, whose cost exceeded its cap by half. `HISTORY_NOT_WRITTEN`: the daemon could not write to the disk of the device, and sent nothing to the agent',
        { maxLength: 64 },
      ),
    ),
    limit: addedLater(
      record(
        'UsageLimitReached',
        'The usage limit that the agent reached, with `USAGE_LIMIT`. Only to a relay that declared `limits`.',
        {
          name: text('Name of the limit, as the agent reports it; empty if it does not', { maxLength: 128 }),
          resets_at: addedLater(
            text('Time of its reset (ISO 8601); absent: the agent did not report it', { maxLength: 64 }),
          ),
          source: text(
            'Source of the time. `figures`: numbers from the agent. `words`: its message, with a date or a zone. `clock`: its message, with neither',
            { maxLength: 16 },
          ),
        },
      ),
    ),
    message_uuid: messageUuid,
  }),
  AGENT_RESPONSE: event('AGENT_RESPONSE', 'A message from the agent, in any session of the device.', transcript),
  USER_MESSAGE: event('USER_MESSAGE', 'A message from the user, written on the machine or elsewhere.', transcript),
  WARNING: event('WARNING', 'A notice: a SYSTEM message of the session.', { warning: text('Text') }),
  TRANSCRIPT: Transcript,
  PROMPT_OPEN: event(
    'PROMPT_OPEN',
    'The agent asks another question while one is open. The daemon also repeats open questions after the first `status` of a connection. From a daemon with `prompts`.',
    {
      session_id: id("The agent's native session id"),
      question: Question,
    },
  ),
  PROMPT_CLOSED: event('PROMPT_CLOSED', 'A question is closed and takes no answer. From a daemon with `prompts`.', {
    session_id: id("The agent's native session id"),
    uuid: id('Uuid of the question'),
    state: text(`New state of the question: ${questionStates.slice(1).join(', ')}; new values can be added`, {
      minLength: 1,
      maxLength: 64,
    }),
    status: addedLater(
      text(
        'Whether its turn continues (`active`) or is over (`idle`). If the value is absent or unknown, `superseded` and `answered` mean `active`, all others `idle`',
        { maxLength: 64 },
      ),
    ),
  }),
  STEERED: event('STEERED', 'The outcome of `task_steer`. From a daemon with `steer`.', {
    outcome: text(
      '`injected`: the turn has the message. `not_running`: the turn was over, and no byte reached the agent. `refused`: the agent cannot take the message now, and did not get it. `dropped`: the turn was over before the agent read the message; can follow `injected`. `unknown`: the daemon wrote the message to the agent, which did not respond. New values can be added and count as `unknown`',
      { minLength: 1, maxLength: 64 },
    ),
    reason: addedLater(text('Why, for people')),
  }),
} as const;

export const fromDaemonFrames = {
  status: Status,
  report_sessions: ReportSessions,
  pong: frame('pong', 'Answer to `ping`.', {}),
  stopping: frame('stopping', 'The daemon stops: the relay sends it no further tasks on this connection.', {}),
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
  file_result: FileResult,
} as const;

type DaemonEventType = keyof typeof daemonEvents;
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
