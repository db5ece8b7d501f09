/**
 * The order of tasks: one turn at a time per session, a bounded number of agents at once, and a report for waiting tasks. Knows
 * no turn.
 */
import type { Cancel, Clock } from './clock.ts';
import type { Log } from './log.ts';
import { createPlaces } from './places.ts';

interface Waiting {
  id: string;
  sessionId: string;
}

interface LinesOptions<T> {
  /** Maximum number of agents at the same time. */
  maxAgents: number;
  /** How often a task that waits for a place reports that again. */
  stillWaitingMs: number;
  clock: Clock;
  log: Log;
  /** The first of its session has a place. */
  run: (task: T) => void;
  /** It waits for a place, or still does. */
  report: (task: T) => void;
}

export interface Lines<T> {
  /** Per session the tasks whose turn has not fully finished; the first one runs. */
  get(sessionId: string): T[] | undefined;
  has(sessionId: string): boolean;
  values(): Iterable<T[]>;
  /** Queues the task after the earlier tasks of its session. */
  enqueue(task: T): void;
  /** Calls `go` as soon as there is a place, which is held until the turn has fully finished. */
  whenRoom(task: T, go: () => void): void;
  /** The next task of the session runs as soon as there is room for it. */
  advance(sessionId: string): void;
  /** A task that settles before its turn began blocks no other task. */
  drop(task: T): void;
  /** Its turn has fully finished. */
  leave(task: T): void;
  /** Reports to each task that waits for a place: now, and again while it waits. */
  reportWaiting(): void;
  /** Nothing is reported from now on. */
  stop(): void;
}

export function createLines<T extends Waiting>(options: LinesOptions<T>): Lines<T> {
  const { stillWaitingMs, clock, log, run, report } = options;
  /** Held from the opening of a conversation, or the start of a turn, until the turn has fully finished. */
  const places = createPlaces<T>(options.maxAgents);
  let cancelReport: Cancel = () => undefined;
  const lines = new Map<string, T[]>();

  const reportWaiting = () => {
    cancelReport();
    const waiting = places.waiting();
    for (const task of waiting) report(task);
    if (waiting.length > 0) cancelReport = clock.after(stillWaitingMs, reportWaiting);
  };

  const whenRoom = (task: T, go: () => void) => {
    if (places.take(task, go) === 'now') return;
    log.info('task waits for another agent to finish', { task: task.id, session: task.sessionId });
    report(task);
    if (places.waiting().length === 1) {
      cancelReport();
      cancelReport = clock.after(stillWaitingMs, reportWaiting);
    }
  };

  const advance = (sessionId: string) => {
    const next = lines.get(sessionId)?.[0];
    if (next) whenRoom(next, () => run(next));
    else lines.delete(sessionId);
  };

  return {
    get: (sessionId) => lines.get(sessionId),
    has: (sessionId) => lines.has(sessionId),
    values: () => lines.values(),
    enqueue(task) {
      const line = lines.get(task.sessionId);
      if (line) {
        places.leave(task);
        line.push(task);
        return;
      }
      lines.set(task.sessionId, [task]);
      advance(task.sessionId);
    },
    whenRoom,
    advance,
    drop(task) {
      places.leave(task);
      const line = lines.get(task.sessionId);
      const index = line?.indexOf(task) ?? -1;
      if (index < 0) return;
      line?.splice(index, 1);
      if (index === 0) advance(task.sessionId);
    },
    leave: (task) => places.leave(task),
    reportWaiting,
    stop: () => cancelReport(),
  };
}
