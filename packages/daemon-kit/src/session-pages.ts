/** Pages of a session's file, read from its end: as many rows as they need. The rules for cursors are in `history.ts`. */
import type { Item } from '@relay/protocol';
import { type HistoryMessage, type PageRequest } from './history.ts';
import { type Gap, type Stored, readBackwards } from './session-file.ts';

export interface Extent {
  path: string;
  /** Messages from before there were items. */
  old: number;
  /** The places up to this one are not in this file. */
  older: number;
  lastSeq: number;
}

export type Found = { ok: true; items: Stored[]; hasMore: boolean } | { ok: false; error: string };

/** The form of an item on a page; undefined for one that is not on it. */
export type View<T> = (stored: Stored) => T | undefined;

/** The message that a reader without parts gets. */
export function messageOf({ item, before }: Stored): HistoryMessage {
  const { uuid, role, content, timestamp } = item;
  return { uuid, role, content: before === undefined ? content : `${before}\n\n${content}`, timestamp };
}

/** The last `limit` items in the view, between the cursors. */
export function pageBackwards({ path, old, older, lastSeq }: Extent, request: PageRequest, view: View<unknown>): Found {
  const { limit, beforeUuid, afterUuid, maxBytes = Infinity } = request;
  /** The place from which on every item was found, and the number of them that count. */
  let low = lastSeq + 1;
  let counted = 0;
  let bySeq = new Map<number, Stored>();
  let known = 0;
  const fitting = (stored: Stored | undefined, upper: number, lower: number) =>
    stored !== undefined && stored.item.seq < upper && stored.item.seq > lower && view(stored) !== undefined;
  const place = (found: ReadonlyMap<string, Stored>, uuid: string | undefined, otherwise: number) =>
    uuid === undefined ? otherwise : found.get(uuid)?.item.seq;

  const found = readBackwards(path, old, (items, row) => {
    const upper = place(items, beforeUuid, Infinity);
    const lower = place(items, afterUuid, 0);
    if (items.size > known) {
      known = items.size;
      const stored = items.get(row.uuid);
      if (stored) bySeq.set(stored.item.seq, stored);
    }
    if (upper === undefined || lower === undefined) return false;
    // One more than the page holds, to know whether there are more.
    while (low > older + 1 && low > lower + 1 && counted <= limit && bySeq.has(low - 1)) {
      low--;
      if (fitting(bySeq.get(low), upper, lower)) counted++;
    }
    return counted > limit || low <= Math.max(lower, older) + 1;
  });
  const upper = place(found, beforeUuid, Infinity);
  const lower = place(found, afterUuid, 0);
  if (lower === undefined) return { ok: false, error: 'after_uuid is not a message of this session' };
  if (upper === undefined) return { ok: false, error: 'before_uuid is not a message of this session' };
  bySeq = new Map();
  const all = [...found.values()]
    .filter((stored) => fitting(stored, upper, lower))
    .sort((one, other) => one.item.seq - other.item.seq);
  let first = all.length;
  let bytes = 0;
  while (first > 0 && all.length - first < limit) {
    bytes += Buffer.byteLength(JSON.stringify(view(all[first - 1]!)), 'utf8') + 1;
    if (bytes > maxBytes && first < all.length) break;
    first--;
  }
  return { ok: true, items: all.slice(first), hasMore: first > 0 };
}

/**
 * The items that changed after this version, in order; undefined when that cannot be said: there are more than `maxItems` or `maxBytes` of
 * them, or the version was never on this disk.
 */
export function changedSince(
  { path, old }: Extent,
  known: number,
  { v, gaps, maxItems, maxBytes }: { v: number; gaps: readonly Gap[]; maxItems: number; maxBytes: number },
): Item[] | undefined {
  if (known > v || gaps.some(([after, before]) => known > after && known < before)) return undefined;
  if (known === v) return [];
  const touched = new Set<string>();
  const found = readBackwards(path, old, (_items, row) => {
    if (row.v > known) touched.add(row.uuid);
    return touched.size > maxItems || (row.v <= known && row.complete);
  });
  if (touched.size > maxItems) return undefined;
  const items = [...touched].flatMap((uuid) => found.get(uuid)?.item ?? []);
  items.sort((one, other) => one.seq - other.seq);
  return Buffer.byteLength(JSON.stringify(items), 'utf8') > maxBytes ? undefined : items;
}
