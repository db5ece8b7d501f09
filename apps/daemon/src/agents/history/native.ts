/**
 * Readers of the files in which agents keep their sessions. Read only: the readers never write, move or modify a file
 * and never ask an agent, since loading a session changes its time in some of them. Each agent has a format; the common
 * part is here. A file is read backwards, one part at a time, so a huge file costs no more than a small one.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Holders,
  type Outside,
  type OutsidePart,
  type OutsideSession,
  type PastUpdate,
  firstLine,
  keepHead,
  recordOf,
  stoppedUpdate,
  textOf,
} from '@relay/daemon-kit';
import { type PlacedRow, type Row, rowsAtBeginning, rowsBefore } from './window.ts';

export type { PlacedRow, Row } from './window.ts';
export { recordOf };

interface About {
  sessionId: string;
  /** Empty if the agent gave the session no title. */
  title: string;
  projectPath: string;
}

export interface Format {
  /** Session files below this folder; the depth is that of the format. */
  root: (env: NodeJS.ProcessEnv) => string;
  depth: number;
  isSession: (name: string) => boolean;
  /**
   * Returns the facts about a session from rows at the beginning and the tail of its file. `path`: of the file.
   * Undefined for a file without a session.
   */
  about: (rows: readonly Row[], path: string) => About | undefined;
  /** A turn begins with this row, so a part can begin there. */
  begins: (row: Row) => boolean;
  /** The events as updates of ACP. A call that begins before these rows is left out. */
  updates: (rows: readonly PlacedRow[]) => PastUpdate[];
  /**
   * True while the last turn is open. `rows` are the tail of a file, `head` its beginning; `head` is empty if `rows` is
   * the whole file.
   */
  open: (rows: readonly Row[], head: readonly Row[]) => boolean;
  /** Each program of the agent notes its open session: a turn without such a program is over. */
  notesHolders?: (env: NodeJS.ProcessEnv) => boolean;
}

const maxSessions = 500;
/** New and changed files are read this long per scan, and at least one, newest first; the rest follows with the next refresh. */
const scanBudgetMs = 250;
const headBytes = 256 * 1024;
const titleCharacters = 80;
const lastMessageBytes = 2048;

interface Entry {
  stamp: string;
  modifiedMs: number;
  session?: Omit<OutsideSession, 'isActive'>;
}

export function nativeHistory(
  format: Format,
  env: NodeJS.ProcessEnv = process.env,
  budgetMs: number = scanBudgetMs,
  holders?: Pick<Holders, 'look' | 'of'>,
): Outside {
  const root = format.root(env);
  /** Keyed by path. */
  const entries = new Map<string, Entry>();
  const pathOf = new Map<string, string>();
  /** Files are left that the last scan had no time for. */
  let isPartial = false;

  const scan = () => {
    const files = filesBelow(root, format.depth, format.isSession)
      .flatMap((path) => stampOf(path))
      .sort((a, b) => b.modifiedMs - a.modifiedMs)
      .slice(0, maxSessions);
    const seen = new Set(files.map(({ path }) => path));
    for (const path of [...entries.keys()]) if (!seen.has(path)) entries.delete(path);
    const until = performance.now() + budgetMs;
    let read = 0;
    isPartial = false;
    for (const { path, stamp, modifiedMs } of files) {
      if (entries.get(path)?.stamp === stamp) continue;
      isPartial = read++ > 0 && performance.now() > until;
      if (isPartial) break;
      const session = summaryOf(path, modifiedMs);
      entries.set(path, { stamp, modifiedMs, ...(session ? { session } : {}) });
      if (session) pathOf.set(session.sessionId, path);
    }
  };

  const summaryOf = (path: string, modifiedMs: number): Entry['session'] => {
    try {
      const end = rowsBefore(path);
      // The first and last rows of a large file are enough to identify it.
      const head = end.start === 0 ? [] : rowsAtBeginning(path, headBytes);
      const rows = [...head, ...end.rows];
      const about = format.about(bare(rows), path);
      const messages = messagesOf(format.updates(rows));
      const last = messages.at(-1);
      if (!about || !last) return undefined;
      const first = messages.find(({ role }) => role === 'USER')?.content ?? last.content;
      return {
        sessionId: about.sessionId,
        title: about.title || firstLine(first, titleCharacters),
        projectPath: about.projectPath,
        lastMessage: keepHead(last.content, lastMessageBytes),
        lastActivity: last.at || new Date(modifiedMs).toISOString(),
        messageCount: messages.length,
      };
    } catch {
      // Foreign, gone, or not ours to read.
      return undefined;
    }
  };

  const located = (sessionId: string): string | undefined => {
    if (!pathOf.has(sessionId)) scan();
    return pathOf.get(sessionId);
  };

  return {
    sessions() {
      scan();
      const held = holders?.look();
      return [...entries.values()]
        .flatMap(({ session }) =>
          session ? [{ ...session, isActive: held?.get(session.sessionId)?.state === 'busy' }] : [],
        )
        .sort((a, b) => (a.lastActivity < b.lastActivity ? 1 : -1));
    },
    // Not searched: a session without a file would be searched every second.
    stamp(sessionId) {
      const path = pathOf.get(sessionId);
      const stamp = path === undefined ? undefined : stampOf(path)[0]?.stamp;
      // When its program exits, the session changes and the file does not.
      return stamp !== undefined && holders?.look().has(sessionId) ? `${stamp} held` : stamp;
    },
    read(sessionId, before) {
      const path = located(sessionId);
      if (path === undefined) return undefined;
      const isLeft = format.notesHolders?.(env) === true && holders !== undefined && !holders.of(sessionId);
      return partOf(format, path, before, isLeft);
    },
    refresh() {
      const wasPartial = isPartial;
      if (wasPartial) scan();
      return Promise.resolve(wasPartial && !isPartial);
    },
  };
}

/** The rows before this place, from the first turn that begins in them on. */
function partOf(format: Format, path: string, before: number | undefined, isLeft: boolean): OutsidePart | undefined {
  const { rows, start } = rowsBefore(path, before);
  const first = start === 0 ? 0 : rows.findIndex(({ row }) => format.begins(row));
  // A turn that is larger than a part is split into several.
  const part = rows.slice(Math.max(first, 0));
  const head = start === 0 ? [] : rowsAtBeginning(path, headBytes);
  const about = format.about(bare([...head, ...rows]), path);
  if (!about) return undefined;
  const updates = format.updates(part);
  const isOpen = before === undefined && format.open(bare(part), bare(head));
  if (isOpen && isLeft) updates.push({ update: { sessionUpdate: stoppedUpdate }, at: updates.at(-1)?.at ?? '' });
  return {
    projectPath: about.projectPath,
    updates,
    open: isOpen && !isLeft,
    start: start === 0 ? 0 : (part[0]?.place ?? start),
  };
}

const bare = (rows: readonly PlacedRow[]): Row[] => rows.map(({ row }) => row);

interface UserMessage {
  role: 'USER' | 'AGENT';
  id: unknown;
  content: string;
  at: string;
}

/** Returns the text of these updates, in the form that a list of sessions shows. */
function messagesOf(updates: readonly PastUpdate[]): UserMessage[] {
  const messages: UserMessage[] = [];
  let current: UserMessage | undefined;
  for (const { update, at } of updates) {
    const kind = update.sessionUpdate;
    const role = kind === 'user_message_chunk' ? 'USER' : kind === 'agent_message_chunk' ? 'AGENT' : undefined;
    if (!role) {
      if (kind === 'tool_call') current = undefined;
      continue;
    }
    const content = textOf(update.content);
    if (content.trim() === '') continue;
    if (current?.role === role && current.id === update.messageId)
      Object.assign(current, { content: current.content + content, at }); // prettier-ignore
    else messages.push((current = { role, id: update.messageId, content, at }));
  }
  return messages;
}

function stampOf(path: string): { path: string; stamp: string; modifiedMs: number }[] {
  try {
    const stat = statSync(path);
    return stat.isFile() ? [{ path, stamp: `${stat.mtimeMs}:${stat.size}`, modifiedMs: stat.mtimeMs }] : [];
  } catch {
    return [];
  }
}

export function filesBelow(folder: string, depth: number, fits: (name: string) => boolean): string[] {
  let items;
  try {
    items = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return items.flatMap((item) => {
    const path = join(folder, item.name);
    if (item.isDirectory()) return depth > 0 ? filesBelow(path, depth - 1, fits) : [];
    return depth === 0 && item.isFile() && fits(item.name) ? [path] : [];
  });
}

export const textIn = (row: Row, name: string): string => {
  const value = row[name];
  return typeof value === 'string' ? value : '';
};

/** The text of a stored message: a text, or a list of blocks, filtered by `fits`. */
export function wordsOf(content: unknown, fits: (block: Row) => boolean = () => true): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as unknown[])
    .map((block) => (typeof block === 'string' ? block : fits(recordOf(block)) ? textIn(recordOf(block), 'text') : ''))
    .join('');
}

/** Whether one of these parts of a message of Gemini's kind calls a tool. */
export const calls = (parts: unknown): boolean =>
  Array.isArray(parts) && parts.some((part) => recordOf(part).functionCall !== undefined);

/** Returns text as an update of ACP; nothing for an empty text. */
export function chunk(role: 'USER' | 'AGENT' | 'thought', id: string, text: string): Row[] {
  if (text === '') return [];
  const kinds = { USER: 'user_message_chunk', AGENT: 'agent_message_chunk', thought: 'agent_thought_chunk' };
  return [{ sessionUpdate: kinds[role], ...(id === '' ? {} : { messageId: id }), content: { type: 'text', text } }];
}
