/**
 * Readers of the files in which agents keep their sessions. Read only: nothing is opened for writing, moved or touched, and no agent is
 * asked, since loading a session moves its time in some of them. Each agent has a format; what is common to them is here.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Outside, type OutsideMessage, type OutsideSession, firstLine, keepHead } from '@relay/daemon-kit';

export type Row = Readonly<Record<string, unknown>>;

export interface Transcript {
  sessionId: string;
  /** Empty when the agent gave it none. */
  title: string;
  projectPath: string;
  messages: OutsideMessage[];
  /** The last turn is not over. */
  open: boolean;
}

export interface Format {
  /** Session files below this folder; the depth is that of the format. */
  root: (env: NodeJS.ProcessEnv) => string;
  depth: number;
  isSession: (name: string) => boolean;
  /** `path`: of the file. undefined for a file that holds no session. */
  parse: (rows: readonly Row[], path: string) => Transcript | undefined;
  /** Sessions in which the agent itself says that a turn runs. */
  busy?: (env: NodeJS.ProcessEnv) => ReadonlySet<string>;
}

const maxSessions = 500;
/** New and changed files are read this long per look, newest first; the rest comes with the next look. */
const scanBudgetMs = 250;
const maxFileBytes = 64 * 1024 * 1024;
const titleCharacters = 80;
const lastMessageBytes = 2048;

interface Entry {
  stamp: string;
  modifiedMs: number;
  session?: Omit<OutsideSession, 'isActive'>;
}

export function nativeHistory(format: Format, env: NodeJS.ProcessEnv = process.env): Outside {
  const root = format.root(env);
  /** By path. */
  const entries = new Map<string, Entry>();
  const pathOf = new Map<string, string>();

  const read = (path: string): Transcript | undefined => {
    const rows = readFileSync(path, 'utf8').split('\n').flatMap(rowOf);
    return rows.length === 0 ? undefined : format.parse(rows, path);
  };

  const scan = () => {
    const files = filesBelow(root, format.depth, format.isSession)
      .flatMap((path) => stampOf(path))
      .sort((a, b) => b.modifiedMs - a.modifiedMs)
      .slice(0, maxSessions);
    const seen = new Set(files.map(({ path }) => path));
    for (const path of [...entries.keys()]) if (!seen.has(path)) entries.delete(path);
    const until = performance.now() + scanBudgetMs;
    for (const { path, stamp, modifiedMs } of files) {
      if (entries.get(path)?.stamp === stamp) continue;
      if (performance.now() > until) break;
      const session = summaryOf(path, modifiedMs);
      entries.set(path, { stamp, modifiedMs, ...(session ? { session } : {}) });
      if (session) pathOf.set(session.sessionId, path);
    }
  };

  const summaryOf = (path: string, modifiedMs: number): Entry['session'] => {
    try {
      const transcript = read(path);
      const last = transcript?.messages.at(-1);
      if (!transcript || !last) return undefined;
      const first = transcript.messages.find(({ role }) => role === 'USER')?.content ?? last.content;
      return {
        sessionId: transcript.sessionId,
        title: transcript.title || firstLine(first, titleCharacters),
        projectPath: transcript.projectPath,
        lastMessage: keepHead(last.content, lastMessageBytes),
        lastActivity: last.timestamp || new Date(modifiedMs).toISOString(),
        messageCount: transcript.messages.length,
      };
    } catch {
      // Half written, foreign, or not ours to read.
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
      const busy = format.busy?.(env);
      return [...entries.values()]
        .flatMap(({ session }) => (session ? [{ ...session, isActive: busy?.has(session.sessionId) ?? false }] : []))
        .sort((a, b) => (a.lastActivity < b.lastActivity ? 1 : -1));
    },
    // Not looked for: a session without a file would be searched every second.
    stamp(sessionId) {
      const path = pathOf.get(sessionId);
      return path === undefined ? undefined : stampOf(path)[0]?.stamp;
    },
    read(sessionId) {
      const path = located(sessionId);
      const transcript = path === undefined ? undefined : read(path);
      if (!transcript) return undefined;
      return { projectPath: transcript.projectPath, messages: transcript.messages, open: transcript.open };
    },
  };
}

function rowOf(line: string): Row[] {
  if (!line.startsWith('{')) return [];
  try {
    const row: unknown = JSON.parse(line);
    return typeof row === 'object' && row !== null ? [row as Row] : [];
  } catch {
    // The last line may be torn, or just be written.
    return [];
  }
}

function stampOf(path: string): { path: string; stamp: string; modifiedMs: number }[] {
  try {
    const { mtimeMs, size, isFile } = statOf(path);
    if (!isFile || size > maxFileBytes) return [];
    return [{ path, stamp: `${mtimeMs}:${size}`, modifiedMs: mtimeMs }];
  } catch {
    return [];
  }
}

const statOf = (path: string) => {
  const stat = statSync(path);
  return { mtimeMs: stat.mtimeMs, size: stat.size, isFile: stat.isFile() };
};

function filesBelow(folder: string, depth: number, fits: (name: string) => boolean): string[] {
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

export const recordOf = (value: unknown): Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : {};
export const textIn = (row: Row, name: string): string => {
  const value = row[name];
  return typeof value === 'string' ? value : '';
};

/** Text of a message as it is kept: a text, or a list of blocks of which those that `fits` allows count. */
export function wordsOf(content: unknown, fits: (block: Row) => boolean = () => true): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as unknown[])
    .map((block) => (typeof block === 'string' ? block : fits(recordOf(block)) ? textIn(recordOf(block), 'text') : ''))
    .join('');
}

/** Parts of one message come in several rows: the text is joined, the time is that of the last. Empty ones say nothing. */
export function joined(messages: readonly OutsideMessage[]): OutsideMessage[] {
  const byId = new Map<string, OutsideMessage>();
  for (const message of messages) {
    if (message.content === '') continue;
    const key = `${message.role} ${message.id}`;
    const before = byId.get(key);
    byId.set(key, before ? { ...message, content: `${before.content}${message.content}` } : message);
  }
  return [...byId.values()];
}
