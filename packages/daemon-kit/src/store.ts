/**
 * The conversations of this machine: one file of operations per session (`session-file.ts`), 0600. Items are never renumbered or
 * dropped, because the relay can hold their uuids. The list of the sessions is rebuilt from the files at start. The disk alone
 * limits the number of items of a session; only its open items are in memory.
 */
import { randomUUID } from 'node:crypto';
import { type Item, type Operation, isPlain, transcriptLimits } from '@relay/protocol';
import { type HistoryMessage, type PageRequest, type PageResult, pageWith } from './history.ts';
import { appendRows, isClosed, readSession, type Stored, type StoredSettings } from './session-file.ts';
import { changedSince, messageOf, pageOfItems } from './session-pages.ts';
import {
  type NewItem,
  type SessionSummary,
  type StoreChange,
  type Writing,
  openSessionTable,
} from './session-table.ts';

export { type NewItem, type SessionSummary, type StoreChange, type Writing, fileNameOf } from './session-table.ts';

interface ItemsPage {
  items: Item[];
  hasMore: boolean;
  v: number;
  /** `changed` could not be answered: this is the newest page. */
  reset: boolean;
}

/**
 * The kind of reader: `messages`, a relay that does not know parts, or `spoken`, a relay that knows parts but asked for messages.
 */
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
  /** When it was created here (ISO 8601); empty for an unknown session. */
  created(sessionId: string): string;
  /** Adds a message with a new uuid and the current time, as a version of its own. Throws TypeError for an unknown session. */
  append(sessionId: string, role: HistoryMessage['role'], content: string): HistoryMessage;
  /**
   * Writes changes that belong to the next version, which `advance` makes the current one. Returns them with places and times,
   * and that version. Throws TypeError for an unknown session, and an error if the disk refuses the write: then nothing is saved.
   */
  write(sessionId: string, changes: readonly StoreChange[], writing?: Writing): { ops: Operation[]; v: number };
  advance(sessionId: string): void;
  /** The current version; 0 for a session without a version. */
  version(sessionId: string): number;
  /** Whether the session has an item with this uuid. */
  holds(sessionId: string, uuid: string): boolean;
  /** Items that can still change, in order. */
  open(sessionId: string): Item[];
  /** All open questions, oldest first in each session. */
  asking(): { sessionId: string; item: Item }[];
  /** After a turn: forgets the uuids, and rewrites a file if later rows replaced more than half of it. */
  tidy(sessionId: string): void;
  /** The settings of the session as they were kept last. */
  settings(sessionId: string): StoredSettings | undefined;
  /** Keeps them. Throws TypeError for an unknown session. */
  keepSettings(sessionId: string, settings: StoredSettings): void;
  /** Names the session. Throws TypeError for an unknown one. */
  entitle(sessionId: string, title: string): void;
  /**
   * Adds items from elsewhere, in this order, skipping known uuids. Returns the number added. One write and one sync for all, so
   * thousands cost little more than one. If it throws, nothing is saved. If the process is killed during the write, the first
   * items are saved, whole, and the rest can be added again; the same after a power cut, if the disk writes in order. `onWritten`
   * receives the written operations and calls `advance`; if absent, `take` calls it.
   */
  take(sessionId: string, items: readonly NewItem[], onWritten?: (ops: Operation[], v: number) => void): number;
  /** All items, in order; undefined for an unknown session. */
  everything(sessionId: string): Item[] | undefined;
  /** The whole conversation, oldest first; undefined for an unknown session. */
  messages(sessionId: string, reader?: Reader): HistoryMessage[] | undefined;
  /** A page of it; undefined for an unknown session. */
  page(sessionId: string, request: PageRequest, reader?: Reader): PageResult | undefined;
  /** A page of items; undefined for an unknown session, a sentence for an invalid cursor. */
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

/** Files above this size are rewritten when less than half of them is needed. */
const tidyBytes = 64 * 1024;

/** Opens the folder, creating it if needed, and reads every session in it. */
export function openStore(folder: string, now: () => number = Date.now): Store {
  const table = openSessionTable(folder, now);
  const { sessions, write, advance, indexOf, uuidsOf } = table;
  const sessionOf = table.get;
  const view = (reader: Reader) => (stored: Stored) =>
    stored.m || (reader === 'spoken' && isPlain(stored.item) && isClosed(stored.item))
      ? messageOf(reader === 'messages' ? stored : { item: stored.item, m: true })
      : undefined;

  return {
    unreadable: table.unreadable,
    create: table.create,
    has: (sessionId) => sessions.has(sessionId),
    created: (sessionId) => sessions.get(sessionId)?.meta.created_at ?? '',
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
      if (session.open.size === 0 && session.bytes > tidyBytes && session.needed < session.bytes / 2)
        table.rewrite(session);
    },
    settings: (sessionId) => sessions.get(sessionId)?.settings,
    keepSettings(sessionId, settings) {
      const session = sessionOf(sessionId);
      session.bytes += appendRows(session.path, [{ settings }]);
      session.settings = settings;
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
      const uuids = new Set(readSession(session.path).items.map(({ item }) => item.uuid));
      const fresh = items.filter(({ uuid }) => !uuids.has(uuid) && uuids.add(uuid));
      if (fresh.length === 0) return 0;
      const changes = fresh.map((item): StoreChange => ({ op: 'put', item }));
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
      return { ok: true, page: pageWith(messages, found.hasMore) };
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
