/**
 * Checks whether field daemons, which drop their events while they are disconnected, lost anything. Pure, like
 * `verdict.ts`: takes journal and rows, returns violations as sentences.
 */
import type { Journal } from './journal.ts';
import type { TaskRow } from './truth.ts';

/** States after which nothing follows. */
const outcomes = new Set(['completed', 'waiting', 'failed', 'cancelled', 'expired', 'unknown']);
/** Apps never receive a frame that a killed gateway has stored but not published; the database has it. */
const killMs = 10_000;

/** Tasks without an outcome. */
export const stuckTasks = (tasks: readonly TaskRow[]): TaskRow[] => tasks.filter(({ state }) => !outcomes.has(state));

export function judgeField(journal: Journal, tasks: readonly TaskRow[]): string[] {
  return [
    ...stuckTasks(tasks).map(({ id, state }) => `task ${id} is still ${state}`),
    ...judgeAnswers(journal, tasks),
    ...judgeShown(journal, tasks),
    ...judgeTurns(journal, tasks),
  ];
}

/** The stored result equals the history of the daemon. */
function judgeAnswers(journal: Journal, tasks: readonly TaskRow[]): string[] {
  const wrong: string[] = [];
  const kept = new Map(journal.of('kept').map((entry) => [entry.task, entry]));
  // If the connection dropped before the session had a name, and the reports of the daemon hide it, the relay has no
  // history to ask for: `docs/reliability.md`, "Open issues".
  const starts = new Map<string, string>();
  for (const { session, task } of journal.of('accepted'))
    if (session.includes(':PENDING-') && !starts.has(session)) starts.set(session, task);
  const keys = new Map(tasks.map((row) => [row.id, row.session_key]));
  // The relay can ask for a session that got its name later.
  const named = new Set(
    journal.of('accepted').flatMap(({ session, task }) => (session.includes(':PENDING-') ? [] : keys.get(task))),
  );
  const unnamed = new Set([...starts.values()].filter((task) => !named.has(keys.get(task))));
  const written = new Set(journal.of('written').map(({ task }) => task));
  for (const { id, state, error_code: code, result } of tasks) {
    const answer = kept.get(id);
    const told = `task ${id} is ${state} ${code ?? ''}`;
    if (state === 'unknown' || code === 'TASK_LOST') {
      if (answer && !(answer.hidden && unnamed.has(id))) wrong.push(`${told}, and its daemon has: ${answer.text}`);
    } else if (state === 'completed') {
      if (!written.has(id)) wrong.push(`${told}, and never reached its daemon`);
      else if (answer && !result?.includes(answer.text)) wrong.push(`${told} with "${result}" for: ${answer.text}`);
    } else if (state === 'waiting' && answer && answer.kind !== 'question')
      wrong.push(`${told}, and nothing was asked`);
    else if (state === 'failed' && answer && answer.kind !== 'error')
      wrong.push(`${told}, and its daemon never said so`);
  }
  return wrong;
}

/** An app shows each answer once, and the answer of every completed task, unless it received a resync. */
function judgeShown(journal: Journal, tasks: readonly TaskRow[]): string[] {
  const wrong: string[] = [];
  const reloads = journal.of('resync');
  const times = new Map<string, number>();
  const lastAt = new Map<string, number>();
  for (const { app, words, atMs } of journal.of('shown')) {
    const key = `${words}, app ${app}`;
    const sinceMs = lastAt.get(key) ?? atMs;
    // After a resync, an app has discarded all shown messages.
    const isReloaded = reloads.some((reload) => reload.app === app && reload.atMs > sinceMs && reload.atMs <= atMs);
    times.set(key, isReloaded ? 1 : (times.get(key) ?? 0) + 1);
    lastAt.set(key, atMs);
    if (times.get(key)! > 1) wrong.push(`shown ${times.get(key)} times: ${words}, app ${app}`);
  }
  const apps = new Map(journal.of('listening').map(({ app, user }) => [app, user]));
  const kills = journal.of('fault').filter(({ fault }) => fault.startsWith('kill'));
  const completed = new Set(tasks.filter(({ state }) => state === 'completed').map(({ id }) => id));
  for (const { task, user, text, atMs } of journal.of('kept')) {
    if (!completed.has(task) || kills.some((kill) => Math.abs(kill.atMs - atMs) < killMs)) continue;
    const words = text.replace(/^the /, '');
    for (const [app, owner] of apps)
      if (owner === user && !times.has(`${words}, app ${app}`) && !reloads.some((r) => r.app === app && r.atMs > atMs))
        wrong.push(`app ${app} was never shown: ${words}, of task ${task}`);
  }
  return wrong;
}

/**
 * Tasks of a session are written in order, except that the answer to a question precedes messages from before the
 * question; if its delivery is unknown, the next message takes its place (`claimTasks`).
 */
function judgeTurns(journal: Journal, tasks: readonly TaskRow[]): string[] {
  const wrong: string[] = [];
  const rows = new Map(tasks.map((row) => [row.id, row]));
  const answers = (earlier: readonly TaskRow[], at: number) =>
    earlier.slice(0, at).findLast(({ state }) => state !== 'unknown')?.state === 'waiting';
  const before = new Map<string, TaskRow[]>();
  for (const { task } of journal.of('written')) {
    const row = rows.get(task);
    if (!row) continue;
    const earlier = before.get(row.session_key) ?? [];
    before.set(row.session_key, [...earlier, row]);
    const overtaken = earlier.filter(({ seq }, at) => seq > row.seq && !answers(earlier, at));
    if (overtaken.length > 0) wrong.push(`task ${task} was written after ${overtaken[0]!.id}, which is later`);
  }
  return wrong;
}
