/** The edits that the agent reported, file by file, from the transcript. */
import { isAbsolute, relative } from 'node:path';
import type { Change, Diff, Item } from '@relay/protocol';
import type { Hunk } from './compare.ts';

export interface Edit {
  change: Change;
  hunks: Hunk[];
}

/** Keyed by path, in the order of the first edit. */
export function editsIn(items: readonly Item[], root: string | undefined): Map<string, Edit> {
  const edits = new Map<string, Edit>();
  const named = (path: string) => {
    if (root === undefined || !isAbsolute(path)) return path;
    const inside = relative(root, path);
    return inside.startsWith('..') ? path : inside;
  };
  for (const { part } of items) {
    if (part.kind !== 'tool' || part.status !== 'completed' || !Array.isArray(part.diffs)) continue;
    for (const diff of part.diffs as Diff[]) {
      const path = named(diff.path);
      const previous = edits.get(path);
      const { added = 0, removed = 0 } = previous?.change ?? {};
      const change: Change = {
        path,
        change: diff.change === 'edit' ? (previous?.change.change ?? 'edit') : diff.change,
        added: added + diff.added,
        removed: removed + diff.removed,
        ...(diff.from === undefined ? {} : { from: named(diff.from) }),
      };
      edits.set(path, { change, hunks: [...(previous?.hunks ?? []), ...(diff.hunks ?? [])] });
    }
  }
  return edits;
}
