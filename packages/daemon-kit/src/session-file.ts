/**
 * The file of one session: the log of its operations (ADR 35). Rows are appended and never changed:
 *
 * `{"meta":{…}}`, `{"title":…}` · `{"m":item}` a whole item that every reader receives as a message (older files: only its four
 * texts) · `{"i":item}` another whole item · `{"op":operation,"v":n}` · `{"gaps":[[a,b],…]}` versions that were never on this
 * disk.
 *
 * An item is written again as a whole when it closes, so that a page can be read backwards from the last row. Knows no session
 * and no summary.
 */
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { type Item, type Operation, isItem, isOperation, itemAfter, uuidOf } from '@relay/protocol';
import type { HistoryMessage } from './history.ts';

const chunkBytes = 256 * 1024;
const newline = 0x0a;

export interface Meta {
  session_id: string;
  project_path: string;
  created_at: string;
  /** Places up to this one are elsewhere: the items here begin after it. */
  older?: number;
  /** The further agent that has it; absent: the one of the registration. */
  agent_type?: string;
}

/** Versions between the two, neither of them included. */
export type Gap = [after: number, before: number];

/** The settings that a person chose, and the last values of all, by id. */
export interface StoredSettings {
  chosen: Record<string, string>;
  values: Record<string, string>;
  at: string;
}

export type SessionFileRow =
  | { meta: Meta }
  | { title: string }
  | { settings: StoredSettings }
  | { gaps: Gap[] }
  /** `before`: text in front of the content, for a reader without parts. */
  | { m: Item; before?: string }
  | { i: Item }
  | { op: Operation; v: number };

/** An item, and whether it is a message for every reader. Items of files from before parts have no place yet. */
export interface Stored {
  item: Item;
  m: boolean;
  before?: string;
}

/** A decoded row; undefined if it is cut off or foreign. */
type Read =
  | { kind: 'meta'; meta: Meta }
  | { kind: 'title'; title: string }
  | { kind: 'settings'; settings: StoredSettings }
  | { kind: 'gaps'; gaps: Gap[] }
  | { kind: 'whole'; stored: Stored }
  /** A message from before there were items. */
  | { kind: 'old'; message: HistoryMessage }
  | { kind: 'op'; op: Operation; v: number };

export function readRow(line: string): Read | undefined {
  let row: Record<string, unknown>;
  try {
    row = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  if (typeof row !== 'object' || row === null) return undefined;
  const { meta, title, settings, gaps, m, i, op, v, before } = row;
  if (isOperation(op) && Number.isSafeInteger(v)) return { kind: 'op', op, v: v as number };
  if (isItem(i)) return { kind: 'whole', stored: { item: i, m: false } };
  if (isItem(m))
    return { kind: 'whole', stored: { item: m, m: true, ...(typeof before === 'string' ? { before } : {}) } };
  if (textsIn(m, ['uuid', 'role', 'content', 'timestamp'])) return { kind: 'old', message: m as HistoryMessage };
  if (textsIn(meta, ['session_id', 'project_path', 'created_at'])) return { kind: 'meta', meta: metaOf(meta as Meta) };
  if (typeof title === 'string') return { kind: 'title', title };
  if (isSettings(settings)) return { kind: 'settings', settings };
  if (Array.isArray(gaps)) return { kind: 'gaps', gaps: gaps.filter(isGap) };
  return undefined;
}

function metaOf({ older, ...meta }: Meta): Meta {
  return Number.isSafeInteger(older) && Number(older) > 0 ? { ...meta, older: Number(older) } : meta;
}

const isGap = (gap: unknown): gap is Gap => Array.isArray(gap) && gap.length === 2 && gap.every(Number.isSafeInteger);

const isTextRecord = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string');

function isSettings(value: unknown): value is StoredSettings {
  if (typeof value !== 'object' || value === null) return false;
  const { chosen, values, at } = value as Record<string, unknown>;
  return isTextRecord(chosen) && isTextRecord(values) && typeof at === 'string';
}

const textsIn = (value: unknown, names: readonly string[]) =>
  typeof value === 'object' &&
  value !== null &&
  names.every((name) => typeof (value as Record<string, unknown>)[name] === 'string');

export const rowOf = ({ item, m, before }: Stored): SessionFileRow =>
  m ? { m: item, ...(before === undefined ? {} : { before }) } : { i: item };

/** A message from before there were items, as the item at this place. */
export const itemOfOld = ({ uuid, role, content, timestamp }: HistoryMessage, seq: number): Item => ({
  uuid,
  role,
  content,
  timestamp,
  seq,
  part: { kind: role === 'USER' ? 'user' : role === 'AGENT' ? 'text' : 'error' },
});

/** True when it no longer changes by itself. */
export function isClosed({ part }: Item): boolean {
  if (part.open === true) return false;
  if (part.kind === 'tool') return part.status !== 'pending' && part.status !== 'running';
  return part.kind !== 'question' || part.state !== 'open';
}

/** Writes all rows at once and returns the bytes; with `sync`, after they are on disk. If it throws, the file is unchanged. */
export function appendRows(path: string, rows: readonly SessionFileRow[], sync = true): number {
  if (rows.length === 0) return 0;
  const file = openSync(path, 'a+', 0o600);
  try {
    // A crash might have cut off the last line; a new row must not be appended to it.
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    const torn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
    const bytes = Buffer.from(`${torn ? '\n' : ''}${rows.map((row) => `${JSON.stringify(row)}\n`).join('')}`, 'utf8');
    try {
      // A nearly full disk writes a part and reports it only by the count; only the next write is refused.
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
      if (sync) fdatasyncSync(file);
    } catch (error) {
      takeBack(file, size);
      throw error;
    }
    return bytes.length;
  } finally {
    closeSync(file);
  }
}

/** Undoes a failed append. If that fails too, the incomplete row is cut off when the file is opened. */
function takeBack(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // Incomplete, as a crash would leave it.
  }
}

/**
 * Cuts off an incomplete last row, so that the file holds complete rows only. Returns whether it did: on a read-only disk the row
 * stays, and is skipped when the file is read.
 */
export function cutTorn(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'r+');
  } catch {
    return false;
  }
  try {
    const { size } = fstatSync(file);
    let end = size;
    const chunk = Buffer.alloc(chunkBytes);
    while (end > 0) {
      const start = Math.max(0, end - chunk.length);
      const length = readSync(file, chunk, 0, end - start, start);
      const at = chunk.subarray(0, length).lastIndexOf(newline);
      if (at >= 0) {
        end = start + at + 1;
        break;
      }
      end = start;
    }
    if (end < size) ftruncateSync(file, end);
    return end < size;
  } finally {
    closeSync(file);
  }
}

interface SessionFile {
  meta: Meta | undefined;
  title: string | undefined;
  settings: StoredSettings | undefined;
  /** Ordered by place. */
  items: Stored[];
  gaps: Gap[];
  /** The last version in the file; 0 in a file without versions. */
  v: number;
  unreadable: number;
  bytes: number;
  /** Messages from before there were items. They precede all items, unless `mixed`. */
  old: number;
  mixed: boolean;
}

/** The whole file. Used only where a page is not enough: at the start, and for items from elsewhere. */
export function readSession(path: string): SessionFile {
  const text = readFileSync(path, 'utf8');
  const items = new Map<string, Stored>();
  const file: SessionFile = {
    meta: undefined,
    title: undefined,
    settings: undefined,
    items: [],
    gaps: [],
    v: 0,
    unreadable: 0,
    bytes: Buffer.byteLength(text),
    old: 0,
    mixed: false,
  };
  let lastSeq = 0;
  const put = (stored: Stored) => {
    const { uuid, seq, v = 0 } = stored.item;
    const previous = items.get(uuid);
    items.set(uuid, previous ? { ...stored, item: { ...stored.item, seq: previous.item.seq } } : stored);
    lastSeq = Math.max(lastSeq, seq);
    file.v = Math.max(file.v, v);
  };
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const row = readRow(line);
    switch (row?.kind) {
      case 'meta':
        file.meta ??= row.meta;
        break;
      case 'title':
        file.title = row.title;
        break;
      case 'settings':
        file.settings = row.settings;
        break;
      case 'gaps':
        file.gaps.push(...row.gaps);
        break;
      case 'old':
        if (items.has(row.message.uuid)) break;
        file.mixed ||= lastSeq > file.old;
        file.old++;
        put({ item: itemOfOld(row.message, lastSeq + 1), m: true });
        break;
      case 'whole':
        put(row.stored);
        break;
      case 'op': {
        const previous = items.get(uuidOf(row.op) ?? '');
        const item = itemAfter(previous?.item, row.op, row.v);
        if (item) put({ m: false, ...previous, item });
        file.v = Math.max(file.v, row.v);
        break;
      }
      case undefined:
        file.unreadable++;
    }
  }
  file.items = [...items.values()].sort((one, other) => one.item.seq - other.item.seq);
  return file;
}

/** Reads the lines of a file, last one first. Lines added during the read are ignored. */
function* linesBackwards(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    let end = fstatSync(file).size;
    /** The beginning of the line whose rest is in the next chunk. */
    let rest: Buffer[] = [];
    while (end > 0) {
      const start = Math.max(0, end - chunkBytes);
      const chunk = Buffer.alloc(end - start);
      readSync(file, chunk, 0, chunk.length, start);
      let to = chunk.length;
      for (
        let at = chunk.lastIndexOf(0x0a, to - 1);
        to > 0 && at >= 0;
        at = to > 0 ? chunk.lastIndexOf(0x0a, to - 1) : -1
      ) {
        const line = Buffer.concat([chunk.subarray(at + 1, to), ...rest]).toString('utf8');
        rest = [];
        to = at;
        if (line !== '') yield line;
      }
      rest.unshift(chunk.subarray(0, to));
      end = start;
    }
    const first = Buffer.concat(rest).toString('utf8');
    if (first !== '') yield first;
  } finally {
    closeSync(file);
  }
}

/** The uuid of every item. */
export function uuidsIn(path: string): Set<string> {
  const uuids = new Set<string>();
  for (const line of linesBackwards(path)) {
    // The first name in every row; a quote inside a text is escaped.
    const [, uuid] = /"uuid":"([^"\\]+)"/.exec(line) ?? [];
    if (uuid !== undefined) uuids.add(uuid);
  }
  return uuids;
}

/** Returns the current items, read backwards from the last row until `enough` returns true. */
export function readBackwards(
  path: string,
  old: number,
  enough: (found: ReadonlyMap<string, Stored>, row: { v: number; uuid: string; complete: boolean }) => boolean,
): Map<string, Stored> {
  const found = new Map<string, Stored>();
  /** Operations on items whose beginning was not found yet, newest first. */
  const waiting = new Map<string, { op: Operation; v: number }[]>();
  let place = old;
  const complete = (stored: Stored) => {
    const { uuid } = stored.item;
    let { item } = stored;
    for (const { op, v } of (waiting.get(uuid) ?? []).reverse()) item = itemAfter(item, op, v) ?? item;
    waiting.delete(uuid);
    found.set(uuid, { ...stored, item });
  };
  for (const line of linesBackwards(path)) {
    const row = readRow(line);
    if (row?.kind === 'whole') {
      const { uuid, v = 0 } = row.stored.item;
      if (!found.has(uuid)) complete(row.stored);
      if (enough(found, { v, uuid, complete: waiting.size === 0 })) break;
    } else if (row?.kind === 'old') {
      const item = itemOfOld(row.message, place--);
      if (!found.has(item.uuid)) complete({ item, m: true });
      if (enough(found, { v: 0, uuid: item.uuid, complete: waiting.size === 0 })) break;
    } else if (row?.kind === 'op') {
      const uuid = uuidOf(row.op) ?? '';
      if (!found.has(uuid)) {
        if (row.op.op === 'put') complete({ item: { ...row.op.item, v: row.v }, m: false });
        else if (!waiting.get(uuid)?.push(row)) waiting.set(uuid, [row]);
      }
      if (enough(found, { v: row.v, uuid, complete: waiting.size === 0 })) break;
    }
  }
  return found;
}
