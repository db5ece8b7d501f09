/** The repository around a folder, if all of it lies inside the folders that the user allowed (rules, 25.3). */
import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { findProgram } from '../agents/programs.ts';
import { type ProjectRules, isAllowed, projectFolder } from '../agents/project.ts';
import { type Git, GitFailure, gitIn } from './git.ts';

export interface Repository {
  git: Git;
  /** The log of the moves of HEAD. */
  logFile: string;
  /** The last commit; undefined before the first one. */
  head: string | undefined;
  branch: string | undefined;
  state: 'merge' | 'rebase' | 'cherry-pick' | undefined;
}

export interface Root {
  /** A real path. */
  path: string;
  repository?: Repository;
  /** The reason why the folder counts as one without a repository. */
  note?: 'none' | 'outside' | 'foreign' | 'old';
}

const oldest = [2, 30] as const;
const shortMs = 2000;
const filtersMax = 50;

/** Undefined when the folder of the session is not allowed. */
export async function rootOf(projectPath: string, rules: ProjectRules, env = process.env): Promise<Root | undefined> {
  const found = projectFolder(projectPath, rules);
  if ('error' in found) return undefined;
  const path = found.directory;
  const ceilings = (rules.allowed ?? []).map((folder) => dirname(resolve(folder)));
  const git = gitIn(path, [], { ceilings, env });
  if (!git) return { path, note: 'none' };
  const ask = (...args: string[]) => git(args, { timeMs: shortMs });
  // The first list after a start runs both at once.
  const [isNew, where] = await Promise.allSettled([
    isNewEnough(git, env),
    ask('rev-parse', '--is-inside-work-tree', '--show-toplevel', '--absolute-git-dir', '--git-common-dir'),
  ]);
  if (isNew.status === 'fulfilled' && !isNew.value) return { path, note: 'old' };
  if (isNew.status === 'rejected') return { path, note: noteOf(isNew.reason) };
  if (where.status === 'rejected') return { path, note: noteOf(where.reason) };
  const lines = where.value.toString().replace(/\n$/, '').split('\n');
  const [isInside, top = '', gitFolder = '', common = ''] = lines;
  if (isInside !== 'true' || lines.length !== 4) return { path, note: 'none' };
  const real = await realpath(top).catch(() => '');
  const gitFolders = [gitFolder, resolve(path, common)];
  const isOurs = real !== '' && `${path}/`.startsWith(`${real}/`) && !('error' in projectFolder(real, rules));
  if (!isOurs || !(await isWithin(gitFolders, rules))) return { path, note: 'outside' };
  const own = await realpath(gitFolder);
  // No further configuration decides where the repository is.
  const place = [`--git-dir=${own}`, `--work-tree=${real}`];
  const placed = gitIn(real, place, { ceilings, env })!;
  // These commands read no file, so no filter can run.
  const [filters, { head, branch }, state] = await Promise.all([
    mayFilter([own, resolve(path, common)]).then((may) => (may ? filtersOf(placed) : [])),
    readHeadOf(own, resolve(path, common))
      .catch(() => undefined)
      .then((found) => found ?? askHead(placed)),
    stateOf(own),
  ]);
  if (!filters) return { path, note: 'outside' };
  const bound = gitIn(real, [...place, ...filters], { ceilings, env })!;
  return { path: real, repository: { git: bound, logFile: join(own, 'logs', 'HEAD'), head, branch, state } };
}

/** The note for an error of git. */
const noteOf = (error: unknown): Root['note'] =>
  error instanceof GitFailure && error.message.includes('dubious ownership') ? 'foreign' : 'none';

type Head = Pick<Repository, 'head' | 'branch'>;

const refBytes = 1024 * 1024;
const isId = (text: string) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** The text of a small regular file; empty if it does not exist. */
async function readSmall(path: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined);
  if (facts && (!facts.isFile() || facts.size > refBytes)) throw new Error(`${path} is no small file`);
  return facts ? (await readFile(path, 'utf8')).trimEnd() : '';
}

/** The commit and the branch in the files of the repository, without a process. Undefined where git stores them in another way. */
async function readHeadOf(own: string, common: string): Promise<Head | undefined> {
  const text = await readSmall(join(own, 'HEAD'));
  if (isId(text)) return { head: text, branch: undefined };
  const [, ref = '', branch] = /^ref: (refs\/heads\/([^\s\\~^:?*[]+))$/.exec(text) ?? [];
  // Tables of references name `refs/heads/.invalid` here.
  if (branch === undefined || /\.\.|\/\./.test(ref)) return undefined;
  const loose = await readSmall(join(common, ref));
  if (loose !== '') return isId(loose) ? { head: loose, branch } : undefined;
  const lines = (await readSmall(join(common, 'packed-refs'))).split('\n');
  const head = lines.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0];
  return head === undefined || isId(head) ? { head, branch } : undefined;
}

async function askHead(git: Git): Promise<Head> {
  const line = (...args: string[]) =>
    git(args, { timeMs: shortMs }).then(
      (out) => out.toString().trim() || undefined,
      () => undefined,
    );
  const [head, branch] = await Promise.all([
    line('rev-parse', '-q', '--verify', 'HEAD^{commit}'),
    line('symbolic-ref', '-q', '--short', 'HEAD'),
  ]);
  return { head, branch };
}

/** Keyed by path: the daemon notices a new version after a restart. */
const newEnough = new Map<string, boolean>();

async function isNewEnough(git: Git, env: NodeJS.ProcessEnv): Promise<boolean> {
  const program = findProgram('git', env) ?? '';
  const cached = newEnough.get(program);
  if (cached !== undefined) return cached;
  const text = (await git(['--version'], { timeMs: shortMs })).toString();
  const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(text)?.map(Number) ?? [];
  const isNew = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  newEnough.set(program, isNew);
  return isNew;
}

/** Whether these folders, their objects and their borrowed objects lie inside the allowed folders. */
async function isWithin(folders: readonly string[], rules: ProjectRules): Promise<boolean> {
  for (const folder of folders) {
    const real = await realpath(folder).catch(() => undefined);
    if (real === undefined || !isAllowed(real, rules)) return false;
    for (const name of ['HEAD', 'index', 'refs', 'packed-refs', 'config', 'logs', 'info'])
      if (!(await leadsInside(join(real, name), rules))) return false;
  }
  return areObjectsWithin(join(folders[1]!, 'objects'), rules, 5);
}

const leadsInside = (path: string, rules: ProjectRules): Promise<boolean> =>
  realpath(path).then(
    (real) => isAllowed(dirname(real), rules),
    () => true,
  );

async function areObjectsWithin(folder: string, rules: ProjectRules, depth: number): Promise<boolean> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined) return true;
  if (depth === 0 || !isAllowed(real, rules)) return false;
  for (const place of [real, join(real, 'pack'), join(real, 'info')]) {
    for (const entry of await readdir(place, { withFileTypes: true }).catch(() => []))
      if (entry.isSymbolicLink() && !(await leadsInside(join(place, entry.name), rules))) return false;
  }
  const borrowed = await readFile(join(real, 'info', 'alternates'), 'utf8').catch(() => '');
  for (const line of borrowed.split('\n').filter((text) => text !== '' && !text.startsWith('#'))) {
    // Written as a C string it can mean any path.
    if (line.startsWith('"') || !(await areObjectsWithin(resolve(real, line), rules, depth - 1))) return false;
  }
  return true;
}

/**
 * Whether the repository can set a filter: itself, or by a file that it includes. Git ignores all other configuration here, and a section name has one
 * spelling, so most lists need one process less.
 */
async function mayFilter(folders: readonly string[]): Promise<boolean> {
  try {
    const files = folders.flatMap((folder) => [join(folder, 'config'), join(folder, 'config.worktree')]);
    const texts = await Promise.all([...new Set(files)].map(readSmall));
    return texts.some((text) => /filter|include/i.test(text));
  } catch {
    return true;
  }
}

/** Settings that turn off each filter of the repository. Undefined where one of them cannot be turned off. */
async function filtersOf(git: Git): Promise<string[] | undefined> {
  const output = await git(
    ['config', '-z', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|smudge|process|required)$'],
    { timeMs: shortMs },
  ).catch((error: unknown) => {
    if (error instanceof GitFailure && error.why === 'failed' && error.message === '') return Buffer.alloc(0);
    throw error;
  });
  const filters = new Set(
    output
      .toString()
      .split('\0')
      .filter(Boolean)
      .map((name) => name.slice(0, name.lastIndexOf('.'))),
  );
  // `-c` cuts a name at `=`, which would keep its filter active.
  if (filters.size > filtersMax || [...filters].some((name) => /[=\n]/.test(name))) return undefined;
  return [...filters].flatMap((name) =>
    ['clean=', 'smudge=', 'process=', 'required=false'].flatMap((setting) => ['-c', `${name}.${setting}`]),
  );
}

async function stateOf(gitFolder: string): Promise<Repository['state']> {
  const names = new Set(await readdir(gitFolder).catch(() => []));
  if (names.has('MERGE_HEAD')) return 'merge';
  if (names.has('rebase-merge') || names.has('rebase-apply')) return 'rebase';
  return names.has('CHERRY_PICK_HEAD') ? 'cherry-pick' : undefined;
}
