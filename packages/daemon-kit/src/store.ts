/**
 * The conversations of this machine: one file of operations per session (`session-file.ts`), 0600. Items are never renumbered or dropped: the
 * relay may hold their uuids. The list of the sessions is rebuilt from the files at start. A session may have any number of
 * items, as many as the disk holds; only its open ones are in memory.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Item, type Operation, isPlain, itemAfter, limits, transcriptLimits } from '@relay/protocol';
import { fieldBytes, firstLine, keepHead } from './bounds.ts';
import type { HistoryMessage, PageRequest, PageResult } from './history.ts';
import { replaceOwnerFile, syncFolder } from './owner-file.ts';
import { makePrivateFolder } from './private-folder.ts';
import {
  type Gap,
  type Meta,
  type Row,
  type Stored,
  appendRows,
  cutTorn,
  isClosed,
  readSession,
  rowOf,
  uuidsIn,
} from './session-file.ts';
import { type Extent, SessionIndex } from './session-index.ts';
import { changedSince, messageOf, pageOfItems } from './session-pages.ts';

export interface SessionSummary {
  sessionId: string;
  /** The further agent that has it; absent: the one of the registration. */
  agentType?: string;
  /** The agent's title, else the first line of the first message; empty while there is none. */
  title: string;
  projectPath: string;
  /** Cut at 2 KiB. */
  lastMessage: string;
  /** Of the last message; undefined while there is none. */
  lastUuid?: string;
  /** ISO 8601: of the last message, or of the creation. */
  lastActivity: string;
  messageCount: number;
  /** The same with everything that a relay with `transcript` gets as a message. */
  spokenCount?: number;
}

/** An item that gets its place when it is saved. */
export type NewItem = Omit<Item, 'seq' | 'timestamp'> & { timestamp?: string };
export type Change = { op: 'put'; item: NewItem } | Exclude<Operation, { op: 'put' | 'print' }>;

export interface Writing {
  /** Survives a power cut. */
  sync?: boolean;
  /** Items that every reader gets as a message, whatever their kind. Items of the user, questions and errors always are. */
  messages?: readonly string[];
  /** Text before the words of the put items, for a reader without parts. */
  before?: string | undefined;
}

export interface ItemsPage {
  items: Item[];
  hasMore: boolean;
  v: number;
  /** `changed` could not be answered: this is the newest page. */
  reset: boolean;
}

/** The kind of reader: a relay that knows no parts, one that does, or one that asked for parts. */
export type Reader = 'messages' | 'spoken';

export interface Store {
  /**
   * A new, empty session. `older`: the part of it that is elsewhere, before these items: a number above all places there, 0 for
   * nothing. Throws TypeError when the id is taken.
   */
  create(sessionId: string, projectPath: string, older?: number, agentType?: string): void;
  /** The value given as `older`; 0 for an unknown session. */
  older(sessionId: string): number;
  has(sessionId: string): boolean;
  /** Adds a message with a new uuid and the current time, as a version of its own. Throws TypeError for an unknown session. */
  append(sessionId: string, role: HistoryMessage['role'], content: string): HistoryMessage;
  /**
   * Writes changes that belong to the next version, which `advance` makes the current one. Returns them with places and times, and that
   * version. Throws TypeError for an unknown session, and an error when the disk refuses the write: then none of it is saved.
   */
  write(sessionId: string, changes: readonly Change[], writing?: Writing): { ops: Operation[]; v: number };
  advance(sessionId: string): void;
  /** The current version; 0 for a session that has none. */
  version(sessionId: string): number;
  /** Whether the session has an item with this uuid. */
  holds(sessionId: string, uuid: string): boolean;
  /** Items that may still change, in order. */
  open(sessionId: string): Item[];
  /** All open questions, oldest first in each session. */
  asking(): { sessionId: string; item: Item }[];
  /** After a turn: forgets the uuids, and rewrites a file of which more than half was replaced by later rows. */
  tidy(sessionId: string): void;
  /** Names the session. Throws TypeError for an unknown one. */
  entitle(sessionId: string, title: string): void;
  /**
   * Adds items that come from elsewhere, in this order, skipping known uuids. Returns the number added. One write and one
   * sync for all of them, so that thousands cost little more than one. When it throws, none of them is saved. If the process is killed
   * meanwhile, the first ones are saved, whole, and the rest can be added again; the same after a power cut, if the disk writes in order.
   * `onWritten` gets the written operations and calls `advance`; without it that happens here.
   */
  take(sessionId: string, items: readonly NewItem[], onWritten?: (ops: Operation[], v: number) => void): number;
  /** All items, in order; undefined for an unknown session. */
  everything(sessionId: string): Item[] | undefined;
  /** The whole conversation, oldest first; undefined for an unknown session. */
  messages(sessionId: string, reader?: Reader): HistoryMessage[] | undefined;
  /** A page of it; undefined for an unknown session. */
  page(sessionId: string, request: PageRequest, reader?: Reader): PageResult | undefined;
  /** A page of items; undefined for an unknown session, a sentence for a cursor that is none. */
  items(
    sessionId: string,
    request: PageRequest & { changed?: number | undefined },
  ): ItemsPage | { error: string } | undefined;
  session(sessionId: string): SessionSummary | undefined;
  /** Last activity first. */
  sessions(): SessionSummary[];
  /** Number of rows that could not be read at start: cut off by a crash, or foreign. */
  readonly unreadable: number;
}

interface Session extends Extent {
  open: Map<string, Stored>;
  summary: SessionSummary & { spokenCount: number };
  meta: Meta;
  v: number;
  /** Nothing was written since the start of this process: the next version begins at the clock. */
  resting: boolean;
  gaps: Gap[];
  /** Of all items, while a turn writes. */
  uuids?: Set<string> | undefined;
  bytes: number;
  /** Approximate size of a rewritten file, in bytes. */
  needed: number;
}

/** Older gaps are merged into one: a reader from there starts over, as it would have to anyway. */
const maxGaps = 200;
const tidyBytes = 64 * 1024;
/** Of all indexes together, 20 bytes each; the newest one is kept whatever its size. */
const maxIndexedPlaces = 400_000;

/** Opens the folder, creating it if needed, and reads every session in it. */
export function openStore(folder: string, now: () => number = Date.now): Store {
  makePrivateFolder(folder);
  const sessions = new Map<string, Session>();
  /** The ones used last are at the end. */
  const indexes = new Map<Session, SessionIndex>();
  const time = () => new Date(now()).toISOString();

  const indexOf = (session: Session): SessionIndex => {
    const index = indexes.get(session) ?? new SessionIndex(session);
    indexes.delete(session);
    indexes.set(session, index);
    let places = 0;
    for (const { size } of indexes.values()) places += size;
    for (const [other, { size }] of indexes) {
      if (places <= maxIndexedPlaces || other === session) break;
      indexes.delete(other);
      places -= size;
    }
    return index;
  };

  const load = (path: string): number => {
    const torn = cutTorn(path) ? 1 : 0;
    const file = readSession(path);
    file.unreadable += torn;
    if (!file.meta) return file.unreadable;
    const session: Session = {
      ...emptySession(path, file.meta),
      old: file.old,
      lastSeq: file.items.at(-1)?.item.seq ?? file.meta.older ?? 0,
      v: file.v,
      gaps: file.gaps,
      bytes: file.bytes,
    };
    for (const stored of file.items) {
      const { item, m } = stored;
      if (m || (isPlain(item) && isClosed(item))) note(session.summary, stored);
      if (!isClosed(item)) session.open.set(item.uuid, stored);
      session.needed += item.content.length + 400;
    }
    if (file.title !== undefined) session.summary.title = file.title;
    sessions.set(file.meta.session_id, session);
    // Written by an older daemon after items of this one: they get their final places.
    if (file.mixed) rewrite(session);
    return file.unreadable;
  };

  const rewrite = (session: Session) => {
    const { meta, title, items, gaps } = readSession(session.path);
    const rows: Row[] = [
      { meta: meta ?? session.meta },
      ...(title === undefined ? [] : [{ title }]),
      ...(gaps.length === 0 ? [] : [{ gaps }]),
      ...items.toSorted((one, other) => (one.item.v ?? 0) - (other.item.v ?? 0)).map(rowOf),
    ];
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    indexes.delete(session);
    replaceOwnerFile(session.path, text);
    session.bytes = session.needed = Buffer.byteLength(text);
    session.old = 0;
  };

  const sessionOf = (sessionId: string): Session => {
    const session = sessions.get(sessionId);
    if (!session) throw new TypeError(`no session ${sessionId}`);
    return session;
  };

  /** The version of the next write. The first one of this process records the gap that it leaves. */
  const nextVersion = (session: Session): { v: number; rows: Row[] } => {
    if (!session.resting) return { v: session.v + 1, rows: [] };
    session.resting = false;
    const v = Math.max(session.v + 1, now());
    const gap: Gap = [session.v, v];
    session.gaps.push(gap);
    if (session.gaps.length > maxGaps) {
      const [first, second] = session.gaps.splice(0, 2);
      session.gaps.unshift([first![0], second![1]]);
    }
    session.v = v - 1;
    return { v, rows: [{ gaps: [gap] }] };
  };

  const write: Store['write'] = (sessionId, changes, { sync = false, messages = [], before: words } = {}) => {
    const session = sessionOf(sessionId);
    const { v: version, resting, lastSeq, gaps } = session;
    /** The state in memory equals the state on the disk, also when the disk refuses the write. */
    const before = { v: version, resting, lastSeq, gaps: resting ? [...gaps] : gaps };
    let needed = 0;
    const { v, rows } = nextVersion(session);
    const ops: Operation[] = [];
    const after: { stored: Stored; isNew: boolean }[] = [];
    /** Items after the earlier changes: closed items are not in memory otherwise, and the rows are not written yet. */
    const fresh = new Map<string, Stored>();
    for (const change of changes) {
      const uuid = change.op === 'put' ? change.item.uuid : change.uuid;
      const known = fresh.get(uuid) ?? session.open.get(uuid) ?? closedItem(session, uuid);
      const op: Operation = change.op === 'put' ? { op: 'put', item: placed(session, change.item, known) } : change;
      const item = itemAfter(known?.item, op, v);
      if (!item) continue;
      const m = known?.m === true || messages.includes(uuid) || ['user', 'question', 'error'].includes(item.part.kind);
      const stored: Stored = {
        item,
        m,
        ...(known?.before === undefined ? {} : { before: known.before }),
        ...(op.op === 'put' && words !== undefined ? { before: words } : {}),
      };
      fresh.set(uuid, stored);
      const isWhole = isClosed(item) || (m && op.op === 'put');
      rows.push(isWhole ? rowOf(stored) : { op, v });
      ops.push(op);
      const isSpoken = m || (isPlain(item) && isClosed(item));
      const wasSpoken = known !== undefined && (known.m || (isPlain(known.item) && isClosed(known.item)));
      if (isSpoken && (!wasSpoken || (m && !known?.m))) after.push({ stored, isNew: !wasSpoken });
      if (isWhole) needed += Buffer.byteLength(JSON.stringify(item)) + 10;
    }
    try {
      session.bytes += appendRows(session.path, rows, sync);
    } catch (error) {
      Object.assign(session, before);
      throw error;
    }
    for (const [uuid, stored] of fresh) {
      session.uuids?.add(uuid);
      if (isClosed(stored.item)) session.open.delete(uuid);
      else session.open.set(uuid, stored);
    }
    session.needed += needed;
    for (const { stored, isNew } of after) note(session.summary, stored, isNew);
    return { ops, v };
  };

  const uuidsOf = (session: Session) => (session.uuids ??= uuidsIn(session.path));

  /** Rare: a closed item changes again, or an agent uses a name twice. The item keeps its place. */
  const closedItem = (session: Session, uuid: string): Stored | undefined =>
    uuidsOf(session).has(uuid) ? indexOf(session).reading((rows) => rows.find(uuid)) : undefined;

  const placed = (session: Session, item: NewItem, known: Stored | undefined): Item => {
    const { uuid, role, content, timestamp = time(), turn, part } = item;
    const seq = known?.item.seq ?? (session.lastSeq += 1);
    return { uuid, seq, ...(turn === undefined ? {} : { turn }), role, content, timestamp, part };
  };

  const advance = (session: Session) => void (session.resting || (session.v += 1));

  let unreadable = 0;
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.jsonl')) unreadable += load(join(folder, name));
  }

  const view = (reader: Reader) => (stored: Stored) =>
    stored.m || (reader === 'spoken' && isPlain(stored.item) && isClosed(stored.item))
      ? messageOf(reader === 'messages' ? stored : { item: stored.item, m: true })
      : undefined;

  return {
    unreadable,
    create(sessionId, projectPath, older = 0, agentType) {
      if (sessions.has(sessionId)) throw new TypeError(`session ${sessionId} exists`);
      const meta: Meta = {
        session_id: sessionId,
        project_path: projectPath,
        created_at: time(),
        ...(older === 0 ? {} : { older }),
        ...(agentType === undefined ? {} : { agent_type: agentType }),
      };
      const path = join(folder, `${fileNameOf(sessionId)}.jsonl`);
      const bytes = appendRows(path, [{ meta }]);
      syncFolder(folder);
      sessions.set(sessionId, { ...emptySession(path, meta), bytes, needed: bytes });
    },
    has: (sessionId) => sessions.has(sessionId),
    older: (sessionId) => sessions.get(sessionId)?.older ?? 0,
    append(sessionId, role, content) {
      const kind = role === 'USER' ? 'user' : role === 'AGENT' ? 'text' : 'error';
      const item: NewItem = { uuid: randomUUID(), role, content, part: { kind } };
      const { ops } = write(sessionId, [{ op: 'put', item }], { sync: true, messages: [item.uuid] });
      advance(sessionOf(sessionId));
      const [op] = ops;
      return messageOf({ item: (op as { item: Item }).item, m: true });
    },
    write,
    advance: (sessionId) => advance(sessionOf(sessionId)),
    version: (sessionId) => sessions.get(sessionId)?.v ?? 0,
    holds: (sessionId, uuid) => uuidsOf(sessionOf(sessionId)).has(uuid),
    open: (sessionId) =>
      [...(sessions.get(sessionId)?.open.values() ?? [])]
        .map(({ item }) => item)
        .sort((one, other) => one.seq - other.seq),
    asking: () =>
      [...sessions].flatMap(([sessionId, { open }]) =>
        [...open.values()].flatMap(({ item }) => (item.part.kind === 'question' ? [{ sessionId, item }] : [])),
      ),
    tidy(sessionId) {
      const session = sessionOf(sessionId);
      delete session.uuids;
      if (session.open.size === 0 && session.bytes > tidyBytes && session.needed < session.bytes / 2) rewrite(session);
    },
    entitle(sessionId, title) {
      const session = sessionOf(sessionId);
      if (title === '' || session.summary.title === title) return;
      session.bytes += appendRows(session.path, [{ title }]);
      session.summary.title = title;
    },
    take(sessionId, items, onWritten) {
      const session = sessionOf(sessionId);
      if (items.length === 0) return 0;
      const known = new Set(readSession(session.path).items.map(({ item }) => item.uuid));
      const fresh = items.filter(({ uuid }) => !known.has(uuid) && known.add(uuid));
      if (fresh.length === 0) return 0;
      const changes = fresh.map((item): Change => ({ op: 'put', item }));
      const messages = fresh.filter(({ part }) => isPlain({ part })).map(({ uuid }) => uuid);
      const { ops, v } = write(sessionId, changes, { sync: true, messages });
      delete session.uuids;
      if (onWritten) onWritten(ops, v);
      else advance(session);
      return fresh.length;
    },
    everything(sessionId) {
      const session = sessions.get(sessionId);
      return session && readSession(session.path).items.map(({ item }) => item);
    },
    messages(sessionId, reader = 'messages') {
      const session = sessions.get(sessionId);
      return session && readSession(session.path).items.flatMap((stored) => view(reader)(stored) ?? []);
    },
    page(sessionId, request, reader = 'messages') {
      const session = sessions.get(sessionId);
      if (!session) return undefined;
      const found = pageOfItems(indexOf(session), session, request, view(reader));
      if (!found.ok) return found;
      const messages = found.items.flatMap((stored) => view(reader)(stored) ?? []);
      const [oldest, newest] = [messages[0], messages.at(-1)];
      return {
        ok: true,
        page: {
          messages,
          hasMore: found.hasMore,
          oldestUuid: oldest?.uuid ?? null,
          newestUuid: newest?.uuid ?? null,
        },
      };
    },
    items(sessionId, { changed, ...request }) {
      const session = sessions.get(sessionId);
      if (!session) return undefined;
      const { v } = session;
      const { limit, maxBytes } = itemsRequest(request);
      if (changed !== undefined) {
        const items = changedSince(session, changed, { ...session, maxItems: limit, maxBytes });
        if (items) return { items, hasMore: false, v, reset: false };
      }
      const cursors = changed === undefined ? request : {};
      const found = pageOfItems(indexOf(session), session, { ...cursors, limit, maxBytes }, ({ item }) => item);
      if (!found.ok) return { error: found.error };
      return { items: found.items.map(({ item }) => item), hasMore: found.hasMore, v, reset: changed !== undefined };
    },
    session(sessionId) {
      const session = sessions.get(sessionId);
      return session && { ...session.summary };
    },
    sessions: () =>
      [...sessions.values()]
        .map(({ summary }) => ({ ...summary }))
        .sort((a, b) => (a.lastActivity < b.lastActivity ? 1 : a.lastActivity > b.lastActivity ? -1 : 0)),
  };
}

/** The same within the bounds of a page of items. */
export const itemsRequest = (request: PageRequest): PageRequest & { maxBytes: number } => ({
  ...request,
  limit: Math.min(request.limit, transcriptLimits.pageItems),
  maxBytes: Math.min(request.maxBytes ?? Infinity, transcriptLimits.pageBytes - 64 * 1024),
});

const emptySession = (path: string, meta: Meta): Session => ({
  path,
  meta,
  old: 0,
  older: meta.older ?? 0,
  lastSeq: meta.older ?? 0,
  v: 0,
  resting: true,
  gaps: [],
  open: new Map(),
  bytes: 0,
  needed: 0,
  summary: {
    sessionId: meta.session_id,
    ...(meta.agent_type === undefined ? {} : { agentType: meta.agent_type }),
    title: '',
    projectPath: meta.project_path,
    lastMessage: '',
    lastActivity: meta.created_at,
    messageCount: 0,
    spokenCount: 0,
  },
});

/** `m`: every reader gets it. */
function note(summary: Session['summary'], { item, m, before }: Stored, isNew = true): void {
  if (isNew) summary.spokenCount++;
  if (!m) return;
  const { content } = messageOf({ item, m, ...(before === undefined ? {} : { before }) });
  if (summary.messageCount === 0 && summary.title === '') summary.title = firstLine(content, limits.titleCharacters);
  summary.messageCount++;
  summary.lastMessage = keepHead(content, fieldBytes.lastMessage);
  summary.lastUuid = item.uuid;
  summary.lastActivity = item.timestamp;
}

/** Readable, safe on every file system, and within its 255 bytes; the true id is in the meta row. */
export function fileNameOf(sessionId: string): string {
  const readable = encodeURIComponent(sessionId).replace(/[.*!'()~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  if (readable.length <= 180 && readable === readable.toLowerCase()) return readable;
  return `${readable.slice(0, 40)}-${createHash('sha256').update(sessionId).digest('hex')}`;
}
