/** All events, one line each: the machine, the session, and the event. */
import { isOutdated } from '@relay/client';
import type { Device, Prompt, Session } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import type { AnyFrame } from '../happenings.ts';
import { nameOf } from '../naming.ts';
import { createRecentItems } from '../recent-items.ts';
import { itemLine } from './item.ts';
import { questionsOf } from './question.ts';
import { paintOf, styleOf } from './style.ts';
import { fitted, oneLine } from './text.ts';
import { clockTime } from './times.ts';

const maxRemembered = 5000;

/** Returns the line for a frame, empty if the frame shows no visible change. Remembers names and states. */
export function createOverview(
  terminal: Terminal,
  initial: { sessions: readonly Session[]; devices: readonly Device[] },
) {
  const style = styleOf(terminal);
  const sessions = new Map(initial.sessions.map((session) => [session.id, session]));
  const devices = new Map(initial.devices.map(({ id, name }) => [id, oneLine(name)]));
  const items = createRecentItems();

  const line = (where: string, what: string, paint = paintOf(what)) => {
    const start = `${style('dim', clockTime(new Date().toISOString()))} ${where}: `;
    // The time and the colours before it are not counted: the result is close enough.
    const room = terminal.outIsScreen ? Math.max(20, terminal.columns - where.length - 11) : Infinity;
    return `${start}${style(paint, fitted(oneLine(what), room))}\n`;
  };
  const deviceName = (id: string) => devices.get(id) ?? id;
  const place = (id: string) => {
    const session = sessions.get(id);
    if (!session) return nameOf(id);
    return `${deviceName(session.deviceId)} · ${fitted(oneLine(session.title), 40)} [${nameOf(id)}]`;
  };
  const remember = (session: Session) => {
    sessions.set(session.id, session);
    if (sessions.size > maxRemembered) sessions.delete(sessions.keys().next().value!);
  };
  const changes = (now: Session, before: Session | undefined): string => {
    const lines: string[] = [];
    if (now.status !== before?.status) lines.push(line(place(now.id), now.status));
    if (now.progress && now.progress.at !== before?.progress?.at) {
      lines.push(line(place(now.id), `${now.progress.action} ${now.progress.target}`, 'dim'));
    }
    const nameOfQuestion = ({ id, at }: Prompt) => id ?? at;
    const earlier = new Set(before ? questionsOf(before).map(nameOfQuestion) : []);
    for (const prompt of now.status === 'waiting' ? questionsOf(now) : []) {
      if (earlier.has(nameOfQuestion(prompt))) continue;
      const about = [prompt.prompt, prompt.context ?? prompt.subject?.command].filter(Boolean).join(' · ');
      lines.push(line(place(now.id), `asks: ${about}`, 'yellow'));
    }
    return lines.join('');
  };

  return (frame: AnyFrame): string => {
    switch (frame.type) {
      case 'session_update': {
        const before = sessions.get(frame.previousId ?? '') ?? sessions.get(frame.session.id);
        if (isOutdated(frame, before)) return '';
        sessions.delete(frame.previousId ?? '');
        remember(frame.session);
        return changes(frame.session, before);
      }
      case 'new_message': {
        const { role, content } = frame.message;
        return line(
          place(frame.sessionId),
          `${role === 'USER' ? 'you' : role.toLowerCase()}: ${content.slice(0, 2000)}`,
        );
      }
      case 'transcript':
        return items
          .apply(frame)
          .map(itemLine)
          .filter((text) => text !== '')
          .map((text) => line(place(frame.sessionId), text, 'dim'))
          .join('');
      case 'device_status':
        return line(deviceName(frame.deviceId), frame.status);
      case 'session_removed':
        return line(place(frame.sessionId), 'removed', 'dim');
      case 'sessions_changed':
        return `${style('dim', clockTime(new Date().toISOString()))} ${frame.count} sessions changed\n`;
      case 'access_granted':
        return line(
          'Your account',
          `the ${frame.kind} ${oneLine(frame.name)} was given access; if that was not you, revoke it in the web app`,
          'yellow',
        );
      case 'device_removed':
        return line(deviceName(frame.deviceId), 'removed', 'dim');
      default:
        return '';
    }
  };
}
