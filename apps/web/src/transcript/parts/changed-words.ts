/** Marks the changed words within a line: a chunk of its own, because a diff is readable before it is loaded. */
import { diffWordsWithSpace } from 'diff';
import type { CompareWords, Range } from './patch.ts';

/** Longer lines have no marks: comparing them would take too long. */
const markedCharacters = 500;

export const changedWords: CompareWords = (before, after) => {
  const marks = { removed: [] as Range[], added: [] as Range[] };
  if (before.length > markedCharacters || after.length > markedCharacters) return marks;
  let [old, fresh, same] = [0, 0, 0];
  for (const { value, added, removed } of diffWordsWithSpace(before, after)) {
    if (removed) marks.removed.push([old, (old += value.length)]);
    else if (added) marks.added.push([fresh, (fresh += value.length)]);
    else {
      old += value.length;
      fresh += value.length;
      same += value.trim().length;
    }
  }
  // Nothing in common: the whole line is marked already.
  return same === 0 ? { removed: [], added: [] } : marks;
};
