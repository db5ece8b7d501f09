/** A conversation on a screen: messages as paragraphs, everything else as a line between them. */
import { type Message, type Prompt, type Session, isPlaceholder, parseSessionId } from '@relay/protocol';
import type { Said } from '../follow.ts';
import { nameOf } from '../naming.ts';
import type { Terminal } from '../terminal.ts';
import { type Paint, paintOf, styleOf } from './style.ts';
import { oneLine, plain } from './text.ts';
import { clockTime } from './times.ts';

export interface Shown {
  /** What was said: results. */
  out?: string;
  /** About the connection: not part of the conversation. */
  err?: string;
}

const speakers: Readonly<Record<string, readonly [name: string, paint: Paint]>> = {
  USER: ['you', 'cyan'],
  AGENT: ['agent', 'green'],
  SYSTEM: ['relay', 'yellow'],
};

/**
 * Returns what to print for each thing that happens; remembers what the person has seen of the session. With `heading` the
 * first thing is what session that is.
 */
export function createConversationView(terminal: Terminal, heading: boolean): (said: Said) => Shown {
  const style = styleOf(terminal);
  let seen: Session | undefined;

  const message = ({ role, content, timestamp, truncated }: Message) => {
    const [name, paint] = speakers[role] ?? [role.toLowerCase(), 'dim'];
    const cut = truncated ? style('dim', '\n(cut at 256 KiB)') : '';
    return `\n${style(paint, name)} ${style('dim', clockTime(timestamp))}\n${plain(content).trimEnd()}${cut}\n`;
  };

  const session = (now: Session): string => {
    const before = seen;
    seen = now;
    const lines: string[] = [];
    // Somebody who has just said something knows how things stood before.
    if (!before && !heading) return '';
    if (!before) {
      const facts = [oneLine(now.title) || '(no title)', now.agentType, oneLine(now.projectPath), now.status];
      lines.push(style('bold', facts.filter((fact) => fact !== '').join(' · ')), style('dim', now.id));
    } else if (before.status !== now.status) lines.push(style(paintOf(now.status), `· ${now.status}`));
    if (before && isPlaceholder(nativeOf(before)) && before.id !== now.id) {
      lines.push(style('dim', `· session ${nameOf(now.id)}`));
    }
    if (now.progress && now.progress.at !== before?.progress?.at) {
      lines.push(style('dim', `· ${oneLine(`${now.progress.action} ${now.progress.target}`)}`));
    }
    if (now.prompt && now.status === 'waiting' && now.prompt.at !== before?.prompt?.at) {
      lines.push(promptText(now.prompt, now.id));
    }
    return lines.map((line) => `${line}\n`).join('');
  };

  return (said) => {
    switch (said.type) {
      case 'new_message':
        return { out: message(said.message) };
      case 'session_update':
        return { out: session(said.session) };
      case 'task_output':
        return { out: style('dim', plain(said.output).replace(/\n?$/, '\n')) };
      case 'device_status':
        return { err: `The device is ${said.status}.\n` };
      case 'session_removed':
        return { err: 'The session was removed.\n' };
      case 'history_error':
        return { err: `What was said before cannot be shown: ${oneLine(said.error)} (${said.code})\n` };
      case 'connection':
        return { err: said.state === 'lost' ? lostText(said) : 'Connected again.\n' };
      case 'resync':
        return { err: resyncText };
      case 'task':
        return {};
    }
  };
}

const nativeOf = ({ id }: Session) => parseSessionId(id)?.nativeId ?? '';

export const lostText = ({ why, waitMs }: { why: string; waitMs: number }) =>
  `Connection lost: ${oneLine(why)}. Trying again in ${Math.max(1, Math.round(waitMs / 1000))} s.\n`;

export const resyncText = 'Something may have been missed meanwhile; the newest state is loaded again.\n';

/** What the agent asks, and how to answer it. */
export function promptText({ id, prompt, context, options }: Prompt, sessionId: string): string {
  const about = context && !prompt.includes(context) ? `\n${plain(context).trim()}` : '';
  const choices = options.map(({ label }, index) => `  ${index + 1}) ${oneLine(label)}\n`).join('');
  const how = options.length > 0 ? '--option <number>' : '<text>';
  // An answer typed later must not reach a question that came meanwhile.
  const which = id === undefined ? '' : ` --question ${id.slice(0, 8)}`;
  return `\nThe agent asks: ${plain(prompt).trim()}${about}\n${choices}Answer with: relay answer ${nameOf(sessionId)}${which} ${how}`;
}
