/**
 * The write-ahead record of tasks: running tasks, and results that the relay has not yet saved. After a crash it knows the
 * interrupted tasks; after an outage, the results to send again. Bounded: beyond the limits the oldest undelivered results are
 * dropped.
 */
import { appendFileSync, closeSync, fdatasyncSync, openSync } from 'node:fs';
import type { DaemonEvent } from '@relay/protocol';
import { readIfPresent, reasonOf, replaceOwnerFile } from '@relay/machine';
import type { Cancel, Clock } from './clock.ts';

/** Events that settle a task. Each task has exactly one, unless its turn continues after a question. */
export type FinalEvent = DaemonEvent<'TASK_COMPLETE' | 'WAIT_FOR_USER' | 'ERROR'> & {
  task_id: string;
  /** Missing if the task settled before its session had a name. */
  session_id?: string;
};

/** As it is kept: a relay without transcripts gets it in the older form (`forRelay`). */
export type JournalledEvent = FinalEvent & {
  /** The agent's text before its question. */
  said?: string;
};

/** The event for a relay: with the names of items and questions, or in the older form without them; with usage limits only where it takes them. */
export function forRelay(
  frame: JournalledEvent,
  transcript: boolean,
  prompts: boolean,
  usageLimits: boolean,
): FinalEvent {
  const { said, ...whole } = frame;
  const event = usageLimits ? whole : withoutLimit(whole);
  if (transcript) {
    if (prompts || event.event_type !== 'WAIT_FOR_USER') return event;
    const { question: _unnamed, ...older } = event;
    return older;
  }
  const { message_uuid: _uuid, ...plain } = event;
  if (plain.event_type === 'ERROR') {
    const { code: _code, limit: _limit, ...rest } = plain;
    return rest;
  }
  if (plain.event_type !== 'WAIT_FOR_USER') return plain;
  const { question: _question, ...rest } = plain;
  return said === undefined ? rest : { ...rest, result: [said, rest.result ?? ''].filter(Boolean).join('\n\n') };
}

function withoutLimit(event: FinalEvent): FinalEvent {
  if (event.event_type !== 'ERROR' || event.code !== 'USAGE_LIMIT') return event;
  const { code: _code, limit: _limit, ...rest } = event;
  return rest;
}

interface Interrupted {
  taskId: string;
  /** Empty when the session had no name yet. */
  sessionId: string;
  /** The process that ran it, if one did. */
  pid?: number;
}

export interface Journal {
  /** Tasks that ran when the last process was killed. */
  readonly interrupted: readonly Interrupted[];
  began(taskId: string, sessionId: string): void;
  process(taskId: string, pid: number): void;
  ended(frame: FinalEvent): void;
  /** Cancelled: nothing is owed. */
  settled(taskIds: readonly string[]): void;
  /**
   * The relay has saved these results, as passed to `ended` or returned by `owed`. A later result of the same task stays owed.
   * Returns the ids of the tasks that owe nothing more.
   */
  delivered(ends: readonly FinalEvent[]): string[];
  /** Results that the relay has not yet saved, as far as this daemon knows; oldest first. */
  owed(): FinalEvent[];
  /** Tries a last time to save rows that the disk refused. Afterwards no timer runs. */
  close(): void;
}

interface JournalOptions {
  file: string;
  maxOwed?: number;
  maxOwedBytes?: number;
  clock: Pick<Clock, 'after'>;
  /**
   * The journal dropped an undelivered result, or the disk refused a row (the journal continues in memory and saves itself as a
   * whole later).
   */
  onTrouble: (what: string, why: string) => void;
}

type Entry = { sessionId: string; pid?: number; frame?: FinalEvent; bytes: number };
type Row =
  | { began: string; session_id: string }
  | { process: string; pid: number }
  | { ended: FinalEvent }
  | { settled: string[] };

const compactAfterRows = 500;
const retryMs = 30_000;

export function openJournal({
  file,
  maxOwed = 500,
  maxOwedBytes = 32 * 1024 * 1024,
  clock,
  onTrouble,
}: JournalOptions): Journal {
  const entries = new Map<string, Entry>();
  let rows = 0;
  /** The disk refused a row: the file lacks it, or contains only its beginning. */
  let isBehind = false;
  let isClosed = false;
  let cancelRetry: Cancel = () => undefined;

  const apply = (row: Row) => {
    if ('began' in row) entries.set(row.began, { sessionId: row.session_id, bytes: 0 });
    else if ('process' in row) {
      const entry = entries.get(row.process);
      if (entry) entry.pid = row.pid;
    } else if ('ended' in row) {
      const frame = row.ended;
      entries.delete(frame.task_id);
      entries.set(frame.task_id, { sessionId: frame.session_id ?? '', frame, bytes: JSON.stringify(frame).length });
    } else for (const taskId of row.settled) entries.delete(taskId);
  };

  const compact = () => {
    const kept = [...entries].flatMap(([taskId, { sessionId, pid, frame }]): Row[] => {
      if (frame) return [{ ended: frame }];
      const began: Row = { began: taskId, session_id: sessionId };
      return pid === undefined ? [began] : [began, { process: taskId, pid }];
    });
    replaceOwnerFile(file, kept.map((row) => `${JSON.stringify(row)}\n`).join(''));
    rows = kept.length;
    isBehind = false;
    cancelRetry();
  };

  const append = (row: Row) => {
    const opened = openSync(file, 'a', 0o600);
    try {
      appendFileSync(opened, `${JSON.stringify(row)}\n`);
      fdatasyncSync(opened);
    } finally {
      closeSync(opened);
    }
  };

  const save = (change: () => void) => {
    try {
      change();
    } catch (error) {
      isBehind = true;
      cancelRetry();
      // The next row can be hours away.
      if (!isClosed) cancelRetry = clock.after(retryMs, () => save(compact));
      onTrouble('journal not written', reasonOf(error));
    }
  };
  const write = (row: Row) => {
    apply(row);
    save(() => (isBehind || ++rows > compactAfterRows + 2 * entries.size ? compact() : append(row)));
  };

  const settled = (taskIds: readonly string[]) => {
    const existing = taskIds.filter((taskId) => entries.has(taskId));
    if (existing.length > 0) write({ settled: existing });
  };

  const shrink = () => {
    const owed = [...entries].filter(([, entry]) => entry.frame);
    let bytes = owed.reduce((sum, [, entry]) => sum + entry.bytes, 0);
    const dropped: string[] = [];
    while (owed.length - dropped.length > 1 && (owed.length - dropped.length > maxOwed || bytes > maxOwedBytes)) {
      const oldest = owed[dropped.length];
      if (!oldest) break;
      bytes -= oldest[1].bytes;
      dropped.push(oldest[0]);
    }
    if (dropped.length === 0) return;
    write({ settled: dropped });
    onTrouble('undelivered results dropped', `more than ${maxOwed} or ${maxOwedBytes} bytes waited`);
  };

  for (const line of (readIfPresent(file) ?? '').split('\n')) {
    const row = line === '' ? undefined : rowOf(line);
    if (row) apply(row);
  }
  const interrupted = [...entries].flatMap(([taskId, { sessionId, pid, frame }]): Interrupted[] =>
    frame ? [] : [{ taskId, sessionId, ...(pid === undefined ? {} : { pid }) }],
  );
  // Also repairs a line that a crash cut off.
  compact();

  return {
    interrupted,
    began: (taskId, sessionId) => write({ began: taskId, session_id: sessionId }),
    process: (taskId, pid) => write({ process: taskId, pid }),
    ended(frame) {
      write({ ended: frame });
      shrink();
    },
    settled,
    delivered(ends) {
      const done = ends.filter((end) => entries.get(end.task_id)?.frame === end).map(({ task_id: taskId }) => taskId);
      settled(done);
      return done;
    },
    owed: () => [...entries.values()].flatMap(({ frame }) => (frame ? [frame] : [])),
    close() {
      isClosed = true;
      cancelRetry();
      if (isBehind) save(compact);
    },
  };
}

/** The file is ours, but a crash might have cut it off: lines that do not look like a row are skipped. */
function rowOf(line: string): Row | undefined {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof row !== 'object' || row === null) return undefined;
  const { began, session_id, process, pid, ended, settled } = row as Record<string, unknown>;
  if (typeof began === 'string' && typeof session_id === 'string') return { began, session_id };
  if (typeof process === 'string' && typeof pid === 'number') return { process, pid };
  if (Array.isArray(settled)) return { settled: settled.filter((taskId) => typeof taskId === 'string') };
  if (typeof ended !== 'object' || ended === null) return undefined;
  const { task_id: taskId, session_id: sessionId } = ended as Record<string, unknown>;
  const named = sessionId === undefined || typeof sessionId === 'string';
  return typeof taskId === 'string' && named ? { ended: ended as FinalEvent } : undefined;
}
