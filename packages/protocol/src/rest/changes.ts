/** Files of a session, their changes and their contents. The machine reads them for each question; nothing else keeps them. */
import { type Static, Type, count, flag, limits, line, list, maybe, oneOf, opaque, record, text } from '../schema.ts';
import { Hunk, word } from '../transcript/question.ts';

export const changeScopes = ['uncommitted', 'session', 'turn', 'edits'] as const;
export type ChangeScope = (typeof changeScopes)[number];

export const changeLimits = {
  /** Changes of one answer, and of all answers. */
  changes: 500,
  allChanges: 10_000,
  /** The JSON of a list, a diff or a folder. */
  answerBytes: 256 * 1024,
  /** Lines of one answer with a diff; bytes of the whole diff. */
  diffLines: 3000,
  diffBytes: 2 * 1024 * 1024,
  /** Text of one answer. */
  pieceBytes: 256 * 1024,
  imageBytes: 5 * 1024 * 1024,
  entries: 500,
  /** Everything that a daemon answers to one question: an image in base64, and its frame. */
  frameBytes: 8 * 1024 * 1024,
} as const;

const path = (description: string) => opaque(description, limits.pathCharacters);
const hidden = maybe(
  text(
    'Why the daemon does not send its content: `secret`, `large`, `outside` or `missing` (not on the machine); new values can be added',
    {
      maxLength: 64,
    },
  ),
);

export const Change = record('Change', 'A changed file.', {
  path: path('From the root of the session, with `/`'),
  change: word(['edit', 'add', 'delete', 'move', 'mode', 'type', 'submodule', 'conflict'], 'Kind of the change'),
  from: maybe(path('Path before a move')),
  added: maybe(count('Lines')),
  removed: maybe(count('Lines')),
  binary: maybe(flag('The file is not text')),
  bytes: maybe(count('Size now')),
  was: maybe(count('Size before')),
  lfs: maybe(flag('Its content is on a Git LFS server')),
  raw: maybe(flag('The name is not UTF-8: its bytes appear as `%XX`, and the file cannot be read')),
  hidden,
});

export const scopeName = (description: string) => oneOf(changeScopes, description);

/** Members of the answers, the same on every plane. */
export const changeList = {
  scope: text('The comparison', { maxLength: 64 }),
  scopes: list(text('A comparison', { maxLength: 64 }), 'Comparisons that are possible here', { maxItems: 16 }),
  root: maybe(path('The folder that the paths are relative to')),
  branch: maybe(line('Current branch; absent: none')),
  head: maybe(line('Current commit')),
  since: maybe(text('Time that the comparison starts from (ISO 8601)', { maxLength: limits.timeCharacters })),
  about: maybe(flag('`since` is approximate')),
  state: maybe(text('Operation in progress: merge, rebase or cherry-pick', { maxLength: 64 })),
  files: list(Change, 'Changed, new and deleted files, sorted by folder', { maxItems: changeLimits.changes }),
  more: maybe(flag('There are more files: request them with `after`')),
  count: maybe(count('Total number of files')),
  added: maybe(count('Lines of all')),
  removed: maybe(count('Lines of all')),
  note: maybe(
    text(
      'Why there is no comparison with a commit: `none`, `outside`, `foreign`, `old` or `empty`; new values can be added',
      {
        maxLength: 64,
      },
    ),
  ),
};

const hunks = list(Hunk, 'Hunks of the diff. A line that begins with `\\` is a note about the line before it', {
  maxItems: limits.listItems,
});
export const fileDiff = {
  path: path('As in the request'),
  change: Change,
  hunks,
  next: maybe(count('`from` for the next request; absent: this was the last piece')),
  head: maybe(line('The commit that the file is compared with')),
};

export const folderEntries = {
  path: path('As in the request; empty: the root'),
  entries: list(
    record('FileEntry', 'An entry of a folder.', {
      name: text('Its name', { maxLength: limits.pathCharacters }),
      path: path('From the root of the session'),
      kind: word(['folder', 'file', 'link'], 'Kind of the entry'),
      bytes: maybe(Type.Integer({ description: 'Size', minimum: 0 })),
      changed: maybe(flag('It differs from the last commit')),
      hidden,
    }),
    'Folders first',
    { maxItems: changeLimits.entries },
  ),
  more: maybe(flag('There are more entries than listed')),
};

export const filePiece = {
  path: path('As in the request'),
  kind: text('text, image or other', { maxLength: 64 }),
  mime: maybe(line('Media type')),
  bytes: Type.Integer({ description: 'Size of the file', minimum: 0 }),
  text: maybe(text('A piece of the text', { maxLength: 2 * changeLimits.pieceBytes })),
  data: maybe(opaque('An image in base64', Math.ceil(changeLimits.imageBytes / 3) * 4)),
  next: maybe(Type.Integer({ description: '`offset` of the next piece; absent: this was the last piece', minimum: 0 })),
};

export type Change = Static<typeof Change>;
