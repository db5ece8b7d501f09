/** The edits that the agent reported, from the newest items: where no machine compares files. */
import type { Change, Diff, FileDiff, Item } from '@relay/protocol';

export interface Edited {
  change: Change;
  hunks: FileDiff['hunks'];
}

export function editsOf(items: readonly Partial<Item>[]): Edited[] {
  const edits = new Map<string, Edited>();
  for (const { part } of items) {
    if (part?.kind !== 'tool' || part['status'] !== 'completed' || !Array.isArray(part['diffs'])) continue;
    for (const diff of part['diffs'] as Diff[]) {
      const known = edits.get(diff.path);
      const { added = 0, removed = 0, change = diff.change } = known?.change ?? {};
      edits.set(diff.path, {
        change: {
          path: diff.path,
          change: diff.change === 'edit' ? change : diff.change,
          added: added + diff.added,
          removed: removed + diff.removed,
          ...(diff.from === undefined ? {} : { from: diff.from }),
        },
        hunks: [...(known?.hunks ?? []), ...(diff.hunks ?? [])],
      });
    }
  }
  return [...edits.values()];
}
