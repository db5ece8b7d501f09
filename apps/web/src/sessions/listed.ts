/** The list of sessions as plain data: the effect of frames, and the grouping. */
import { isOutdated } from '@relay/client';
import type { AttentionFrame, Device, Session, SessionStatus } from '@relay/protocol';
import { dayKey } from '../catalogue.ts';

/** A person filters by these. */
export const statuses = ['waiting', 'active', 'failed', 'idle'] as const satisfies readonly SessionStatus[];

export interface Filter {
  device: string | undefined;
  status: SessionStatus | undefined;
  archived: boolean;
}
export const noFilter: Filter = { device: undefined, status: undefined, archived: false };
export const isSame = (a: Filter, b: Filter): boolean =>
  a.device === b.device && a.status === b.status && a.archived === b.archived;

export const filterKey = (filter: Filter): string => JSON.stringify(filter);
/** The filter that the address of the list has. */
export const filterIn = (query: URLSearchParams): Filter => ({
  device: query.get('device') ?? undefined,
  status: statuses.find((one) => one === query.get('status')),
  archived: query.has('archived'),
});

/** The filter as `GET /api/sessions` takes it. */
export const queryOf = ({ device, status, archived }: Filter) => ({
  ...(device === undefined ? {} : { deviceId: device }),
  ...(status === undefined ? {} : { status }),
  archived: archived ? ('true' as const) : ('false' as const),
});

export interface Listed {
  /** Sessions that match the filter, and all that wait for the person; newest first. */
  sessions: readonly Session[];
  nextCursor?: string | undefined;
}

export const needsYou = (session: Session): boolean => session.status === 'waiting' && !session.archived;
export const passes = (session: Session, { device, status, archived }: Filter): boolean =>
  session.archived === archived &&
  (device === undefined || session.deviceId === device) &&
  (status === undefined || session.status === status);

export function joined(sessions: readonly Session[], ...others: readonly (readonly Session[])[]): Session[] {
  const all = new Map(sessions.map((session) => [session.id, session]));
  for (const session of others.flat()) if (!all.has(session.id)) all.set(session.id, session);
  return [...all.values()].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
}

/** Applies a frame to the list; returns the same list when the frame is about something else. */
export function after<L extends Listed>(list: L, frame: AttentionFrame, belongs: (session: Session) => boolean): L {
  if (frame.type === 'session_removed')
    return { ...list, sessions: list.sessions.filter(({ id }) => id !== frame.sessionId) };
  if (frame.type !== 'session_update') return list;
  const { session, previousId } = frame;
  const previous = list.sessions.find(({ id }) => id === session.id);
  if (isOutdated(frame, previous)) return list;
  const others = list.sessions.filter(({ id }) => id !== session.id && id !== previousId);
  return { ...list, sessions: belongs(session) ? joined([session], others) : others };
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

export interface Arranged {
  needs: Session[];
  pinned: Session[];
  groups: Group[];
}

/**
 * Sessions that wait for the person, the oldest question first, unless they are `snoozed`; then the pinned ones; the rest in groups, the newest first. Each is in one
 * place only.
 */
export function arranged(
  sessions: readonly Session[],
  filter: Filter,
  by: Grouping,
  snoozed: ReadonlySet<string> = new Set(),
): Arranged {
  const isNeedy = (session: Session) => needsYou(session) && !snoozed.has(session.id);
  const waitingSince = ({ prompt, updatedAt }: Session) => prompt?.at ?? updatedAt;
  const needs = filter.archived
    ? []
    : sessions.filter(isNeedy).sort((a, b) => waitingSince(a).localeCompare(waitingSince(b)));
  const rest = sessions.filter((session) => passes(session, filter) && (filter.archived || !isNeedy(session)));
  const groups = new Map<string, Session[]>();
  for (const session of rest) {
    if (session.pinned) continue;
    const key = keyOf[by](session);
    const group = groups.get(key);
    if (group) group.push(session);
    else groups.set(key, [session]);
  }
  return {
    needs,
    pinned: rest.filter(({ pinned }) => pinned),
    groups: [...groups].map(([key, all]) => ({
      key,
      sessions: all,
      deviceId: by === 'day' ? undefined : all[0]!.deviceId,
    })),
  };
}

/** The first rows of them, as many as given, below the questions. */
export function beginningOf({ needs, pinned, groups }: Arranged, rows: number): Arranged {
  const shown = pinned.slice(0, rows);
  let left = rows - shown.length;
  const first: Group[] = [];
  for (const group of groups) {
    if (left <= 0) break;
    first.push({ ...group, sessions: group.sessions.slice(0, left) });
    left -= group.sessions.length;
  }
  return { needs, pinned: shown, groups: first };
}

/** True if a session contains all these terms, in any case. */
export function matches(session: Session, device: Device | undefined, words: string): boolean {
  const text = [session.title, session.projectPath, session.lastMessage, device?.name].join('\n').toLocaleLowerCase();
  return words
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
