/**
 * The sessions of a folder as they are written: places, versions, and the state in memory, which equals the state on the disk also when
 * the disk refuses a write.
 */
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Item, type Operation, isPlain, itemAfter, limits } from '@relay/protocol';
import { replaceOwnerFile, syncFolder } from '@relay/machine';
import { fieldBytes, firstLine, keepHead } from './bounds.ts';
import { makePrivateFolder } from './private-folder.ts';
import {
  type Gap,
  type Meta,
  type SessionFileRow,
  type Stored,
  type StoredSettings,
  appendRows,
  cutTorn,
  isClosed,
  readSession,
  rowOf,
  uuidsIn,
} from './session-file.ts';
import { type Extent, SessionIndex } from './session-index.ts';
import { messageOf } from './session-pages.ts';

export interface SessionSummary {
  sessionId: string;
  /** The further agent that has it; absent: the one of the registration. */
  agentType?: string;
  /** The agent's title, else the first line of the first message; else empty. */
  title: string;
  projectPath: string;
  /** Cut at 2 KiB. */
  lastMessage: string;
  /** The uuid of the last message; undefined before the first message. */
  lastUuid?: string;
  /** The time of the last message, or of the creation (ISO 8601). */
  lastActivity: string;
  messageCount: number;
  /** The same with everything that a relay with `transcript` gets as a message. */
  transcriptCount?: number;
}

/** An item that gets its place when it is saved. */
export type NewItem = Omit<Item, 'seq' | 'timestamp'> & { timestamp?: string };
export type StoreChange = { op: 'put'; item: NewItem } | Exclude<Operation, { op: 'put' | 'print' }>;

export interface Writing {
  /** Survives a power cut. */
  sync?: boolean;
  /**
   * Items that every reader receives as a message, regardless of their kind. Items of the user, questions and errors always are.
   */
  messages?: readonly string[];
  /** Text before the content of the put items, for a reader without parts. */
  before?: string | undefined;
}

/** A session in memory. */
interface Session extends Extent {
  open: Map<string, Stored>;
  summary: SessionSummary & { transcriptCount: number };
  meta: Meta;
  settings?: StoredSettings | undefined;
  v: number;
  /** Nothing was written since the start of this process: the next version begins at the clock. */
  resting: boolean;
  gaps: Gap[];
  /** The uuids of all items, while a turn writes. */
  uuids?: Set<string> | undefined;
  bytes: number;
  /** Approximate size of a rewritten file, in bytes. */
  needed: number;
}

/** Older gaps are merged into one: a reader from there starts over, as it would have to anyway. */
const maxGaps = 200;
/** Places in all indexes together, 20 bytes each; the newest index is kept at any size. */
const maxIndexedPlaces = 400_000;

interface SessionTable {
  /** Keyed by id. */
  readonly sessions: ReadonlyMap<string, Session>;
  /** Number of rows that could not be read at start: cut off by a crash, or foreign. */
  readonly unreadable: number;
  /** @throws TypeError for an unknown session */
  get: (sessionId: string) => Session;
  /** As `Store.create`. */
  create: (sessionId: string, projectPath: string, older?: number, agentType?: string) => void;
  /** As `Store.write`. */
  write: (sessionId: string, changes: readonly StoreChange[], writing?: Writing) => { ops: Operation[]; v: number };
  advance: (session: Session) => void;
  /** Removes rows from the file that later rows replaced. */
  rewrite: (session: Session) => void;
  /** The places of its items, made when they are first read. */
  indexOf: (session: Session) => SessionIndex;
  /** The uuids of all items. */
  uuidsOf: (session: Session) => ReadonlySet<string>;
}

/** Opens the folder, creating it if needed, and reads every session in it. */
export function openSessionTable(folder: string, now: () => number): SessionTable {
  makePrivateFolder(folder);
  const sessions = new Map<string, Session>();
  const indexes = createIndexes();
  const time = () => new Date(now()).toISOString();

  const rewrite = (session: Session) => {
    const { meta, title, settings, items, gaps } = readSession(session.path);
    const rows: SessionFileRow[] = [
      { meta: meta ?? session.meta },
      ...(title === undefined ? [] : [{ title }]),
      ...(settings === undefined ? [] : [{ settings }]),
      ...(gaps.length === 0 ? [] : [{ gaps }]),
      ...items.toSorted((one, other) => (one.item.v ?? 0) - (other.item.v ?? 0)).map(rowOf),
    ];
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    indexes.drop(session);
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
  const nextVersion = (session: Session): { v: number; rows: SessionFileRow[] } => {
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

  const write: SessionTable['write'] = (sessionId, changes, { sync = false, messages = [], before: words } = {}) => {
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
      const previous = fresh.get(uuid) ?? session.open.get(uuid) ?? closedItem(session, uuid);
      const op: Operation = change.op === 'put' ? { op: 'put', item: placed(session, change.item, previous) } : change;
      const item = itemAfter(previous?.item, op, v);
      if (!item) continue;
      const m =
        previous?.m === true || messages.includes(uuid) || ['user', 'question', 'error'].includes(item.part.kind);
      const stored: Stored = {
        item,
        m,
        ...(previous?.before === undefined ? {} : { before: previous.before }),
        ...(op.op === 'put' && words !== undefined ? { before: words } : {}),
      };
      fresh.set(uuid, stored);
      const isWhole = isClosed(item) || (m && op.op === 'put');
      rows.push(isWhole ? rowOf(stored) : { op, v });
      ops.push(op);
      const isMessage = m || (isPlain(item) && isClosed(item));
      const wasMessage = previous !== undefined && (previous.m || (isPlain(previous.item) && isClosed(previous.item)));
      if (isMessage && (!wasMessage || (m && !previous?.m))) after.push({ stored, isNew: !wasMessage });
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
    uuidsOf(session).has(uuid) ? indexes.of(session).reading((rows) => rows.find(uuid)) : undefined;

  const placed = (session: Session, item: NewItem, previous: Stored | undefined): Item => {
    const { uuid, role, content, timestamp = time(), turn, part } = item;
    const seq = previous?.item.seq ?? (session.lastSeq += 1);
    return { uuid, seq, ...(turn === undefined ? {} : { turn }), role, content, timestamp, part };
  };

  const advance = (session: Session) => void (session.resting || (session.v += 1));

  let unreadable = 0;
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.jsonl')) continue;
    const read = readFrom(join(folder, name));
    unreadable += read.unreadable;
    if (!read.session) continue;
    sessions.set(read.session.meta.session_id, read.session);
    // Written by an older daemon after items of this one: they get their final places.
    if (read.mixed) rewrite(read.session);
  }

  return {
    sessions,
    unreadable,
    get: sessionOf,
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
    write,
    advance,
    rewrite,
    indexOf: indexes.of,
    uuidsOf,
  };
}

/** The places of the items of sessions, as many as fit. */
function createIndexes() {
  /** Most recently used last. */
  const indexes = new Map<Session, SessionIndex>();
  return {
    of: (session: Session): SessionIndex => {
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
    },
    drop: (session: Session) => void indexes.delete(session),
  };
}

/** The session of a file, without one when even its first row cannot be read. `mixed`: it must be rewritten. */
function readFrom(path: string): { session?: Session; unreadable: number; mixed: boolean } {
  const torn = cutTorn(path) ? 1 : 0;
  const file = readSession(path);
  const unreadable = file.unreadable + torn;
  if (!file.meta) return { unreadable, mixed: false };
  const session: Session = {
    ...emptySession(path, file.meta),
    old: file.old,
    lastSeq: file.items.at(-1)?.item.seq ?? file.meta.older ?? 0,
    v: file.v,
    gaps: file.gaps,
    bytes: file.bytes,
    settings: file.settings,
  };
  for (const stored of file.items) {
    const { item, m } = stored;
    if (m || (isPlain(item) && isClosed(item))) note(session.summary, stored);
    if (!isClosed(item)) session.open.set(item.uuid, stored);
    session.needed += item.content.length + 400;
  }
  if (file.title !== undefined) session.summary.title = file.title;
  return { session, unreadable, mixed: file.mixed };
}

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
    transcriptCount: 0,
  },
});

/** `m`: every reader gets it. */
function note(summary: Session['summary'], { item, m, before }: Stored, isNew = true): void {
  if (isNew) summary.transcriptCount++;
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
