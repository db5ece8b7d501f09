/**
 * The frames from the relay to a daemon (specification §6.2; `version_status`, `file_path`, `images`,
 * `context_request`, `force_quit_session`: field daemons). snake_case. The descriptions name required capabilities.
 */
import {
  Type,
  type Static,
  count,
  flag,
  frame,
  id,
  limits,
  line,
  list,
  maybe,
  nullable,
  oneOf,
  text,
} from '../schema.ts';
export * from './capabilities.ts';
import { searchQuery } from '../rest/search.ts';
import { deskChoice } from '../rest/desk.ts';
import { changeLimits, scopeName } from '../rest/changes.ts';
import { ChosenSetting, MessageSetting, settingLimits } from '../rest/settings.ts';
import { fileLimits, fileMime, fileName, fileSize } from '../rest/uploads.ts';
import { calendarDay, timeZone } from '../rest/usage.ts';
import { FieldValues, transcriptLimits, version } from '../transcript/index.ts';

const images = maybe(
  list(
    text('`data:image/png;base64,…`; png, jpeg, gif or webp', { maxLength: limits.imageCharacters }),
    'Attached images; at most 8. Never sent to a daemon that declared other capabilities but not `images`',
    { maxItems: limits.images },
  ),
);

/** Only for a daemon with `files`. */
const files = maybe(
  list(
    id('`file_id` of a file'),
    'Files for the agent. The daemon sends ERROR `FILE_MISSING`, and gives the agent nothing, if it does not have all of them',
    { maxItems: fileLimits.files },
  ),
);

const path = (description: string) => text(description, { maxLength: limits.pathCharacters });

const messageUuid = maybe(
  id('Uuid of the item for this message, for a daemon with `transcript`; apps already show it under this uuid'),
);

/** Only for a daemon with `controls`. */
const chosen = {
  settings: maybe(
    list(MessageSetting, 'Apply before the agent gets the message; on failure send ERROR `SETTING_NOT_APPLIED`', {
      maxItems: settingLimits.choices,
    }),
  ),
  restricted: maybe(
    line(
      'No person supervises the session: with `unattended` the daemon refuses options marked `danger`, with `agent` it also refuses every mode but the default',
    ),
  ),
};

const Ping = frame('ping', 'Application-level keepalive. The daemon answers with `pong`.', {});

const TaskStart = frame('task_start', 'Begin a new session and its first task.', {
  task_id: id('Chosen by the relay, new for each task (ULID)'),
  instruction: text('The first message of the user', { maxLength: limits.daemonFrameBytes }),
  project_path: maybe(path('Working directory hint')),
  images,
  files,
  message_uuid: messageUuid,
  agent_type: maybe(line('One of the agents in `X-Agents`; absent: the agent of the registration')),
  ...chosen,
});

const TaskResume = frame('task_resume', 'A follow-up in an existing session, or the answer to WAIT_FOR_USER.', {
  task_id: id('Chosen by the relay, new for each task (ULID)'),
  session_id: id("The agent's native session id"),
  message: text('The message of the user', { maxLength: limits.daemonFrameBytes }),
  project_path: maybe(path('Working directory hint')),
  images,
  files,
  message_uuid: messageUuid,
  prompt_uuid: maybe(
    id(
      'The question that this answers, for a daemon with `prompts`. The daemon never applies a choice to another question',
    ),
  ),
  option_id: maybe(id('The chosen option')),
  fields: maybe(FieldValues),
  digest: maybe(text('Digest of the question that the person saw', { maxLength: 64 })),
  answered_on: maybe(line('The program in which the person answered, for display; becomes `by` of the question')),
  desk: deskChoice,
  steer: maybe(
    oneOf(
      ['next'],
      'For a daemon with `steer`: the message was meant for the previous turn, which was over when it arrived. Becomes `steer` of the item',
    ),
  ),
  ...chosen,
});

const TaskSteer = frame(
  'task_steer',
  'A message for the running turn of the task `into`. Answered by the event STEERED; the agent gets the message at most once. Only for a daemon that declared `steer`.',
  {
    task_id: id('The task that carries the message'),
    into: id('The task whose turn gets the message'),
    session_id: id("The agent's native session id"),
    message: text('The message of the user', { maxLength: limits.daemonFrameBytes }),
    images,
    files,
    message_uuid: messageUuid,
  },
);

const TaskCancel = frame('task_cancel', 'Stop tracking the task. Never acknowledged.', {
  task_id: id('The task to stop'),
});

const GetMessages = frame('get_messages', 'Ask for a page of history. Answered by `messages`.', {
  request_id: id('The answer repeats it'),
  session_id: id("The agent's native session id"),
  limit: Type.Integer({ description: 'Always present', minimum: 1, maximum: 200 }),
  before_uuid: maybe(id('Only messages before this one')),
  after_uuid: maybe(id('Only messages after this one')),
  parts: maybe(flag('Items instead of messages, for a daemon with `transcript`')),
  changed: maybe(version('Only items that changed after this version, ordered by `seq`; replaces the cursor')),
});

const WatchSession = frame('watch_session', 'Start sending `session_activity` for a session.', {
  session_id: id("The agent's native session id"),
  file_path: maybe(path('The path that the daemon reported for the session, unchanged; empty if it reported none')),
});

const UnwatchSession = frame('unwatch_session', 'Stop sending `session_activity` for a session.', {
  session_id: id("The agent's native session id"),
});

const VersionStatus = frame(
  'version_status',
  "How the daemon's version compares with the policy for its agent type. After `update_required` the relay closes the socket with 4426.",
  {
    status: oneOf(['current', 'update_available', 'update_required'], 'Verdict'),
    your_version: line('The version that the daemon declared; empty if none'),
    min_version: maybe(line('The relay refuses daemons below this version')),
    recommended_version: maybe(line('The relay suggests an update below this version')),
    latest_version: maybe(line('Newest known version')),
    changelog_url: maybe(path('Address of the changelog')),
    message: maybe(text('Text for people')),
  },
);

const UsageRequest = frame(
  'usage_request',
  'Request the context usage of a session. Answered by `usage_response`. Only for a daemon that declared `usage`.',
  { request_id: id('The answer repeats it'), session_id: id("The agent's native session id") },
);

const SpendingRequest = frame(
  'spending_request',
  'Request the daily usage figures. Answered by `spending_response`. Only for a daemon that declared `spending`.',
  {
    request_id: id('The answer repeats it'),
    from: calendarDay('First day'),
    to: calendarDay('Last day; the range is at most 92 days'),
    zone: timeZone('Time zone of the days (IANA), such as `Europe/Paris`'),
  },
);

const SettingsRequest = frame(
  'settings_request',
  'Request the settings of a session, or change one. Answered by `settings_response`. Only for a daemon that declared `settings`.',
  {
    request_id: id('The answer repeats it'),
    session_id: id("The agent's native session id"),
    change: maybe(ChosenSetting),
    known: maybe(
      flag(
        'Report known values only, and do not start a process of the agent. Only for a daemon with `controls`, like the next two fields',
      ),
    ),
    keep: maybe(flag('Make the change the default of this agent too')),
    changed_on: maybe(line('The program in which the person chose, for display')),
  },
);

const AgentSettingsRequest = frame(
  'agent_settings_request',
  'Request the initial settings of new sessions of an agent, or set a default. Answered by `agent_settings_response`. Only for a daemon that declared `controls`.',
  {
    request_id: id('The answer repeats it'),
    agent_type: maybe(line('One of the agents in `X-Agents`; absent: the agent of the registration')),
    project_path: maybe(path('The folder of the session')),
    change: maybe(
      Type.Object(
        { id: id('Id of the setting'), value: nullable(id('Id of one of its options; null removes the default')) },
        { description: 'The default to set' },
      ),
    ),
    changed_on: maybe(line('The program in which the person chose, for display')),
  },
);

const ContentRequest = frame(
  'content_request',
  "Request a piece of an item's content: an image, or the whole output of a tool. Answered by `content_response`. Only for a daemon that declared `content`.",
  {
    request_id: id('The answer repeats it'),
    session_id: id("The agent's native session id"),
    uuid: id('The item'),
    name: id('`data` of its part, or of one of its images'),
    offset: count('First byte of the piece'),
    limit: Type.Integer({ description: 'Maximum number of bytes', minimum: 1, maximum: transcriptLimits.pieceBytes }),
  },
);

const GetFolders = frame(
  'get_folders',
  'Request the subfolders of a folder on the machine. Answered by `folders`. Only for a daemon that declared `browse`.',
  {
    request_id: id('The answer repeats it'),
    path: path('The folder; empty: the folders in which the daemon lets agents work'),
  },
);

const SearchRequest = frame(
  'search_request',
  'Search all transcripts of the machine. Answered by `search_response`. Only for a daemon that declared `search`.',
  { request_id: id('The answer repeats it'), query: searchQuery },
);

const aboutFiles = { request_id: id('The answer repeats it'), session_id: id("The agent's native session id") };
const scope = scopeName('The comparison');
const turn = maybe(id('With scope `turn`: the uuid of the message that began the turn; absent: the newest turn'));

const GetChanges = frame(
  'get_changes',
  'Request the list of changed files. Answered by `changes`. Only for a daemon that declared `changes`.',
  {
    ...aboutFiles,
    scope,
    turn,
    after: maybe(path('Only files after this one')),
    limit: Type.Integer({ description: 'Maximum number of files', minimum: 1, maximum: changeLimits.changes }),
  },
);

const GetDiff = frame(
  'get_diff',
  'Request the diff of a file. Answered by `diff`. Only for a daemon that declared `changes`.',
  { ...aboutFiles, scope, turn, path: path('The file'), from: maybe(count('First hunk')) },
);

const GetFiles = frame(
  'get_files',
  'Request the entries of a folder, or search for files by name. Answered by `files`. Only for a daemon that declared `changes` and `browse`.',
  {
    ...aboutFiles,
    path: maybe(path('The folder; absent: the root of the session')),
    find: maybe(text('Letters that the path contains, in this order', { maxLength: limits.folderCharacters })),
  },
);

const GetFile = frame(
  'get_file',
  'Request a piece of a file. Answered by `file`. Only for a daemon that declared `changes` and `browse`.',
  {
    ...aboutFiles,
    path: path('The file'),
    side: maybe(oneOf(['now', 'before'], '`before`: the version in the commit that `scope` compares with')),
    scope: maybe(scope),
    turn,
    offset: Type.Integer({ description: 'First byte', minimum: 0 }),
    limit: Type.Integer({
      description: 'Maximum number of bytes of text',
      minimum: 1,
      maximum: changeLimits.pieceBytes,
    }),
  },
);

const ContextRequest = frame(
  'context_request',
  'Request a summary of a session. Answered by `context_response`; a daemon can also ignore it. Without `include` it is the older form of `usage_request`, only for a daemon that declared `context` but not `usage`.',
  {
    request_id: id('The answer repeats it'),
    session_id: id("The agent's native session id"),
    include: maybe(
      Type.Object(
        {
          initial_prompt: maybe(flag('The first message')),
          recent_messages: maybe(count('Number of newest messages to include')),
          last_tool_use: maybe(flag('The latest tool use of the agent')),
        },
        { description: 'Fields to include in the summary' },
      ),
    ),
  },
);

const ForceQuitSession = frame(
  'force_quit_session',
  'Close the program on the machine that has a session open, because the user wants to continue in an app. Answered by `force_quit_result`; a daemon can also ignore it.',
  {
    request_id: id('The answer repeats it'),
    session_id: id("The agent's native session id"),
    stop_turn: maybe(flag('Even while the program works, for a daemon with `desk`')),
  },
);

const DeskRequest = frame(
  'desk_request',
  'Request instructions to continue a session on the machine. Answered by `desk_response`. Only for a daemon that declared `desk`.',
  {
    request_id: id('The answer repeats it'),
    session_id: id("The agent's native session id"),
    let_go: flag('The daemon first stops its own idle process of the session'),
  },
);

const FileOpen = frame(
  'file_open',
  'Announce a file for the agent. Answered by `file_result`. A repetition changes nothing. Only for a daemon that declared `files`, like the next two frames.',
  {
    request_id: id('The answer repeats it'),
    file_id: id('ULID of the app'),
    name: fileName,
    size: fileSize,
    mime: fileMime,
  },
);

const FilePiece = frame(
  'file_piece',
  'The next bytes of a file; empty `data` only asks for the state. Answered by `file_result`.',
  {
    request_id: id('The answer repeats it'),
    file_id: id('The file'),
    offset: count('First byte of the piece: the number of bytes that the daemon has'),
    data: text('The piece in base64', { maxLength: Math.ceil(fileLimits.pieceBytes / 3) * 4 }),
  },
);

const FileDrop = frame('file_drop', 'Erase a file that no message has used. Never answered.', {
  file_id: id('The file'),
});

export const toDaemonFrames = {
  ping: Ping,
  task_start: TaskStart,
  task_resume: TaskResume,
  task_steer: TaskSteer,
  task_cancel: TaskCancel,
  get_messages: GetMessages,
  watch_session: WatchSession,
  unwatch_session: UnwatchSession,
  version_status: VersionStatus,
  usage_request: UsageRequest,
  spending_request: SpendingRequest,
  settings_request: SettingsRequest,
  agent_settings_request: AgentSettingsRequest,
  content_request: ContentRequest,
  get_folders: GetFolders,
  search_request: SearchRequest,
  get_changes: GetChanges,
  get_diff: GetDiff,
  get_files: GetFiles,
  get_file: GetFile,
  context_request: ContextRequest,
  force_quit_session: ForceQuitSession,
  desk_request: DeskRequest,
  file_open: FileOpen,
  file_piece: FilePiece,
  file_drop: FileDrop,
} as const;

export type ToDaemonFrame = {
  [K in keyof typeof toDaemonFrames]: Static<(typeof toDaemonFrames)[K]>;
}[keyof typeof toDaemonFrames];
export type ToDaemon<K extends ToDaemonFrame['type']> = Extract<ToDaemonFrame, { type: K }>;
