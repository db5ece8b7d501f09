/** Routes of the files of a session; its daemon answers them. */
import * as story from '../examples/story.ts';
import { changeLimits, changeList, fileDiff, filePiece, folderEntries, scopeName } from '../rest/changes.ts';
import { type Static, Type, count, flag, id, limits, maybe, oneOf, record, text } from '../schema.ts';
import { body } from './body.ts';
import type { Rows } from './route.ts';

export const ChangeList = body(record('ChangeList', 'The changed files.', changeList), story.changes);

export const FileDiff = body(
  record('FileDiff', 'The diff of a file.', {
    ...fileDiff,
    includesEarlier: maybe(flag('The diff includes changes from before the turn or the session')),
  }),
  story.fileDiff,
);

export const FileList = body(
  record('FileList', 'The entries of a folder, or the files found by name.', folderEntries),
  story.files,
);

export const FilePiece = body(record('FilePiece', 'A piece of a file.', filePiece), { ...story.file, next: 36 });

const path = (description: string) => text(description, { maxLength: limits.pathCharacters });
const scope = maybe(scopeName('The comparison; default: `uncommitted`'));
const turn = maybe(id('With `scope=turn`: the uuid of the message that began the turn; default: the newest turn'));
const errors = [
  'SESSION_NOT_FOUND',
  'SESSION_NOT_RESOLVED',
  'NOT_SUPPORTED_BY_DEVICE',
  'DEVICE_OFFLINE',
  'DEVICE_TIMEOUT',
  'DEVICE_ERROR',
] as const;

export type ChangeList = Static<typeof ChangeList>;
export type FileDiff = Static<typeof FileDiff>;
export type FileList = Static<typeof FileList>;
export type FilePiece = Static<typeof FilePiece>;

export const changeRoutes = {
  readChanges: {
    method: 'GET',
    path: '/api/sessions/:id/changes',
    credential: 'user',
    summary: 'The changed files, from the daemon',
    scope: 'sessions:read',
    limit: 'files',
    query: Type.Object({
      scope,
      turn,
      after: maybe(path('Only files after this one')),
      limit: maybe(Type.Integer({ description: 'Maximum number of files', minimum: 1, maximum: changeLimits.changes })),
    }),
    success: { 200: ChangeList },
    errors: [...errors, 'SCOPE_NOT_AVAILABLE', 'CHANGES_TOO_LARGE'],
  },
  readDiff: {
    method: 'GET',
    path: '/api/sessions/:id/changes/diff',
    credential: 'user',
    summary: 'The diff of one file, from the daemon',
    scope: 'sessions:read',
    limit: 'files',
    query: Type.Object({
      path: path('The file, with its path from the list'),
      scope,
      turn,
      from: maybe(count('First hunk')),
    }),
    success: { 200: FileDiff },
    errors: [...errors, 'SCOPE_NOT_AVAILABLE', 'CHANGES_TOO_LARGE', 'FILE_NOT_FOUND', 'FILE_HIDDEN'],
  },
  listFiles: {
    method: 'GET',
    path: '/api/sessions/:id/files',
    credential: 'user',
    summary: 'The entries of a folder of the session, or files by name, from the daemon',
    scope: ['sessions:read', 'devices:read'],
    limit: 'files',
    query: Type.Object({
      path: maybe(path('The folder; default: the root of the session')),
      find: maybe(
        text('Files whose path contains these letters in this order', { maxLength: limits.folderCharacters }),
      ),
    }),
    success: { 200: FileList },
    errors: [...errors, 'FILE_NOT_FOUND'],
  },
  readFile: {
    method: 'GET',
    path: '/api/sessions/:id/files/content',
    credential: 'user',
    summary: 'A piece of a file of the session, from the daemon',
    scope: ['sessions:read', 'devices:read'],
    limit: 'files',
    query: Type.Object({
      path: path('The file'),
      side: maybe(oneOf(['now', 'before'], '`before`: the version in the commit that `scope` compares with')),
      scope,
      turn,
      offset: maybe(Type.Integer({ description: 'First byte; default: 0', minimum: 0 })),
      limit: maybe(
        Type.Integer({ description: 'Maximum number of bytes of text', minimum: 1, maximum: changeLimits.pieceBytes }),
      ),
    }),
    success: { 200: FilePiece },
    errors: [...errors, 'SCOPE_NOT_AVAILABLE', 'FILE_NOT_FOUND', 'FILE_HIDDEN'],
  },
} as const satisfies Rows;
