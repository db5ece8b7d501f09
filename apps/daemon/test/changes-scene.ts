/** A repository on disk, and the workspace that reads it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type FileQuestion, type SessionPlace, silentLog } from '@relay/daemon-kit';
import type { ChangeList, FileDiff, FileList, FilePiece, Item } from '@relay/protocol';
import { type WorkspaceOptions, workspaceOf } from '../src/changes/workspace.ts';
import { type temporaryFolders } from '@relay/testing/folders';

const author = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com', GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' }; // prettier-ignore

/** An answer of any kind: a refusal has only its code. */
type Answered = ChangeList & FileDiff & FileList & FilePiece & { code?: string };

export function changesScene(folders: ReturnType<typeof temporaryFolders>) {
  const base = folders.make();
  const allowed = join(base, 'allowed');
  const top = join(allowed, 'garden');
  const outside = join(base, 'outside');
  for (const folder of [top, outside]) mkdirSync(folder, { recursive: true });
  const items: Item[] = [];
  const git = (args: readonly string[], cwd = top, env: Record<string, string> = {}) =>
    execFileSync('git', ['-c', 'init.defaultBranch=main', ...args], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: base, ...author, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }).toString();
  const write = (path: string, text: string | Buffer, root = top) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const session: SessionPlace = {
    sessionId: 's1',
    projectPath: top,
    createdAt: new Date().toISOString(),
    items: () => items,
  };
  const workspace = (options: Partial<WorkspaceOptions> = {}) =>
    workspaceOf({
      rules: { defaultPath: allowed, allowed: [allowed], closed: [join(allowed, 'closed')] },
      level: 'all',
      marksFolder: join(base, 'marks'),
      log: silentLog,
      // Other work on this machine can slow git down.
      markMs: 60_000,
      ...options,
    });
  type Asked<T extends FileQuestion['type']> = Omit<
    Extract<FileQuestion, { type: T }>,
    'type' | 'request_id' | 'session_id'
  >;
  const ask = async <T extends FileQuestion['type']>(
    type: T,
    question: Asked<T>,
    of = workspace(),
    about = session,
  ): Promise<Answered> =>
    of
      .answer(about, { type, request_id: 'r', session_id: 's1', ...question } as unknown as FileQuestion)
      .then((answer) => answer as unknown as Answered)
      .catch((error: { code?: string; message: string }) => ({ code: error.code ?? error.message }) as Answered);
  return {
    base,
    allowed,
    top,
    outside,
    items,
    session,
    git,
    write,
    workspace,
    ask,
    list: (scope: 'uncommitted' | 'session' | 'turn' | 'edits' = 'uncommitted', of = workspace(), about = session) =>
      ask('get_changes', { scope, limit: 500 }, of, about),
    diff: (path: string, scope: 'uncommitted' | 'session' | 'turn' | 'edits' = 'uncommitted', of = workspace()) =>
      ask('get_diff', { scope, path }, of),
    file: (path: string, fields: Partial<Asked<'get_file'>> = {}, of = workspace()) =>
      ask('get_file', { path, offset: 0, limit: 262_144, ...fields }, of),
    commit: (message = 'work') => {
      git(['add', '-A']);
      git(['commit', '-q', '-m', message]);
    },
    begin: () => {
      git(['init', '-q']);
      write('README.md', 'hello\n');
      git(['add', '-A']);
      git(['commit', '-q', '-m', 'first']);
    },
  };
}
export type ChangesScene = ReturnType<typeof changesScene>;
