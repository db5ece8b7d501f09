/**
 * Reads the records that agents keep of their own programs: one reader for each agent (rules, 24.2). Read only; a record that is torn, too
 * large or from a newer agent is skipped.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { homeFolder } from '@relay/machine';
import type { Held } from '@relay/protocol';

/** A program has this session open, according to its own record. Nothing of it is checked yet. */
export interface HolderRecord {
  sessionId: string;
  pid: number;
  /** As `ProcessFacts.start`. */
  start?: string;
  /** When the program noted its start, if it notes no clock ticks. */
  startedAt?: Date;
  /** The kernel names the process: its lock needs no start time. */
  isLock?: true;
  state: Held['state'];
  waits?: string;
  at?: string;
}

export type RecordReader = () => HolderRecord[];

const maxRecords = 200;
const maxBytes = 64 * 1024;

/** Claude Code: `sessions/<pid>.json`, rewritten with each change of its state. */
export function claudeRecords(env: NodeJS.ProcessEnv): RecordReader {
  const folder = join(env.CLAUDE_CONFIG_DIR || join(homeFolder(env), '.claude'), 'sessions');
  const read = unchanged((path) => {
    const row = fieldsIn(path);
    const [sessionId, status] = [textOf(row.sessionId), textOf(row.status)];
    const [start, waits, at] = [`${textOf(row.procStart)}`, textOf(row.waitingFor), timeOf(row.statusUpdatedAt)];
    if (sessionId === '') return undefined;
    return {
      sessionId,
      pid: 0,
      ...(start === '' ? {} : { start }),
      state: claudeStates[status] ?? 'unknown',
      ...(status === 'waiting' && waits !== '' ? { waits } : {}),
      ...(at === undefined ? {} : { at }),
    };
  });
  return () =>
    namesIn(folder, /^\d+\.json$/).flatMap((name) => {
      const record = read(join(folder, name));
      return record ? [{ ...record, pid: Number.parseInt(name, 10) }] : [];
    });
}

/** `shell`: a command of the person runs in its terminal. */
const claudeStates: Readonly<Record<string, Held['state']>> = {
  idle: 'idle',
  busy: 'busy',
  shell: 'busy',
  waiting: 'waiting',
};

/** Codex: an empty `thread-writer-locks/<id>.lock`; /proc/locks names the process that has locked it. */
export function codexRecords(env: NodeJS.ProcessEnv): RecordReader {
  const folder = join(env.CODEX_HOME || join(homeFolder(env), '.codex'), 'thread-writer-locks');
  return () => {
    const names = namesIn(folder, /^[^.].*\.lock$/);
    if (names.length === 0) return [];
    const sessions = new Map(
      names.flatMap((name): [string, string][] => {
        const inode = inodeOf(join(folder, name));
        return inode === undefined ? [] : [[inode, name.slice(0, -'.lock'.length)]];
      }),
    );
    return locks().flatMap(({ pid, inode }) => {
      const sessionId = sessions.get(inode);
      return sessionId === undefined ? [] : [{ sessionId, pid, isLock: true as const, state: 'unknown' as const }];
    });
  };
}

/** Qwen Code: `<id>.runtime.json` beside the session. */
export function qwenRecords(env: NodeJS.ProcessEnv): RecordReader {
  const home = env.QWEN_RUNTIME_DIR || env.QWEN_HOME || join(homeFolder(env), '.qwen');
  const read = unchanged((path): HolderRecord | undefined => {
    const row = fieldsIn(path);
    const [sessionId, startedAt] = [textOf(row.session_id), timeOf(row.started_at)];
    if (sessionId === '') return undefined;
    const start = startedAt === undefined ? {} : { startedAt: new Date(startedAt) };
    return { sessionId, pid: Number(row.pid), ...start, state: 'unknown' };
  });
  const projects = join(home, 'projects');
  return () =>
    namesIn(projects, /./)
      .map((name) => join(projects, name, 'chats'))
      .flatMap((folder) => namesIn(folder, /\.runtime\.json$/).map((name) => join(folder, name)))
      .slice(0, maxRecords)
      .flatMap((path) => read(path) ?? []);
}

/** Copilot CLI: `session-state/<id>/inuse.<pid>.lock`, which proves nothing but the number. */
export function copilotRecords(env: NodeJS.ProcessEnv): RecordReader {
  const folder = join(homeFolder(env), '.copilot', 'session-state');
  return () =>
    namesIn(folder, /./).flatMap((sessionId) =>
      namesIn(join(folder, sessionId), /^inuse\.\d+\.lock$/).map((name) => ({
        sessionId,
        pid: Number(name.split('.')[1]),
        state: 'unknown' as const,
      })),
    );
}

/** The newest names are not known here: a folder with more names than the bound is read in its own order. */
function namesIn(folder: string, pattern: RegExp): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => pattern.test(name))
      .slice(-maxRecords);
  } catch {
    return [];
  }
}

/** Reads a file again only after it has changed. */
function unchanged<T>(read: (path: string) => T | undefined): (path: string) => T | undefined {
  const cache = new Map<string, { stamp: string; value: T | undefined }>();
  return (path) => {
    try {
      const { mtimeMs, size, ino } = statSync(path);
      const stamp = `${mtimeMs} ${size} ${ino}`;
      const before = cache.get(path);
      if (before?.stamp === stamp) return before.value;
      const value = size > maxBytes ? undefined : read(path);
      cache.delete(path);
      cache.set(path, { stamp, value });
      const [oldest] = cache.keys();
      if (cache.size > maxRecords && oldest !== undefined) cache.delete(oldest);
      return value;
    } catch {
      cache.delete(path);
      return undefined;
    }
  };
}

function inodeOf(path: string): string | undefined {
  try {
    return String(statSync(path).ino);
  } catch {
    return undefined;
  }
}

function locks(): { pid: number; inode: string }[] {
  try {
    return readFileSync('/proc/locks', 'latin1')
      .split('\n')
      .flatMap((line) => {
        const found = /^\d+: FLOCK\s+\S+\s+WRITE\s+(\d+)\s+\S+:(\d+)\s/.exec(line);
        return found ? [{ pid: Number(found[1]), inode: found[2]! }] : [];
      });
  } catch {
    return [];
  }
}

/** Throws for text that is not a JSON object. */
function fieldsIn(path: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (typeof value !== 'object' || value === null) throw new TypeError('no object');
  return value as Record<string, unknown>;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Milliseconds or a text, as ISO 8601. */
function timeOf(value: unknown): string | undefined {
  const at = typeof value === 'string' || typeof value === 'number' ? new Date(value) : undefined;
  return at === undefined || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
