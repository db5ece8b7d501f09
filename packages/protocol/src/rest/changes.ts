/** Files of a session, their changes and their contents. The machine reads them for each question; nothing else keeps them. */
import { type Static, Type, count, flag, limits, line, list, maybe, opaque, oneOf, record, text } from '../schema.ts';
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
  text('Its content is not sent: `secret`, `large`, `outside` or `missing` (not on the machine); others may come', {
    maxLength: 64,
  }),
);

export const Change = record('Change', 'A file that differs.', {
  path: path('From the root of the session, with `/`'),
  change: word(['edit', 'add', 'delete', 'move', 'mode', 'type', 'submodule', 'conflict'], 'What happened to it'),
  from: maybe(path('Where it was before a move')),
  added: maybe(count('Lines')),
  removed: maybe(count('Lines')),
  binary: maybe(flag('It is not a text')),
  bytes: maybe(count('Size now')),
  was: maybe(count('Size before')),
  lfs: maybe(flag('Its content is at a Git LFS server')),
  raw: maybe(flag('The name is not UTF-8: its bytes are written as `%XX`, and it cannot be read')),
  hidden,
});

export const scopeName = (description: string) => oneOf(changeScopes, description);

/** Members of the answers, the same on every plane. */
export const changeList = {
  scope: text('The comparison', { maxLength: 64 }),
  scopes: list(text('A comparison', { maxLength: 64 }), 'What can be compared here', { maxItems: 16 }),
  root: maybe(path('The folder to which the paths belong')),
  branch: maybe(line('The branch; absent: none')),
  head: maybe(line('The commit')),
  since: maybe(text('The time with which the files are compared (ISO 8601)', { maxLength: limits.timeCharacters })),
  about: maybe(flag('That time is not exact')),
  state: maybe(text('What is in progress: merge, rebase or cherry-pick', { maxLength: 64 })),
  files: list(Change, 'Changed, new and deleted ones, by folder', { maxItems: changeLimits.changes }),
  more: maybe(flag('There are more: ask with `after`')),
  count: maybe(count('All of them')),
  added: maybe(count('Lines of all')),
  removed: maybe(count('Lines of all')),
  note: maybe(
    text('Why there is no comparison with a commit: `none`, `outside`, `foreign`, `old` or `empty`; others may come', {
      maxLength: 64,
    }),
  ),
};

const hunks = list(Hunk, 'Lines that begin with `\\` are about the line before them', { maxItems: limits.listItems });
export const fileDiff = {
  path: path('As asked'),
  change: Change,
  hunks,
  next: maybe(count('`from` of the next answer; absent: this was the last')),
  head: maybe(line('The commit with which the file is compared')),
};

export const folderEntries = {
  path: path('As asked; empty: the root'),
  entries: list(
    record('FileEntry', 'An entry of a folder.', {
      name: text('Its name', { maxLength: limits.pathCharacters }),
      path: path('From the root of the session'),
      kind: word(['folder', 'file', 'link'], 'What it is'),
      bytes: maybe(Type.Integer({ description: 'Size', minimum: 0 })),
      changed: maybe(flag('It differs from the last commit')),
      hidden,
    }),
    'Folders first',
    { maxItems: changeLimits.entries },
  ),
  more: maybe(flag('There are more than are named')),
};

export const filePiece = {
  path: path('As asked'),
  kind: text('text, image or other', { maxLength: 64 }),
  mime: maybe(line('Media type')),
  bytes: Type.Integer({ description: 'Size of the file', minimum: 0 }),
  text: maybe(text('A piece of the text', { maxLength: 2 * changeLimits.pieceBytes })),
  data: maybe(opaque('An image in base64', Math.ceil(changeLimits.imageBytes / 3) * 4)),
  next: maybe(Type.Integer({ description: '`offset` of the next piece; absent: this was the last', minimum: 0 })),
};

export const ChangeList = record('ChangeList', 'The files that differ.', changeList);
export const FileDiff = record('FileDiff', 'How a file differs.', {
  ...fileDiff,
  includesEarlier: maybe(flag('The file had changes before the turn or the session, and they are among these')),
});
export const FileList = record('FileList', 'The entries of a folder, or the files that were found.', folderEntries);
export const FilePiece = record('FilePiece', 'A piece of a file.', filePiece);

export type Change = Static<typeof Change>;
export type ChangeList = Static<typeof ChangeList>;
export type FileDiff = Static<typeof FileDiff>;
export type FileList = Static<typeof FileList>;
export type FilePiece = Static<typeof FilePiece>;
