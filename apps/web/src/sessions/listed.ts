/** The list of sessions as plain data: what frames do to it, and how it is grouped. */
import type { AttentionFrame, Device, Session } from '@relay/protocol';
import { dayKey } from '../catalogue.ts';

export interface Filter {
  device: string | undefined;
  archived: boolean;
}

export interface Listed {
  /** Sessions that match the filter, and all that wait for the person; newest first. */
  sessions: readonly Session[];
  nextCursor?: string | undefined;
}

export const needsYou = (session: Session): boolean => session.status === 'waiting' && !session.archived;
const passes = (session: Session, { device, archived }: Filter): boolean =>
  session.archived === archived && (device === undefined || session.deviceId === device);

export function joined(sessions: readonly Session[], others: readonly Session[]): Session[] {
  const known = new Set(sessions.map(({ id }) => id));
  const all = [...sessions, ...others.filter(({ id }) => !known.has(id))];
  return all.sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
}

/** Applies a frame to the list; returns the same list when the frame is about something else. */
export function after(list: Listed, frame: AttentionFrame, filter: Filter): Listed {
  if (frame.type === 'session_removed')
    return { ...list, sessions: list.sessions.filter(({ id }) => id !== frame.sessionId) };
  if (frame.type !== 'session_update') return list;
  const { session, previousId } = frame;
  const known = list.sessions.find(({ id }) => id === session.id);
  // Two instances that tell of one session may cross.
  if (known && previousId === undefined && session.updatedAt < known.updatedAt) return list;
  const others = list.sessions.filter(({ id }) => id !== session.id && id !== previousId);
  const belongs = passes(session, filter) || needsYou(session);
  return { ...list, sessions: belongs ? joined([session], others) : others };
}

export const groupings = ['project', 'day', 'machine'] as const;
export type Grouping = (typeof groupings)[number];

export interface Group {
  key: string;
  /** A local day, a folder or the id of a machine. */
  sessions: readonly Session[];
  /** All of them are on this machine. */
  deviceId: string | undefined;
}

const keyOf: Readonly<Record<Grouping, (session: Session) => string>> = {
  project: ({ deviceId, projectPath }) => `${deviceId} ${projectPath}`,
  day: ({ updatedAt }) => dayKey(updatedAt),
  machine: ({ deviceId }) => deviceId,
};

/** Sessions that wait for the person, the oldest question first; the rest in groups, the newest first. Each is in one place only. */
export function arranged(
  sessions: readonly Session[],
  filter: Filter,
  by: Grouping,
): { needs: Session[]; groups: Group[] } {
  const askedAt = ({ prompt, updatedAt }: Session) => prompt?.at ?? updatedAt;
  const needs = filter.archived ? [] : sessions.filter(needsYou).sort((a, b) => askedAt(a).localeCompare(askedAt(b)));
  const groups = new Map<string, Session[]>();
  for (const session of sessions) {
    if (needs.includes(session) || !passes(session, filter)) continue;
    const key = keyOf[by](session);
    const group = groups.get(key);
    if (group) group.push(session);
    else groups.set(key, [session]);
  }
  return {
    needs,
    groups: [...groups].map(([key, all]) => ({
      key,
      sessions: all,
      deviceId: by === 'day' ? undefined : all[0]!.deviceId,
    })),
  };
}

/** Whether a session has these words, whatever their case. */
export function matches(session: Session, device: Device | undefined, words: string): boolean {
  const text = [session.title, session.projectPath, session.lastMessage, device?.name].join('\n').toLocaleLowerCase();
  return words
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
