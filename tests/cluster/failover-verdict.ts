/**
 * Excuses sentences of the verdict after a failover with lost commits (ADR 32). Pure. Only a task with a possibly lost
 * commit is excused, and only for results that its owner can see: it does not exist, or its outcome is unknown.
 */
import type { Entry, Journal } from './journal.ts';

const isEnd = (entry: Entry): entry is Extract<Entry, { what: 'completed' | 'stopped' }> =>
  entry.what === 'completed' || entry.what === 'stopped';

/** `from` and `to` delimit the part of the journal in which the standby was behind. */
export function lossesOf(journal: Journal, { from, to }: { from: number; to: number }) {
  /** Tasks that were accepted, written, completed or stopped in that time. */
  const touched = new Set<string>();
  for (const entry of journal.entries.slice(from, to))
    if (entry.what === 'accepted' || entry.what === 'written' || isEnd(entry)) touched.add(entry.task);
  return {
    touched: touched as ReadonlySet<string>,
    isExcused: (sentence: string): boolean => {
      const [, task, what] = /^task (\S+) (?:of \S+ )?((?:was|is) .*)$/.exec(sentence) ?? [];
      if (task === undefined || what === undefined || !touched.has(task)) return false;
      if (what === 'was written twice') return wasForgotten(journal, task);
      return what === 'was accepted and is not there' || /^is (unknown|failed TASK_LOST)\b/.test(what);
    },
  };
}

/**
 * The daemon completed or stopped the task before it opened the connection that delivered the task again: it listed the task
 * nowhere, and the new primary knew neither its claim nor its outcome (docs/reliability.md, "Open issues").
 */
function wasForgotten(journal: Journal, task: string): boolean {
  const { entries } = journal;
  const [first, second, ...more] = journal.of('written').filter((entry) => entry.task === task);
  if (!first || !second || more.length > 0 || first.connection === second.connection) return false;
  const opened = entries.findIndex((entry) => entry.what === 'connected' && entry.connection === second.connection);
  return entries.slice(0, opened).some((entry) => isEnd(entry) && entry.task === task);
}
