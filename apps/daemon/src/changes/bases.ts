/** The commits for the comparisons of a session. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ChangeScope } from '@relay/protocol';
import { FilesRefused, type SessionPlace } from '@relay/daemon-kit';
import type { ProjectRules } from '../agents/project.ts';
import type { MarkBook, TurnMark } from './marks.ts';
import { type Repository, type Root, rootOf } from './repository.ts';

/** A comparison with a commit. */
export interface Base {
  commit: string;
  mark?: TurnMark | undefined;
  since?: string;
  about?: true;
}

/** A session with its root and its scopes. */
export interface OpenedSession {
  session: SessionPlace;
  root: Root | undefined;
  scopes: ChangeScope[];
}

export function basesOf(marks: MarkBook, rules: ProjectRules, env: NodeJS.ProcessEnv | undefined) {
  const open = async (session: SessionPlace): Promise<OpenedSession> => {
    const root = await rootOf(session.projectPath, rules, env);
    const repository = root?.repository;
    if (!repository) return { session, root, scopes: ['edits'] };
    const has = (mark: TurnMark | undefined) => mark && base(repository, mark).then(Boolean);
    const { first, turns } = marks.of(session.sessionId);
    const [ofSession, ofTurn] = await Promise.all([
      has(first) ?? sinceCreated(repository, session).then(Boolean),
      has(turns.at(-1)),
    ]);
    const scopes: ChangeScope[] = ['uncommitted'];
    if (ofSession) scopes.push('session');
    if (ofTurn) scopes.push('turn');
    return { session, root, scopes: [...scopes, 'edits'] };
  };

  const baseOf = async ({ session, root, scopes }: OpenedSession, scope: ChangeScope, turn?: string): Promise<Base> => {
    const repository = root?.repository;
    const { first, turns } = marks.of(session.sessionId);
    let found: Base | undefined;
    if (repository && scope === 'uncommitted') found = { commit: repository.head ?? (await emptyTree(repository)) };
    if (repository && scope === 'session')
      found = first ? await base(repository, first) : await sinceCreated(repository, session);
    if (repository && scope === 'turn') {
      const mark = turn === undefined ? turns.at(-1) : turns.find((one) => one.turn === turn);
      found = mark && (await base(repository, mark));
    }
    if (!found) throw new FilesRefused('SCOPE_NOT_AVAILABLE', 'The files cannot be compared like this.', scopes);
    return found;
  };

  return { open, baseOf };
}

async function emptyTree({ git }: Repository): Promise<string> {
  const format = (await git(['rev-parse', '--show-object-format'], { timeMs: 2000 })).toString().trim();
  return createHash(format === 'sha256' ? 'sha256' : 'sha1')
    .update('tree 0\0')
    .digest('hex');
}

/** The commit of a mark; after a rebase, the newest common commit. */
async function base({ git, head }: Repository, mark: TurnMark): Promise<Base | undefined> {
  if (head === undefined || !/^[0-9a-f]{40,64}$/.test(mark.head)) return undefined;
  if (head === mark.head) return { commit: head, mark, since: mark.at };
  const common = await git(['merge-base', mark.head, head], { timeMs: 2000 }).then(
    (out) => out.toString().trim(),
    () => '',
  );
  if (common === '') return undefined;
  return { commit: common, mark, since: mark.at, ...(common === mark.head ? {} : { about: true }) };
}

/** The commit at which the branch was when the session began, as far back as its log reaches. */
async function sinceCreated({ logFile, head }: Repository, { createdAt }: SessionPlace): Promise<Base | undefined> {
  const seconds = Math.floor(Date.parse(createdAt) / 1000);
  if (head === undefined || !Number.isSafeInteger(seconds)) return undefined;
  // `git reflog` can run a program that the repository names.
  const log = await readFile(logFile, 'utf8').catch(() => '');
  const moves = log
    .split('\n')
    .flatMap((line) => /^[0-9a-f]+ ([0-9a-f]{40,64}) [^\t]* (\d+) [+-]\d+(?:\t|$)/.exec(line) ?? []);
  let commit: string | undefined;
  for (let at = 0; at < moves.length; at += 3) if (Number(moves[at + 2]) <= seconds) commit = moves[at + 1];
  return commit === undefined ? undefined : { commit, since: createdAt, about: true };
}
