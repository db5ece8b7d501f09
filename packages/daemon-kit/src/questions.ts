/**
 * The newest question of each session, on disk: its task, and whether it can still be answered. An agent that holds its question
 * in a turn can withdraw it, and the question does not outlive that process (rules, 5.10, 5.11); any question can be dismissed. A
 * choice for a closed question is refused; free text is a message. An unreadable or unwritable file costs only this record.
 */
import { readIfPresent, reasonOf, replaceOwnerFile } from '@relay/machine';
import { keepHead } from './bounds.ts';
import type { Clock } from './clock.ts';

export interface Questions {
  /** A task asked a question and settled. The relay can receive it later. */
  opened(sessionId: string, question: { taskId: string; prompt: string; labels: readonly string[] }): void;
  /** The relay has received the result of this task. */
  confirmed(taskId: string): void;
  /** The newest question of the session can no longer be answered. */
  gone(sessionId: string, why: string): void;
  /** The task that asked has settled again since, or was cancelled: it awaits no answer. */
  over(taskId: string): void;
  /** The newest question of the session waits for an answer. */
  isOpen(sessionId: string): boolean;
  /** The session got another message. */
  forget(sessionId: string): void;
  /**
   * Returns the reason for refusing this text, if it chooses an option of a question that was closed or replaced in the meantime.
   */
  refusal(sessionId: string, words: string): string | undefined;
  /** Sessions whose newest task asked a question, and that received no message since. */
  waiting(): { sessionId: string; taskId: string }[];
}

interface Entry {
  taskId: string;
  prompt: string;
  labels: string[];
  gone?: { why: string; at: number };
  over?: boolean;
}

const maxSessions = 500;
const labelBytes = 200;
/** A choice that arrives later does not count as a late answer: no app has shown the question since. */
const lateMs = 3_600_000;

export function openQuestions({
  file,
  clock,
  onTrouble,
}: {
  file: string;
  clock: Pick<Clock, 'now'>;
  onTrouble: (what: string, why: string) => void;
}): Questions {
  const entries = new Map<string, Entry>(read(file, onTrouble));
  /** Tasks whose question replaced one still visible in apps: a message sent before they received it answers neither. */
  const unconfirmed = new Set<string>();

  const write = () => {
    try {
      replaceOwnerFile(file, JSON.stringify([...entries]));
    } catch (error) {
      onTrouble('questions not written', reasonOf(error));
    }
  };
  const of = (taskId: string) => [...entries].find(([, entry]) => entry.taskId === taskId);

  return {
    opened(sessionId, { taskId, prompt, labels }) {
      if (entries.get(sessionId)?.gone) unconfirmed.add(taskId);
      entries.delete(sessionId);
      entries.set(sessionId, {
        taskId,
        prompt: keepHead(prompt, labelBytes),
        labels: labels.map((label) => keepHead(label, labelBytes)),
      });
      const [oldest] = entries.keys();
      if (entries.size > maxSessions && oldest !== undefined) entries.delete(oldest);
      write();
    },
    confirmed: (taskId) => void unconfirmed.delete(taskId),
    gone(sessionId, why) {
      const entry = entries.get(sessionId);
      if (!entry || entry.gone) return;
      entry.gone = { why, at: clock.now() };
      write();
    },
    over(taskId) {
      const entry = of(taskId)?.[1];
      if (!entry || entry.over) return;
      entry.over = true;
      write();
    },
    isOpen(sessionId) {
      const entry = entries.get(sessionId);
      return entry !== undefined && !entry.gone && !entry.over;
    },
    forget(sessionId) {
      if (entries.delete(sessionId)) write();
    },
    refusal(sessionId, words) {
      const entry = entries.get(sessionId);
      if (!entry) return undefined;
      if (unconfirmed.has(entry.taskId)) return 'The agent has asked another question since. Answer that one instead.';
      if (!entry.gone || clock.now() > entry.gone.at + lateMs || chosen(words, entry.labels) < 0) return undefined;
      return `“${entry.prompt}” can no longer be answered: ${entry.gone.why} Nothing was sent to the agent. To send a message, use other words.`;
    },
    waiting: () => [...entries].flatMap(([sessionId, { taskId, over }]) => (over ? [] : [{ sessionId, taskId }])),
  };
}

/**
 * Returns the index of the chosen label; -1 without a match. A label is chosen by its text in any case, or by its number (1 is
 * the first).
 */
export function chosen(words: string, labels: readonly string[]): number {
  const exact = named(words, labels);
  const text = words.trim();
  if (exact >= 0 || !/^\d{1,4}$/.test(text)) return exact;
  const number = Number(text);
  return number >= 1 && number <= labels.length ? number - 1 : -1;
}

/** The same by text alone. */
export function named(words: string, labels: readonly string[]): number {
  const text = words.trim().toLowerCase();
  return labels.findIndex((label) => label.trim().toLowerCase() === text);
}

function read(file: string, onTrouble: (what: string, why: string) => void): [string, Entry][] {
  try {
    const rows: unknown = JSON.parse(readIfPresent(file) ?? '[]');
    return (Array.isArray(rows) ? rows : []).filter(isRow);
  } catch (error) {
    onTrouble('questions not read', reasonOf(error));
    return [];
  }
}

/** The file is ours, but an older or newer daemon might have written it. */
function isRow(row: unknown): row is [string, Entry] {
  if (!Array.isArray(row) || typeof row[0] !== 'string') return false;
  const { taskId, prompt, labels } = (row[1] ?? {}) as Record<string, unknown>;
  return typeof taskId === 'string' && typeof prompt === 'string' && Array.isArray(labels);
}
