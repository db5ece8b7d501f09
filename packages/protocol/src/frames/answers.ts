/** Answers of a daemon about spending, settings, contents, folders, search, files and the context of a session. */
import { Type, flag, frame, id, lenient, line, list, maybe, opaque, record, text } from '../schema.ts';
import { Change, changeList, fileDiff, filePiece, folderEntries } from '../rest/changes.ts';
import { cut, piece } from '../rest/content.ts';
import { folder } from '../rest/folders.ts';
import { hit, searchLimits } from '../rest/search.ts';
import { abilities, settingList } from '../rest/settings.ts';
import { receivedBytes } from '../rest/uploads.ts';
import { agentName, figures, since, spendingLimits } from '../rest/usage.ts';

export const SpendingResponse = frame('spending_response', 'Answer to `spending_request`, or an error.', {
  request_id: id('From the request'),
  days: maybe(
    list(
      record('SpendingDay', 'Use of one agent on one day. A second currency has a row of its own.', {
        ...figures,
        agent_type: agentName,
      }),
      'Sorted by day, then by agent; days without use are omitted',
      { maxItems: spendingLimits.rows },
    ),
  ),
  since: maybe(since),
  error: lenient(text('Why the daemon could not answer')),
});

export const SettingsResponse = frame('settings_response', 'Answer to `settings_request`, or an error.', {
  request_id: id('From the request'),
  session_id: id("The agent's native session id"),
  settings: maybe(settingList),
  as_of: maybe(line('Time of these values, if no process of the agent runs')),
  can: maybe(abilities),
  code: maybe(
    text(
      'Error code, present with `error`: SETTINGS_NOT_SUPPORTED, INVALID_SETTING or SETTING_NOT_ALLOWED; new codes can be added',
      {
        maxLength: 64,
      },
    ),
  ),
  error: maybe(text('Why the daemon could not answer, or why it changed nothing')),
});

export const AgentSettingsResponse = frame('agent_settings_response', 'Answer to `agent_settings_request`.', {
  request_id: id('From the request'),
  settings: maybe(settingList),
  as_of: maybe(line('When the agent reported them')),
  can: maybe(abilities),
  code: maybe(text('Error code, present with `error`', { maxLength: 64 })),
  error: maybe(text('Why the daemon could not answer, or why it changed nothing')),
});

export const ContentResponse = frame('content_response', 'Answer to `content_request`, or an error.', {
  request_id: id('From the request'),
  session_id: id("The agent's native session id"),
  mime: lenient(piece.mime),
  size: lenient(piece.size),
  cut: lenient(cut),
  name: lenient(opaque('Name of the file, for the content of a file')),
  data: lenient(piece.data),
  code: lenient(opaque('Error code, present with `error`: CONTENT_NOT_FOUND; new codes can be added', 64)),
  error: lenient(text('Why the daemon could not answer')),
});

export const Folders = frame(
  'folders',
  'Answer to `get_folders`, or an error. The daemon lists only folders in which it lets agents work, and treats any other path as missing.',
  {
    request_id: id('From the request'),
    path: lenient(folder.path),
    parent: lenient(folder.parent),
    folders: lenient(folder.folders),
    more: lenient(folder.more),
    code: lenient(opaque('Error code, present with `error`: FOLDER_NOT_FOUND; new codes can be added', 64)),
    error: lenient(text('Why the daemon could not answer')),
  },
);

export const SearchResponse = frame('search_response', 'Answer to `search_request`, or an error.', {
  request_id: id('From the request'),
  hits: lenient(
    list(
      Type.Object({ session_id: id("The agent's native session id"), ...hit }),
      'Newest sessions first, and within each session the newest messages first',
      { maxItems: searchLimits.hits },
    ),
  ),
  more: lenient(flag('The search stopped before it covered all transcripts')),
  error: lenient(text('Why the daemon could not answer')),
});

const refusal = {
  code: lenient(opaque('Error code, present with `error`; new codes can be added', 64)),
  error: lenient(text('Why the daemon could not answer')),
};

export const Changes = frame('changes', 'Answer to `get_changes`, or an error.', {
  request_id: id('From the request'),
  session_id: lenient(opaque("The agent's native session id")),
  scope: lenient(changeList.scope),
  scopes: lenient(changeList.scopes),
  root: lenient(changeList.root),
  branch: lenient(changeList.branch),
  head: lenient(changeList.head),
  since: lenient(changeList.since),
  about: lenient(changeList.about),
  state: lenient(changeList.state),
  files: lenient(changeList.files),
  more: lenient(changeList.more),
  count: lenient(changeList.count),
  added: lenient(changeList.added),
  removed: lenient(changeList.removed),
  note: lenient(changeList.note),
  ...refusal,
});

export const FileDiff = frame('diff', 'Answer to `get_diff`, or an error.', {
  request_id: id('From the request'),
  path: lenient(fileDiff.path),
  change: maybe(Change),
  hunks: lenient(fileDiff.hunks),
  next: lenient(fileDiff.next),
  includes_earlier: lenient(flag('The diff includes changes from before the turn or the session')),
  head: lenient(fileDiff.head),
  ...refusal,
});

export const Files = frame('files', 'Answer to `get_files`, or an error.', {
  request_id: id('From the request'),
  path: lenient(folderEntries.path),
  entries: lenient(folderEntries.entries),
  more: lenient(folderEntries.more),
  ...refusal,
});

export const File = frame('file', 'Answer to `get_file`, or an error.', {
  request_id: id('From the request'),
  path: lenient(filePiece.path),
  kind: lenient(filePiece.kind),
  mime: lenient(filePiece.mime),
  bytes: lenient(filePiece.bytes),
  text: lenient(filePiece.text),
  data: lenient(filePiece.data),
  next: lenient(filePiece.next),
  ...refusal,
});

export const FileResult = frame('file_result', 'Answer to `file_open` and `file_piece`, or an error.', {
  request_id: id('From the request'),
  received: lenient(receivedBytes),
  done: lenient(flag('The daemon has the whole file')),
  name: lenient(opaque('The name that the daemon gives it')),
  sha256: lenient(opaque('SHA-256 of the whole file in hex', 64)),
  code: lenient(
    opaque(
      'Error code, present with `error`: FILE_INCOMPLETE with `received`, FILE_NOT_FOUND, FILE_TOO_LARGE, INVALID_FILE or DEVICE_FULL; new codes can be added',
      64,
    ),
  ),
  error: lenient(text('Why the daemon did not take it')),
});

export const ContextResponse = frame('context_response', 'Answer to `context_request`, or an error.', {
  request_id: id('From the request'),
  session_id: lenient(opaque("The agent's native session id")),
  context: lenient(
    Type.Object(
      {},
      {
        description:
          '`title`, `project_path`, `initial_prompt`, `recent_messages` (each with `role` and `content`), `last_tool_use`, `message_count`, `started_at`, `last_activity_at`, `status` (`working`, `waiting_for_input`, `completed`, `errored`, `stale`), `status_detail`. All are optional; a field of the wrong type counts as missing',
      },
    ),
  ),
  error: lenient(text('Why the daemon could not answer')),
});
