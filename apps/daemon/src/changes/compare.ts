/** Differences between a commit and the files now: the output of git, made into changes and hunks. */
import type { Change, FileDiff } from '@relay/protocol';
import { createHash } from 'node:crypto';
import { linesOf } from '@relay/daemon-kit';
import type { ProjectRules } from '../agents/project.ts';
import { GitFailure } from './git.ts';
import type { Repository } from './repository.ts';
import { readHead } from './safe-files.ts';

export type Hunk = FileDiff['hunks'][number];

/** A change with the facts of both files. */
export interface Found extends Change {
  modes: readonly [old: string, now: string];
  /** The id of the file before; all zeros for a new file. */
  id: string;
  isNew?: boolean;
}

const listMs = 15_000;
const diffMs = 5000;
/** New files up to this size are read, for the number of their lines. */
const countedBytes = 1024 * 1024;
/** Files up to this size are compared with the commit when their time differs from the index. */
const touchedBytes = 8 * 1024 * 1024;
const isNone = (id: string) => /^0*$/.test(id);

const shape = ['-M', '--no-ext-diff', '--no-textconv', '--no-color', '--no-relative', '--submodule=short'];

/** The text of a name; `%XX` for each byte where it is not UTF-8. */
export function nameOf(binary: string): { path: string; raw?: true } {
  const bytes = Buffer.from(binary, 'latin1');
  try {
    return { path: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    const path = [...bytes].map((byte) => (byte > 0x7e || byte < 0x20 || byte === 0x25 ? `%${byte.toString(16).toUpperCase().padStart(2, '0')}` : String.fromCharCode(byte))).join(''); // prettier-ignore
    return { path, raw: true };
  }
}

/** The changes of tracked files since `base`, as `diff --raw --numstat -z` prints them. */
function parseChanges(out: Buffer): Found[] {
  const fields = out.toString('latin1').split('\0');
  const found = new Map<string, Found>();
  let at = 0;
  const take = () => fields[at++] ?? '';
  while (fields[at]?.startsWith(':')) {
    const [old = '', now = '', id = '', , status = ''] = take().slice(1).split(' ');
    const isMove = status.startsWith('R');
    const from = isMove ? nameOf(take()) : undefined;
    const name = take();
    const kind = kindOf(status, old, now);
    found.set(name, { ...nameOf(name), change: kind, modes: [old, now], id, ...(from ? { from: from.path } : {}) });
  }
  while (at < fields.length && fields[at] !== '') {
    const [added = '', removed = '', own = ''] = take().split('\t');
    const name = own === '' ? (take(), take()) : own;
    const change = found.get(name);
    if (!change) continue;
    if (added === '-') change.binary = true;
    else Object.assign(change, { added: Number(added), removed: Number(removed) });
  }
  return [...found.values()].flatMap((change) => {
    const isSame = change.change === 'edit' && change.added === 0 && change.removed === 0 && !change.binary;
    if (!isSame) return [change];
    return change.modes[0] === change.modes[1] ? [] : [{ ...change, change: 'mode' }];
  });
}

function kindOf(status: string, old: string, now: string): string {
  if (old === '160000' || now === '160000') return 'submodule';
  return { A: 'add', D: 'delete', R: 'move', T: 'type', C: 'add' }[status.charAt(0)] ?? 'edit';
}

const rank = ({ change }: Change) => (change === 'add' ? 1 : change === 'delete' ? 2 : 0);

/** Everything that differs from `base`, ordered: changed, new, deleted, each by path. Rejects with a GitFailure. */
export async function changesSince(
  { git }: Repository,
  base: string,
  root: string,
  rules: ProjectRules,
): Promise<Found[]> {
  const compared = ['diff', '--raw', '--numstat', '-z', '--no-abbrev', ...shape, '--ignore-submodules=dirty'];
  const ask = (...args: string[]) => git(args, { timeMs: listMs });
  let isCounted = true;
  const [tracked, listed] = await Promise.all([
    ask(...compared, base, '--').catch((error: unknown) => {
      if (!(error instanceof GitFailure) || error.why !== 'failed') throw error;
      // A partial clone can lack contents. Git then lists files without numbers and moves.
      isCounted = false;
      return ask('diff-index', '--raw', '-z', '--no-abbrev', '--no-renames', '--ignore-submodules=dirty', base, '--');
    }),
    // `-t` marks new files with `?`, and the stages of a conflict with `M`.
    ask('ls-files', '-t', '--others', '--unmerged', '--exclude-standard', '-z'),
  ]);
  const entries = listed.toString('latin1').split('\0').filter(Boolean);
  const names = entries.filter((entry) => entry.startsWith('? ')).map((entry) => entry.slice(2));
  const unmerged = entries.filter((entry) => entry.startsWith('M '));
  const conflicts = new Set(unmerged.map((entry) => nameOf(entry.slice(entry.indexOf('\t') + 1)).path));
  const changes: Found[] = [];
  for (const change of parseChanges(tracked)) {
    if (conflicts.has(change.path)) changes.push({ ...change, change: 'conflict' });
    else if (!(await isTouched(change, isCounted, root, rules))) changes.push(change);
  }
  const gone = new Map(changes.filter(({ change }) => change === 'delete').map((change) => [change.id, change]));
  for (const [index, name] of names.entries()) {
    const fresh = await newFile(name, index < 500, root, rules);
    const before = fresh.blob === undefined ? undefined : gone.get(fresh.blob);
    if (!before) {
      changes.push(fresh.found);
      continue;
    }
    // Moved in the working tree, but not in the index.
    changes.splice(changes.indexOf(before), 1);
    gone.delete(before.id);
    const { modes, id, path: from } = before;
    changes.push({ ...fresh.found, change: 'move', from, modes, id, added: 0, removed: 0 });
  }
  return changes.sort(
    (one, other) => rank(one) - rank(other) || (one.path < other.path ? -1 : one.path > other.path ? 1 : 0),
  );
}

/**
 * A file with another time than in the index and the same content. Git leaves a text out of its numbers then. The content
 * of others is compared here: binary files, and files of a partial clone (`isCounted` false).
 */
async function isTouched(found: Found, isCounted: boolean, root: string, rules: ProjectRules): Promise<boolean> {
  const { change, binary, added, modes, id, path, raw } = found;
  if (change !== 'edit' || modes[0] !== modes[1] || added !== undefined) return false;
  if (isCounted && !binary) return true;
  const read = raw ? undefined : await readHead(root, path, rules, touchedBytes + 1);
  return read !== undefined && read.bytes <= touchedBytes && idOf(read.head, id.length) === id;
}

/** The id that git gives to this content, with as many digits. */
const idOf = (content: Buffer, digits: number): string =>
  createHash(digits === 64 ? 'sha256' : 'sha1')
    .update(`blob ${content.length}\0`)
    .update(content)
    .digest('hex');

/** A file that git does not know; `blob`: the id that git would give it. */
async function newFile(
  name: string,
  isRead: boolean,
  root: string,
  rules: ProjectRules,
): Promise<{ found: Found; blob?: string }> {
  const named = nameOf(name.replace(/\/$/, ''));
  const found: Found = { ...named, change: 'add', modes: ['000000', '100644'], id: '', isNew: true };
  // A repository inside this one.
  if (name.endsWith('/')) return { found: { ...found, change: 'submodule' } };
  const read = isRead && !named.raw ? await readHead(root, named.path, rules, countedBytes + 1) : undefined;
  if (!read) return { found };
  const { bytes, head } = read;
  if (isBinary(head)) return { found: { ...found, binary: true, bytes } };
  if (bytes > countedBytes) return { found: { ...found, bytes } };
  const text = head.toString('utf8');
  const lfs = isPointer(text) ? { lfs: true } : {};
  return { found: { ...found, added: linesOf(text).length, removed: 0, bytes, ...lfs }, blob: idOf(head, 40) };
}

export const isBinary = (bytes: Buffer): boolean => bytes.subarray(0, 8192).includes(0);
export const isPointer = (text: string): boolean => text.startsWith('version https://git-lfs.github.com/spec/v1');

/** Lines of one hunk: a longer one continues in the next, so that an answer holds some of it. */
const hunkLines = 1000;
const lineCharacters = 16 * 1024;

/** The hunks of the patch of one file. */
function parseHunks(patch: string): Hunk[] {
  const hunks: Hunk[] = [];
  let left: [number, number] = [0, 0];
  let [old, now] = [0, 0];
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const head = left[0] === 0 && left[1] === 0 ? /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) : undefined;
    if (head) {
      left = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      [old, now] = [Number(head[1]), Number(head[3])];
      hunks.push({ old, new: now, lines: [] });
      continue;
    }
    const hunk = hunks.at(-1);
    const sign = line.charAt(0);
    if (!hunk || (left[0] === 0 && left[1] === 0 && sign !== '\\')) continue;
    const goesOn = hunk.lines.length >= hunkLines && sign !== '\\';
    const into = goesOn ? { old, new: now, lines: [] } : hunk;
    if (goesOn) hunks.push(into);
    into.lines.push(line.slice(0, lineCharacters));
    if (sign === '-' || sign === ' ') [old, left] = [old + 1, [left[0] - 1, left[1]]];
    if (sign === '+' || sign === ' ') [now, left] = [now + 1, [left[0], left[1] - 1]];
  }
  return hunks;
}

/** The hunks of a file that is new. */
export function hunksOfNew(text: string): Hunk[] {
  const lines = linesOf(text).map((line) => `+${line}`.slice(0, lineCharacters));
  if (lines.length > 0 && !text.endsWith('\n')) lines.push('\\ No newline at end of file');
  const hunks: Hunk[] = [];
  for (let at = 0; at < lines.length; at += hunkLines)
    hunks.push({ old: 0, new: at + 1, lines: lines.slice(at, at + hunkLines) });
  return hunks;
}

/** The patch of a tracked file. Rejects with a GitFailure. */
export async function patchOf({ git }: Repository, base: string, change: Found, maxBytes: number): Promise<Hunk[]> {
  const paths = change.from === undefined ? [change.path] : [change.from, change.path];
  const out = await git(
    ['diff', '-U3', '--inter-hunk-context=0', ...shape, '--src-prefix=a/', '--dst-prefix=b/', '--ignore-submodules=dirty', base, '--', ...paths], // prettier-ignore
    { timeMs: diffMs, maxBytes },
  );
  return parseHunks(out.toString('utf8'));
}

/** The content of a file in a commit. Undefined when it is not on this machine. */
export async function blobOf({ git }: Repository, id: string, maxBytes: number): Promise<Buffer | undefined> {
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(id) || isNone(id)) return undefined;
  return git(['cat-file', 'blob', id], { timeMs: diffMs, maxBytes }).catch(() => undefined);
}

/** Sizes of these files in the commit, in order; undefined for a missing file. */
export async function sizesOf({ git }: Repository, ids: readonly string[]): Promise<(number | undefined)[]> {
  if (ids.length === 0) return [];
  const out = await git(['cat-file', '--batch-check=%(objectsize)'], { timeMs: diffMs, input: `${ids.join('\n')}\n` });
  return out
    .toString()
    .split('\n')
    .map((line) => (/^\d+$/.test(line) ? Number(line) : undefined));
}
