/**
 * Items of many sessions, built from frames alone: it reads from no daemon, so earlier and lost items are missing.
 * For an overview; to follow one conversation, use a `TranscriptCopy`.
 */
import { type Attention, type Item, isOperation, itemAfter, uuidOf } from '@relay/protocol';

const mostItems = 2000;
const textCharacters = 64 * 1024;

export function createRecentItems() {
  const items = new Map<string, Item>();
  return {
    /** Returns the items whose state changed. Added text alone is not a change of state. */
    apply({ sessionId, v, ops }: Attention<'transcript'>): Item[] {
      const changed = new Map<string, Item>();
      for (const operation of ops as readonly unknown[]) {
        if (!isOperation(operation)) continue;
        const key = `${sessionId} ${uuidOf(operation)}`;
        const before = items.get(key);
        if (operation.op === 'add' && (before?.content.length ?? 0) > textCharacters) continue;
        const item = itemAfter(before, operation, v);
        if (!item) continue;
        items.set(key, item);
        if (operation.op !== 'add' || changed.has(key)) changed.set(key, item);
        if (items.size > mostItems) items.delete(items.keys().next().value!);
      }
      return [...changed.values()];
    },
  };
}
