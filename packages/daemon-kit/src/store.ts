/**
 * The message history of this machine: one append-only JSONL file per session, rows `{"meta":{…}}`, `{"title":…}` and `{"m":{uuid,role,content,timestamp}}`,
 * 0600. Messages are never renumbered or dropped: the relay may hold their uuids. What is listed about the sessions is
 * rebuilt from the files at start. Writes are synchronous and on disk when they return; a turn has two or three. A session may have any
 * number of messages, as many as the disk takes; it is in memory as a whole only while it is read or written.
 */
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, fdatasyncSync, fstatSync, openSync, readFileSync, readSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '@relay/protocol';
import { fieldBytes, firstLine, keepHead } from './bounds.ts';
import type { HistoryMessage } from './history.ts';
import { makePrivateFolder } from './private-folder.ts';
import { syncFolder } from './owner-file.ts';

export interface SessionSummary {
  sessionId: string;
  /** As the agent named it, else the first line of the first message; empty while there is none. */
  title: string;
  projectPath: string;
  /** Cut at 2 KiB. */
  lastMessage: string;
  /** ISO 8601: of the last message, or of the creation. */
  lastActivity: string;
  messageCount: number;
}

export interface Store {
  /** A new, empty session. Throws TypeError when the id is taken. */
  create(sessionId: string, projectPath: string): void;
  has(sessionId: string): boolean;
  /** Adds a message with a new uuid and the time of now. Throws TypeError for an unknown session. */
  append(sessionId: string, role: HistoryMessage['role'], content: string): HistoryMessage;
  /** Names the session. Throws TypeError for an unknown one. */
  entitle(sessionId: string, title: string): void;
  /**
   * Adds messages that were said elsewhere, each cut at `fieldBytes.message`; those whose uuid is there are passed over. How many were added.
   * One write and one sync for all of them, so that thousands cost little more than one. When it throws, or the process dies meanwhile, the
   * first so many are there, whole, and the others can be taken again; the same after a power cut, where the disk writes in order.
   */
  take(sessionId: string, messages: readonly HistoryMessage[]): number;
  /** The whole conversation, oldest first; undefined for an unknown session. */
  messages(sessionId: string): HistoryMessage[] | undefined;
  session(sessionId: string): SessionSummary | undefined;
  /** Last activity first. */
  sessions(): SessionSummary[];
  /** Rows that could not be read at start: torn by a crash, or foreign. */
  readonly unreadable: number;
}

interface Meta {
  session_id: string;
  project_path: string;
  created_at: string;
}

/** Opens the folder, creating it if needed, and reads every session in it. */
export function openStore(folder: string, now: () => number = Date.now): Store {
  makePrivateFolder(folder);
  const summaries = new Map<string, SessionSummary>();
  const load = (path: string) => {
    const { meta, title, messages, unreadable } = readSession(path);
    if (!meta) return unreadable;
    const summary = emptySummary(meta);
    for (const message of messages) note(summary, message);
    if (title !== undefined) summary.title = title;
    summaries.set(meta.session_id, summary);
    return unreadable;
  };
  let unreadable = 0;
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.jsonl')) unreadable += load(join(folder, name));
  }
  const pathOf = (sessionId: string) => join(folder, `${fileNameOf(sessionId)}.jsonl`);

  return {
    unreadable,
    create(sessionId, projectPath) {
      if (summaries.has(sessionId)) throw new TypeError(`session ${sessionId} exists`);
      const created = new Date(now()).toISOString();
      const meta: Meta = { session_id: sessionId, project_path: projectPath, created_at: created };
      appendRows(pathOf(sessionId), [{ meta }]);
      syncFolder(folder);
      summaries.set(sessionId, emptySummary(meta));
    },
    has: (sessionId) => summaries.has(sessionId),
    append(sessionId, role, content) {
      const summary = summaries.get(sessionId);
      if (!summary) throw new TypeError(`no session ${sessionId}`);
      const message: HistoryMessage = { uuid: randomUUID(), role, content, timestamp: new Date(now()).toISOString() };
      appendRows(pathOf(sessionId), [{ m: message }]);
      note(summary, message);
      return message;
    },
    entitle(sessionId, title) {
      const summary = summaries.get(sessionId);
      if (!summary) throw new TypeError(`no session ${sessionId}`);
      if (title === '' || summary.title === title) return;
      appendRows(pathOf(sessionId), [{ title }]);
      summary.title = title;
    },
    take(sessionId, messages) {
      const summary = summaries.get(sessionId);
      if (!summary) throw new TypeError(`no session ${sessionId}`);
      if (messages.length === 0) return 0;
      const path = pathOf(sessionId);
      const known = new Set(readSession(path).messages.map(({ uuid }) => uuid));
      const fresh: HistoryMessage[] = [];
      for (const { uuid, role, content, timestamp } of messages) {
        if (known.has(uuid)) continue;
        known.add(uuid);
        fresh.push({ uuid, role, content: keepHead(content, fieldBytes.message), timestamp });
      }
      try {
        appendRows(
          path,
          fresh.map((m) => ({ m })),
        );
      } catch (error) {
        // A full disk has taken the first of them, and they are there from now on.
        load(path);
        throw error;
      }
      for (const message of fresh) note(summary, message);
      return fresh.length;
    },
    messages: (sessionId) => (summaries.has(sessionId) ? readSession(pathOf(sessionId)).messages : undefined),
    session(sessionId) {
      const summary = summaries.get(sessionId);
      return summary && { ...summary };
    },
    sessions: () =>
      [...summaries.values()]
        .map((summary) => ({ ...summary }))
        .sort((a, b) => (a.lastActivity < b.lastActivity ? 1 : a.lastActivity > b.lastActivity ? -1 : 0)),
  };
}

const emptySummary = (meta: Meta): SessionSummary => ({
  sessionId: meta.session_id,
  title: '',
  projectPath: meta.project_path,
  lastMessage: '',
  lastActivity: meta.created_at,
  messageCount: 0,
});

function note(summary: SessionSummary, { content, timestamp }: HistoryMessage): void {
  if (summary.messageCount === 0 && summary.title === '') summary.title = firstLine(content, limits.titleCharacters);
  summary.messageCount++;
  summary.lastMessage = keepHead(content, fieldBytes.lastMessage);
  summary.lastActivity = timestamp;
}

/** Readable, safe on every file system, and within its 255 bytes; the true id is in the meta row. */
function fileNameOf(sessionId: string): string {
  const readable = encodeURIComponent(sessionId).replace(/[.*!'()~]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  if (readable.length <= 180 && readable === readable.toLowerCase()) return readable;
  return `${readable.slice(0, 40)}-${createHash('sha256').update(sessionId).digest('hex')}`;
}

/** One write and one sync, however many they are. */
function appendRows(path: string, rows: readonly unknown[]): void {
  if (rows.length === 0) return;
  const file = openSync(path, 'a+', 0o600);
  try {
    // A crash may have torn the last line; a new row must not be glued to it.
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    const torn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
    const bytes = Buffer.from(`${torn ? '\n' : ''}${rows.map((row) => `${JSON.stringify(row)}\n`).join('')}`, 'utf8');
    // A disk that is nearly full takes a part and says so by the count alone; only the next write is refused.
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}

function readSession(path: string): {
  meta: Meta | undefined;
  title: string | undefined;
  messages: HistoryMessage[];
  unreadable: number;
} {
  let meta: Meta | undefined;
  let title: string | undefined;
  const messages: HistoryMessage[] = [];
  let unreadable = 0;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    const row = rowOf(line);
    if (row?.meta) meta ??= row.meta;
    else if (row?.m) messages.push(row.m);
    else if (row?.title !== undefined) title = row.title;
    else unreadable++;
  }
  return { meta, title, messages, unreadable };
}

function rowOf(line: string): { meta?: Meta; m?: HistoryMessage; title?: string } | undefined {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof row !== 'object' || row === null) return undefined;
  if ('meta' in row && textsIn(row.meta, ['session_id', 'project_path', 'created_at']))
    return { meta: row.meta as Meta };
  if ('title' in row && typeof row.title === 'string') return { title: row.title };
  if ('m' in row && textsIn(row.m, ['uuid', 'role', 'content', 'timestamp'])) return { m: row.m as HistoryMessage };
  return undefined;
}

const textsIn = (value: unknown, names: readonly string[]) =>
  typeof value === 'object' &&
  value !== null &&
  names.every((name) => typeof (value as Record<string, unknown>)[name] === 'string');
