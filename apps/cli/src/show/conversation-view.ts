/** A conversation on a screen: messages as paragraphs, everything else as lines between them. */
import { type Session, isPlaceholder, parseSessionId } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import type { SessionEvent } from '../follow.ts';
import { nameOf } from '../naming.ts';
import { createItemsView } from './items.ts';
import { promptText, questionsOf } from './question.ts';
import { paintOf, styleOf } from './style.ts';
import { oneLine, plain } from './text.ts';

interface Shown {
  /** The conversation, for standard output. */
  out?: string;
  /** Reports about the connection, for standard error. */
  err?: string;
}

export interface ConversationWish {
  /** Begin with a line that names the session. */
  heading: boolean;
  thoughts?: boolean | undefined;
  full?: boolean | undefined;
}

/**
 * Returns a function that formats each event, and remembers the shown state of the session. With `heading`, the output begins with the
 * name of the session.
 */
export function createConversationView(
  terminal: Terminal,
  { heading, thoughts = false, full = false }: ConversationWish,
): (event: SessionEvent) => Shown {
  const style = styleOf(terminal);
  const columns = terminal.outIsScreen ? terminal.columns : Infinity;
  const items = createItemsView({ style, columns, thoughts, full });
  /** With items, tool calls are printed as items, so the session's activity line would repeat them. */
  let hasItems = false;
  /** The newest shown questions. */
  const shownQuestions = new Set<string>();
  let seen: Session | undefined;

  /** Returns the questions that were not shown yet. Several open questions are numbered. */
  const questions = (now: Session): string[] => {
    if (now.status !== 'waiting') return [];
    const open = questionsOf(now);
    const fresh = open.filter((prompt) => !shownQuestions.has(prompt.id ?? prompt.at));
    for (const prompt of fresh) shownQuestions.add(prompt.id ?? prompt.at);
    for (const old of shownQuestions) if (shownQuestions.size > maxShownQuestions) shownQuestions.delete(old);
    return fresh.map((prompt) => promptText(prompt, now.id, style, open));
  };

  const session = (now: Session): string => {
    const before = seen;
    seen = now;
    const lines: string[] = [];
    // After sending a message, the user knows the state of the session.
    if (!before && !heading) return '';
    if (!before) {
      const facts = [oneLine(now.title) || '(no title)', now.agentType, oneLine(now.projectPath), now.status];
      lines.push(style('bold', facts.filter((fact) => fact !== '').join(' · ')), style('dim', now.id));
    } else if (before.status !== now.status) lines.push(style(paintOf(now.status), `· ${now.status}`));
    if (before && isPlaceholder(nativeOf(before)) && before.id !== now.id) {
      lines.push(style('dim', `· session ${nameOf(now.id)}`));
    }
    if (now.progress && !hasItems && now.progress.at !== before?.progress?.at) {
      lines.push(style('dim', `· ${oneLine(`${now.progress.action} ${now.progress.target}`)}`));
    }
    lines.push(...questions(now));
    return lines.map((line) => `${line}\n`).join('');
  };

  const show = (event: SessionEvent): Shown => {
    switch (event.type) {
      case 'new_message':
        return { out: items.message(event.message) };
      case 'item':
        hasItems = true;
        return { out: items.item(event.item) };
      case 'session_update':
        return { out: session(event.session) };
      case 'task_output':
        return { out: style('dim', plain(event.output).replace(/\n?$/, '\n')) };
      case 'device_status':
        return { err: `The device is ${event.status}.\n` };
      case 'session_removed':
        return { err: 'The session was removed.\n' };
      case 'device_removed':
        return { err: 'The device was removed.\n' };
      case 'history_error':
        return { err: `Earlier messages cannot be shown: ${oneLine(event.error)} (${event.code})\n` };
      case 'connection':
        return { err: event.state === 'lost' ? lostText(event) : 'Reconnected.\n' };
      case 'resync':
        return { err: resyncText };
      case 'task':
        return {};
    }
  };
  return (event) => {
    const shown = show(event);
    if (event.type === 'item' || event.type === 'new_message') return shown;
    // A growing text needs a line break before other output.
    if (shown.out) return { out: `${items.interrupt()}${shown.out}` };
    return shown.err ? { ...shown, out: items.interrupt() } : shown;
  };
}

/** Number of remembered questions. */
const maxShownQuestions = 1000;

const nativeOf = ({ id }: Session) => parseSessionId(id)?.nativeId ?? '';

export const lostText = ({ why, waitMs }: { why: string; waitMs: number }) =>
  `Connection lost: ${oneLine(why)}. Retrying in ${Math.max(1, Math.round(waitMs / 1000))} s.\n`;

const resyncText = 'Some events may have been missed; loading the current state.\n';
