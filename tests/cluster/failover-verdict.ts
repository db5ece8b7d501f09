/**
 * Excuses for sentences of the verdict after a failover with lost commits (ADR 32). Pure. Only a task can be excused whose commit
 * may be lost, and only for what its owner is told: that it is not there, or that its outcome is not known.
 */
import type { Journal } from './journal.ts';

/** `from`, `to`: the part of the journal in which the standby was behind. */
export function lossesOf(journal: Journal, { from, to }: { from: number; to: number }) {
  /** Tasks that were accepted, written or ended in that time. */
  const touched = new Set<string>();
  for (const entry of journal.entries.slice(from, to))
    if (entry.what === 'accepted' || entry.what === 'written' || entry.what === 'completed') touched.add(entry.task);
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
 * The daemon had completed the task before the connection opened over which it got the task again: it listed the task nowhere, and the
 * database that took over knew neither its claim nor its end (docs/reliability.md, "What is open").
 */
function wasForgotten(journal: Journal, task: string): boolean {
  const { entries } = journal;
  const [first, second, ...more] = journal.of('written').filter((entry) => entry.task === task);
  if (!first || !second || more.length > 0 || first.connection === second.connection) return false;
  const opened = entries.findIndex((entry) => entry.what === 'connected' && entry.connection === second.connection);
  return entries.slice(0, opened).some((entry) => entry.what === 'completed' && entry.task === task);
}
