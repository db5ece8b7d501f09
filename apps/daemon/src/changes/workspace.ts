/** The files of sessions, read for people who look at them in an app. Nothing here writes into a project (rules, 25). */
import { type Change, type ChangeScope, changeLimits } from '@relay/protocol';
import { FilesRefused, type Log, type SessionPlace, type Workspace } from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import type { ProjectRules } from '../agents/project.ts';
import { type Base, type OpenedSession, basesOf } from './bases.ts';
import { type Found, blobOf, changesSince, sizesOf } from './compare.ts';
import { type Edit, editsIn } from './edits.ts';
import { GitFailure } from './git.ts';
import { hunkPage, hunksOf, pageOf } from './lines.ts';
import { type MarkBook, contentId, idsOf, openMarks } from './marks.ts';
import { readEntries, readPiece } from './read.ts';
import { missing, secret } from './refusals.ts';
import { type Repository, type Root, rootOf } from './repository.ts';
import { openFolders } from './safe-files.ts';
import { type SecretRules, holdsKey, secretNames } from './secrets.ts';

export interface WorkspaceOptions extends SecretRules {
  rules: ProjectRules;
  /** Where marks are kept. */
  marksFolder: string;
  /** Lists and differences, or also files. */
  level: 'changes' | 'all';
  log: Log;
  env?: NodeJS.ProcessEnv;
  /** The longest time that a turn waits for its mark. */
  markMs?: number;
}

const markMsDefault = 300;

export function workspaceOf(options: WorkspaceOptions): Workspace {
  const { rules, level, log } = options;
  const isSecret = secretNames(options);
  const marks = openMarks(options.marksFolder);
  const { open, baseOf } = basesOf(marks, rules, options.env);
  const hides = ({ path, from }: Pick<Change, 'path' | 'from'>) =>
    isSecret(path) || (from !== undefined && isSecret(from));

  /** The changes outside of closed folders, without files that are as they were at the mark. */
  const changes = async (root: Root, { commit, mark }: Base): Promise<Found[]> => {
    const isOpen = openFolders(root.path, rules);
    const found = await changesSince(root.repository!, commit, root.path, rules);
    // Git reads every file of the repository.
    const all = found.filter(({ path, from = path }) => isOpen(path) && isOpen(from));
    const dirty = mark?.dirty;
    if (!dirty) return all;
    const kept: Found[] = [];
    for (const change of all) {
      const before = dirty[change.path];
      if (before === undefined || before !== (await contentId(root.path, change.path, rules))) kept.push(change);
    }
    return kept;
  };

  /** The change for apps, without the facts of a secret. */
  const shown = (change: Found | Change): Change => {
    const { path, change: what, from, added, removed, binary, bytes, was, lfs, raw } = change;
    const named = { path, change: what, ...(from === undefined ? {} : { from }), ...(raw ? { raw } : {}) };
    if (hides(change)) return { ...named, hidden: 'secret' };
    const facts = { added, removed, binary, bytes, was, lfs };
    return {
      ...named,
      ...(Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as object),
    };
  };

  const edits = ({ session, root }: OpenedSession): Map<string, Edit> => {
    const found = editsIn(session.items(), root?.path);
    for (const edit of found.values())
      if (hides(edit.change) || holdsKey(edit.hunks.flatMap(({ lines }) => lines).join('\n')))
        Object.assign(edit, { change: { ...shown(edit.change), hidden: 'secret' }, hunks: [] });
    return found;
  };

  const withSizes = async (repository: Repository, page: readonly Found[]): Promise<void> => {
    const binary = page.filter((change) => change.binary === true && change.change !== 'add').slice(0, 50);
    const sizes = await sizesOf(
      repository,
      binary.map(({ id }) => id),
    ).catch(() => []);
    for (const [at, change] of binary.entries()) if (sizes[at] !== undefined) change.was = sizes[at];
  };

  const list: Answers['get_changes'] = async (session, { scope, turn, after, limit }) => {
    const opened = await open(session);
    const { root, scopes } = opened;
    const repository = root?.repository;
    const about = {
      scope,
      scopes,
      ...(root ? { root: root.path } : {}),
      ...(repository?.branch === undefined ? {} : { branch: repository.branch }),
      ...(repository?.head === undefined ? {} : { head: repository.head }),
      ...(repository?.state === undefined ? {} : { state: repository.state }),
    };
    const note = root === undefined ? 'outside' : (root.note ?? (repository?.head === undefined ? 'empty' : undefined));
    const noted = note === undefined ? {} : { note };
    if (scope === 'edits' || !root || !repository) {
      const all = [...edits(opened).values()].map(({ change }) => change);
      return { ...about, scope: 'edits', ...noted, ...pageOf(all, after, limit) };
    }
    const found = await baseOf(opened, scope, turn);
    const all = await changes(root, found);
    const page = pageOf(all, after, limit);
    await withSizes(repository, page.files);
    const since = found.since === undefined ? {} : { since: found.since, ...(found.about ? { about: true } : {}) };
    return { ...about, ...since, ...noted, ...page, files: page.files.map(shown) };
  };

  const diff: Answers['get_diff'] = async (session, { scope, turn, path, from = 0 }) => {
    const opened = await open(session);
    const { root } = opened;
    const repository = root?.repository;
    if (scope === 'edits' || !root || !repository) {
      const edit = edits(opened).get(path);
      if (!edit) throw missing();
      if (edit.change.hidden) throw secret();
      return { path, change: edit.change, ...hunkPage(edit.hunks, from) };
    }
    const found = await baseOf(opened, scope, turn);
    const change = (await changes(root, found)).find((one) => one.path === path && !one.raw);
    if (!change) throw missing();
    if (hides(change)) throw secret();
    const read = await hunksOf(root, found, change, rules);
    const head = { head: found.commit };
    const earlier = found.mark?.dirty?.[path] === undefined ? {} : { includes_earlier: true };
    const facts = { ...shown(change), ...read.facts };
    return { path, change: facts, ...hunkPage(read.hunks, from), ...earlier, ...head };
  };

  const before = async (session: SessionPlace, scope: ChangeScope, turn: string | undefined, path: string) => {
    const opened = await open(session);
    const repository = opened.root?.repository;
    if (!opened.root || !repository || scope === 'edits') throw missing();
    const found = await baseOf(opened, scope, turn);
    const change = (await changes(opened.root, found)).find((one) => one.path === path);
    if (!change) throw missing();
    if (hides(change)) throw secret();
    const content = await blobOf(repository, change.id, changeLimits.imageBytes);
    if (!content || change.modes[0] === '120000') throw missing();
    return content;
  };

  const reading = { rules, isSecret, before };
  const answers: Answers = {
    get_changes: list,
    get_diff: diff,
    get_files: async (session, question) => {
      const { root } = await open(session);
      if (!root) throw missing();
      return readEntries(reading, root, question);
    },
    get_file: async (session, question) => {
      const { root } = await open(session);
      if (!root) throw missing();
      return readPiece(reading, session, root, question);
    },
  };

  return {
    capabilities: ['changes'],
    async answer(session, question) {
      const isList = question.type === 'get_changes' || question.type === 'get_diff';
      if (level === 'changes' && !isList)
        throw new FilesRefused('NOT_SUPPORTED_BY_DEVICE', 'This machine shares changes, and no other files.');
      try {
        return await (answers[question.type] as Answers['get_changes'])(session, question as never);
      } catch (error) {
        if (!(error instanceof GitFailure)) throw error;
        if (error.why !== 'failed')
          throw new FilesRefused('CHANGES_TOO_LARGE', 'This is too large to compare.', ['edits']);
        log.warn('git failed', { why: error.message });
        throw new Error('git could not answer', { cause: error });
      }
    },
    mark: (session, turn) => markOf(session, turn, { options, marks }),
  };
}

/** Notes where the files are. Never rejects. */
async function markOf(
  session: SessionPlace,
  turn: string,
  { options: { rules, log, env, markMs = markMsDefault }, marks }: { options: WorkspaceOptions; marks: MarkBook },
): Promise<void> {
  try {
    const root = await rootOf(session.projectPath, rules, env);
    const head = root?.repository?.head;
    if (!root?.repository || head === undefined) return;
    const { branch } = root.repository;
    const differing = changesSince(root.repository, head, root.path, rules).then((all) => idsOf(all, root.path, rules));
    const dirty = await within(markMs, differing);
    marks.add(session.sessionId, {
      at: new Date().toISOString(),
      turn,
      head,
      ...(branch === undefined ? {} : { branch }),
      ...(dirty ? { dirty } : { partial: true }),
    });
  } catch (error) {
    log.warn('files not marked', { why: reasonOf(error) });
  }
}

type Question = Parameters<Workspace['answer']>[1];
type Answers = {
  [T in Question['type']]: (
    session: SessionPlace,
    question: Extract<Question, { type: T }>,
  ) => ReturnType<Workspace['answer']>;
};

/** Returns the value, or undefined when it takes longer or fails. */
async function within<T>(ms: number, value: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  try {
    return await Promise.race([value.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
