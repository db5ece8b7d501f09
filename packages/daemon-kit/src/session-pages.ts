/** Pages of a session's file: its items by place, or the changed items. The rules for cursors are in `history.ts`. */
import type { Item } from '@relay/protocol';
import { type HistoryMessage, type PageRequest } from './history.ts';
import { type Gap, type Stored, readBackwards } from './session-file.ts';
import type { Extent, SessionIndex } from './session-index.ts';

type Found = { ok: true; items: Stored[]; hasMore: boolean } | { ok: false; error: string };

/** The form of an item on a page; undefined for an item the page omits. */
type View<T> = (stored: Stored) => T | undefined;

/** The message that a reader without parts gets. */
export function messageOf({ item, before }: Stored): HistoryMessage {
  const { uuid, role, content, timestamp } = item;
  return { uuid, role, content: before === undefined ? content : `${before}\n\n${content}`, timestamp };
}

/** The last `limit` items in the view, between the cursors. */
export function pageOfItems(
  index: SessionIndex,
  { older, lastSeq }: Extent,
  request: PageRequest,
  view: View<unknown>,
): Found {
  const { limit, beforeUuid, afterUuid, maxBytes = Infinity } = request;
  return index.reading((rows) => {
    const place = (uuid: string | undefined, otherwise: number) =>
      uuid === undefined ? otherwise : rows.find(uuid)?.item.seq;
    const lower = place(afterUuid, older);
    if (lower === undefined) return { ok: false, error: 'after_uuid is not a message of this session' };
    const upper = place(beforeUuid, lastSeq + 1);
    if (upper === undefined) return { ok: false, error: 'before_uuid is not a message of this session' };
    const items: Stored[] = [];
    let bytes = 0;
    for (let seq = upper - 1; seq > lower; seq--) {
      const stored = rows.at(seq);
      const shown = stored && view(stored);
      if (shown === undefined) continue;
      bytes += Buffer.byteLength(JSON.stringify(shown), 'utf8') + 1;
      // One more than the page holds: there are more.
      if (items.length === limit || (bytes > maxBytes && items.length > 0))
        return { ok: true, items: items.reverse(), hasMore: true };
      items.push(stored!);
    }
    return { ok: true, items: items.reverse(), hasMore: false };
  });
}

/**
 * Returns the items changed after this version, in order; undefined if unknown: there are more than `maxItems` or `maxBytes` of
 * them, or the version was never on this disk.
 */
export function changedSince(
  { path, old }: Extent,
  since: number,
  { v, gaps, maxItems, maxBytes }: { v: number; gaps: readonly Gap[]; maxItems: number; maxBytes: number },
): Item[] | undefined {
  if (since > v || gaps.some(([after, before]) => since > after && since < before)) return undefined;
  if (since === v) return [];
  const touched = new Set<string>();
  const found = readBackwards(path, old, (_items, row) => {
    if (row.v > since) touched.add(row.uuid);
    return touched.size > maxItems || (row.v <= since && row.complete);
  });
  if (touched.size > maxItems) return undefined;
  const items = [...touched].flatMap((uuid) => found.get(uuid)?.item ?? []);
  items.sort((one, other) => one.seq - other.seq);
  return Buffer.byteLength(JSON.stringify(items), 'utf8') > maxBytes ? undefined : items;
}
