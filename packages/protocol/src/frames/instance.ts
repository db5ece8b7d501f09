/**
 * The messages between instances of the relay. Versioned (`v`), because two releases run side by side during a rollout:
 * a receiver ignores a `kind` it does not know.
 *
 * Three families: a *command* goes to the instance that owns a device, a *control* frame to all instances, and a *user frame* to
 * every instance that holds a socket of the user. A user frame is one letter and the attention frame as text, so that the
 * receiving side forwards without parsing.
 */
import { type Static, Type, count, flag, id, limits, maybe, nullable, list, oneOf, opaque, text } from '../schema.ts';
import { Message, Summary } from '../rest/conversation.ts';
import { piece } from '../rest/content.ts';
import { deskAnswer } from '../rest/desk.ts';
import { folder } from '../rest/folders.ts';
import { hit, searchLimits, searchQuery } from '../rest/search.ts';
import { changeLimits, scopeName } from '../rest/changes.ts';
import { AgentSettings, ChosenSetting, DefaultChange, SessionSettings } from '../rest/settings.ts';
import { calendarDay, since, timeZone, usageDays } from '../rest/usage.ts';
import { fileLimits, FileState, SendFile } from '../rest/uploads.ts';
import { transcriptLimits, version } from '../transcript/index.ts';
import { errorCatalogue, type ErrorCode } from '../errors.ts';

const versioned = <N extends string, T extends Parameters<typeof Type.Object>[0]>(
  kind: N,
  description: string,
  fields: T,
) => Type.Object({ v: Type.Literal(1), kind: Type.Literal(kind), ...fields }, { title: kind, description });

export const commands = {
  wake: versioned('wake', 'The device probably has queued tasks to deliver: claim and write them.', {}),
  cancel: versioned('cancel', 'Write `task_cancel`.', { taskId: id('Task id') }),
  changed: versioned(
    'changed',
    'A user changed a session (title, archive, watch): read it again, then watch or unwatch it accordingly.',
    {
      sessionKey: id('Key of the session row'),
      unwatched: maybe(flag('The user stopped watching it: unwatch it even if a client has it open')),
    },
  ),
  open: versioned('open', 'A client shows the session: watch it for a while.', {
    sessionKey: id('Key of the session row'),
  }),
  named: versioned(
    'named',
    'A late event named the session of a first task that was already settled: request its history to find the outcome.',
    {
      taskId: id('Task id'),
    },
  ),
  history: versioned(
    'history',
    'Request a page of history from the daemon; answered by `page`, `items` or `failure`.',
    {
      sessionId: id("The agent's native session id"),
      limit: Type.Integer({ minimum: 1, maximum: limits.historyPage }),
      before: maybe(id('Only messages before this one')),
      after: maybe(id('Only messages after this one')),
      parts: maybe(flag('Items, if the daemon has them; the answer is then `items`')),
      changed: maybe(version('With `parts`, instead of a cursor: only items that changed after this version')),
    },
  ),
  ask_context: versioned(
    'ask_context',
    'Request the context usage of a session from the daemon; answered by `session_context` or `failure`.',
    {
      sessionId: id("The agent's native session id"),
    },
  ),
  ask_settings: versioned(
    'ask_settings',
    'Request the settings of a session from the daemon, or change one; answered by `session_settings` or `failure`.',
    {
      sessionId: id("The agent's native session id"),
      change: maybe(ChosenSetting),
      known: maybe(flag('Do not start a process of the agent')),
      keep: maybe(flag('Make the value the default of the agent too')),
      changedOn: maybe(text('The program in which the person chose', { maxLength: limits.nameCharacters })),
    },
  ),
  ask_agent_settings: versioned(
    'ask_agent_settings',
    'Request the initial settings of new sessions from the daemon, or set a default; answered by `agent_settings` or `failure`.',
    {
      agentType: maybe(text('Absent: the agent of the registration', { maxLength: limits.lineCharacters })),
      projectPath: maybe(text('Folder', { maxLength: limits.pathCharacters })),
      change: maybe(Type.Pick(DefaultChange, ['id', 'value'])),
      changedOn: maybe(text('The program in which the person chose', { maxLength: limits.nameCharacters })),
    },
  ),
  ask_content: versioned(
    'ask_content',
    'Request a piece of the content of an item from the daemon; answered by `item_content` or `failure`.',
    {
      sessionId: id("The agent's native session id"),
      uuid: id('The item'),
      name: id('Name of the content in the part of the item'),
      offset: count('First byte'),
      limit: Type.Integer({ description: 'Maximum number of bytes', minimum: 1, maximum: transcriptLimits.pieceBytes }),
    },
  ),
  ask_pong: versioned('ask_pong', 'Check that the daemon responds; answered by `device_pong` or `failure`.', {}),
  ask_folders: versioned(
    'ask_folders',
    'Request the subfolders of a folder from the daemon; answered by `device_folders` or `failure`.',
    { path: text('The folder; empty: the top level', { maxLength: limits.pathCharacters }) },
  ),
  ask_search: versioned(
    'ask_search',
    'Ask the daemon to search its transcripts; answered by `device_hits` or `failure`.',
    { query: searchQuery },
  ),
  ask_files: versioned(
    'ask_files',
    'Request files, changes or a diff of a session from the daemon; answered by `device_files` or `failure`.',
    {
      sessionId: id("The agent's native session id"),
      about: oneOf(
        ['changes', 'diff', 'files', 'file'],
        'The name of the frame without `get_`; the other fields are its fields',
      ),
      scope: maybe(scopeName('The comparison')),
      turn: maybe(id('Uuid of the message that began the turn')),
      path: maybe(text('The file or folder', { maxLength: limits.pathCharacters })),
      after: maybe(text('Only files after this one', { maxLength: limits.pathCharacters })),
      from: maybe(count('First hunk')),
      find: maybe(text('Letters of the path', { maxLength: limits.folderCharacters })),
      side: maybe(oneOf(['now', 'before'], 'Which version of the file')),
      offset: maybe(Type.Integer({ minimum: 0 })),
      limit: maybe(Type.Integer({ minimum: 1, maximum: changeLimits.pieceBytes })),
    },
  ),
  ask_spending: versioned(
    'ask_spending',
    'Request the daily usage figures from the daemon; answered by `device_spending` or `failure`.',
    { from: calendarDay('First day'), to: calendarDay('Last day'), zone: timeZone('Time zone of the days') },
  ),
  ask_summary: versioned(
    'ask_summary',
    'Request a summary of a session from the daemon; answered by `session_summary` or `failure`.',
    {
      sessionId: id("The agent's native session id"),
    },
  ),
  release: versioned(
    'release',
    'Ask the daemon to close the program that has a session open on its machine; answered by `session_released` or `failure`.',
    {
      sessionId: id("The agent's native session id"),
      stopTurn: maybe(flag('Even while the program works')),
    },
  ),
  send_file: versioned('send_file', 'Announce a file to the daemon; answered by `device_file` or `failure`.', {
    ...SendFile.properties,
    fileId: id('The file'),
  }),
  send_piece: versioned(
    'send_piece',
    'Send the next bytes of a file to the daemon; answered by `device_file` or `failure`.',
    {
      fileId: id('The file'),
      offset: count('First byte of the piece'),
      data: text('The piece in base64; empty: only ask for the state', {
        maxLength: Math.ceil(fileLimits.pieceBytes / 3) * 4,
      }),
    },
  ),
  drop_file: versioned('drop_file', 'Write `file_drop`.', { fileId: id('The file') }),
  ask_desk: versioned(
    'ask_desk',
    'Ask the daemon how to continue a session on its machine; answered by `session_desk` or `failure`.',
    {
      sessionId: id("The agent's native session id"),
      letGo: flag('The daemon first stops its own idle process of the session'),
    },
  ),
} as const;

export const replies = {
  page: versioned('page', 'A page of history.', {
    messages: list(Message, 'In chronological order'),
    hasMore: flag('There are more'),
    oldestUuid: nullable(opaque('First uuid')),
    newestUuid: nullable(opaque('Last uuid')),
  }),
  items: versioned(
    'items',
    'A page of items: this head, a line break, and the text of the object from `"messages":` on. The gateway does not decode that text.',
    {
      version: version('Version of the session'),
      reset: maybe(flag('The app drops its copy')),
      hasMore: flag('There are more'),
      oldestUuid: nullable(opaque('First uuid')),
      newestUuid: nullable(opaque('Last uuid')),
    },
  ),
  session_context: versioned('session_context', 'The answer of the daemon.', {
    context: text('The context as JSON', { maxLength: limits.contextBytes }),
  }),
  session_settings: versioned(
    'session_settings',
    'The settings, as the daemon reports them.',
    Type.Omit(SessionSettings, ['sessionId']).properties,
  ),
  agent_settings: versioned(
    'agent_settings',
    'The settings of a new session, as the daemon reports them.',
    Type.Omit(AgentSettings, ['deviceId', 'agentType']).properties,
  ),
  item_content: versioned('item_content', 'The piece of content from the daemon.', {
    ...piece,
    name: maybe(text('Name of the file', { maxLength: limits.idCharacters })),
  }),
  device_pong: versioned('device_pong', 'The daemon responded.', {}),
  device_folders: versioned('device_folders', 'The folder, from the answer of the daemon.', folder),
  device_hits: versioned('device_hits', 'The messages that the daemon found.', {
    hits: list(Type.Object({ sessionId: id("The agent's native session id"), ...hit }), 'In the order of the daemon', {
      maxItems: searchLimits.hits,
    }),
    more: maybe(flag('The search stopped early')),
  }),
  device_files: versioned(
    'device_files',
    'The answer of the daemon: this head, a line break, and its fields in camelCase as the text of an object. The receiver does not decode that text.',
    {},
  ),
  device_spending: versioned('device_spending', 'The usage figures from the daemon.', { days: usageDays, since }),
  device_file: versioned(
    'device_file',
    'The part of a file that the daemon has.',
    Type.Omit(FileState, ['fileId']).properties,
  ),
  session_summary: versioned('session_summary', 'The summary of the session from the daemon.', {
    summary: Summary,
  }),
  session_released: versioned('session_released', 'The outcome of the release.', {
    result: text('One of the results of `force_quit_result`'),
    detail: maybe(text('Text for people')),
  }),
  session_desk: versioned('session_desk', 'The answer of the daemon.', {
    free: flag('True if nothing blocks the session; otherwise `why` has the reason'),
    ...deskAnswer,
  }),
  failure: versioned('failure', 'The daemon could not answer.', {
    code: Type.Unsafe<ErrorCode>({ type: 'string', enum: Object.keys(errorCatalogue) }),
    error: text('Text for people'),
    received: maybe(count('Bytes of the file that the daemon has')),
    scopes: maybe(
      list(text('A comparison', { maxLength: 64 }), 'Comparisons that are possible instead', { maxItems: 16 }),
    ),
  }),
} as const;

export const controls = {
  device_closed: versioned('device_closed', 'Close the live socket of a device and forget its credential.', {
    deviceId: id('Device id'),
    why: oneOf(['deleted', 'revoked'], '`deleted` closes with 4404, `revoked` with 4401'),
  }),
  user_revoked: versioned('user_revoked', 'Reject older tokens of a user or login, and close their sockets.', {
    subject: maybe(id('User id')),
    login: maybe(id('`sid` or `chain` of the tokens')),
    client: maybe(id('With `subject`: only tokens of this program')),
  }),
  device_contested: versioned(
    'device_contested',
    'Two daemons use one registration: the gateway that owns the device keeps it for a while.',
    {
      deviceId: id('Device id'),
      heldMs: Type.Integer({
        description: 'How long the gateway keeps the device from now, in milliseconds',
        minimum: 0,
        maximum: 3_600_000,
      }),
      retryAfter: Type.Integer({
        description: 'Value of `Retry-After` for the other daemon',
        minimum: 1,
        maximum: 600,
      }),
    },
  ),
  database_set_back: versioned(
    'database_set_back',
    'The database lost its latest writes: daemons reconnect, and apps reload.',
    { cause: text('Id of the incident, equal in all messages about it') },
  ),
  gateway_drained: versioned(
    'gateway_drained',
    'A gateway accepts no more daemons and releases its own one after the other.',
    {
      instance: text('The name of the gateway in the backplane'),
      overMs: Type.Integer({
        description: 'How long it keeps the last daemon, in milliseconds',
        minimum: 0,
        maximum: 86_400_000,
      }),
    },
  ),
  outbox: versioned('outbox', 'The outbox has notifications to send.', {}),
} as const;

/** The first letter of a user frame, which selects its receivers. */
export const userFrameKinds = {
  /** session_update, new_message, device_status: the three of the specification, for all clients. */
  f: 'specification',
  /** Additive frames in the history, only for clients that sent `since`. */
  x: 'additive',
  /** session_update caused by PROGRESS: not in the history, first to be dropped for a slow reader. */
  p: 'progress',
  /** session_update that `sessions_changed` replaces: not in the history, only for clients that did not send `since`. */
  s: 'single',
  /** task_output: not in the history, only for clients that asked. */
  o: 'output',
  /**
   * transcript: not in the history; only for clients that requested it, or as task_output for clients that requested
   * that.
   */
  t: 'transcript',
} as const;
export type UserFrameKind = keyof typeof userFrameKinds;

export const encodeUserFrame = (kind: UserFrameKind, frameText: string): string => kind + frameText;

/** Splits a user frame; undefined when it comes from a newer release and its letter is unknown. */
export function decodeUserFrame(body: string): { kind: UserFrameKind; text: string } | undefined {
  const kind = body.charAt(0);
  return kind in userFrameKinds ? { kind: kind as UserFrameKind, text: body.slice(1) } : undefined;
}

/** The fields of a user frame `t` in addition to the frame of apps: its task, and the place of its added text among the outputs of that task. */
export interface TranscriptHead {
  taskId?: string;
  /** Only where text was added. */
  sequence?: number;
}

/** The text of a user frame `t`: the head, a line break, and the attention frame. */
export const encodeTranscript = (head: TranscriptHead, frameText: string): string =>
  `${JSON.stringify(head)}\n${frameText}`;

/** Splits the text of a user frame `t`. The head is written by an instance and trusted. */
export function decodeTranscript(text: string): { head: () => TranscriptHead; frameText: string } {
  const end = text.indexOf('\n');
  return { head: () => JSON.parse(text.slice(0, end)) as TranscriptHead, frameText: text.slice(end + 1) };
}

/** The head of an answer about files, and the text of its object. */
export const encodeFiles = (text: string): string => `{"v":1,"kind":"device_files"}\n${text}`;

/** The head of a page of items, and the rest of its object as text, from `"messages":` on. */
export const encodeItems = (head: Extract<Reply, { kind: 'items' }>, rest: string): string =>
  `${JSON.stringify(head)}\n${rest}`;

type Members<T extends Record<string, Parameters<typeof Type.Union>[0][number]>> = {
  [K in keyof T]: Static<T[K]>;
}[keyof T];
export type Command = Members<typeof commands>;
export type Reply = Members<typeof replies>;
export type Control = Members<typeof controls>;
