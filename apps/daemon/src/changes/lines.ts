/** Pages of a list and of a diff, and the lines of one file for apps. */
import { type Change, changeLimits } from '@relay/protocol';
import type { ProjectRules } from '../agents/project.ts';
import type { Base } from './bases.ts';
import { type Found, type Hunk, blobOf, hunksOfNew, isBinary, isPointer, patchOf } from './compare.ts';
import { secret } from './refusals.ts';
import type { Root } from './repository.ts';
import { isInside, readHead } from './safe-files.ts';
import { holdsKey } from './secrets.ts';

interface Page<C> {
  files: C[];
  more?: true;
  count: number;
  added: number;
  removed: number;
}

export function pageOf<C extends Change>(changes: readonly C[], after: string | undefined, limit: number): Page<C> {
  const all = changes.slice(0, changeLimits.allChanges);
  const start = after === undefined ? 0 : all.findIndex(({ path }) => path === after) + 1;
  const files: C[] = [];
  let left: number = changeLimits.answerBytes;
  for (const change of all.slice(start, start + limit)) {
    left -= Buffer.byteLength(JSON.stringify(change));
    if (left < 0) break;
    files.push(change);
  }
  const sum = (count: (change: C) => number | undefined) => all.reduce((total, one) => total + (count(one) ?? 0), 0);
  return {
    files,
    ...(start + files.length < changes.length ? { more: true } : {}),
    count: changes.length,
    added: sum(({ added }) => added),
    removed: sum(({ removed }) => removed),
  };
}

export function hunkPage(hunks: readonly Hunk[], from: number): { hunks: Hunk[]; next?: number } {
  const page: Hunk[] = [];
  let bytes: number = changeLimits.answerBytes;
  let lines: number = changeLimits.diffLines;
  for (const hunk of hunks.slice(from)) {
    bytes -= Buffer.byteLength(JSON.stringify(hunk));
    lines -= hunk.lines.length;
    if (page.length > 0 && (bytes < 0 || lines < 0)) return { hunks: page, next: from + page.length };
    page.push(hunk);
  }
  return { hunks: page };
}

/** The lines that differ, and facts that follow from both files. */
export async function hunksOf(
  root: Root,
  { commit }: Base,
  change: Found,
  rules: ProjectRules,
): Promise<{ hunks: Hunk[]; facts: Partial<Change> }> {
  const repository = root.repository!;
  const most = changeLimits.diffBytes;
  const [now, was] = await Promise.all([
    change.change === 'delete' ? undefined : readHead(root.path, change.path, rules, most + 1),
    blobOf(repository, change.id, most + 1),
  ]);
  const sides = [now?.head, was].filter((side) => side !== undefined);
  if (sides.some((side) => holdsKey(side.toString('latin1')))) throw secret();
  const sizes = { ...(now ? { bytes: now.bytes } : {}), ...(was ? { was: was.length } : {}) };
  if (change.change === 'submodule') return { hunks: change.isNew ? [] : await patchOf(repository, commit, change, most), facts: {} }; // prettier-ignore
  if (change.binary || sides.some(isBinary)) return { hunks: [], facts: { binary: true, ...sizes } };
  if ((now?.bytes ?? 0) > most || (was?.length ?? 0) > most) return { hunks: [], facts: { hidden: 'large', ...sizes } };
  const lfs = sides.some((side) => isPointer(side.toString('latin1'))) ? { lfs: true } : {};
  if (change.isNew && change.change === 'add') return { hunks: now ? hunksOfNew(now.head.toString('utf8')) : [], facts: lfs }; // prettier-ignore
  if (change.isNew) return { hunks: [], facts: lfs };
  const isHere = was !== undefined || /^0*$/.test(change.id);
  if (!isHere) return { hunks: [], facts: { hidden: 'missing' } };
  const hunks = await patchOf(repository, commit, change, 2 * most);
  if (holdsKey(hunks.flatMap(({ lines }) => lines).join('\n'))) throw secret();
  const isLink = change.modes.includes('120000');
  const targets = hunks.flatMap(({ lines }) => lines.filter((line) => /^[+-]/.test(line)).map((line) => line.slice(1)));
  if (isLink && !targets.every((target) => isInside(root.path, change.path, target)))
    return { hunks: [], facts: { hidden: 'outside' } };
  return { hunks, facts: lfs };
}
