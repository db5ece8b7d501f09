/**
 * Sessions that the agent keeps in files of its own, also those begun at the desk: how they join the history of the daemon. Pure but
 * for the store. What is stored is never dropped or renumbered; a merge only appends what the agent has behind the last message
 * that both know.
 */
import type { Operation } from '@relay/protocol';
import { foreignUuid } from '@relay/protocol/identity';
import type { HistoryMessage } from './history.ts';
import type { SessionSummary, Store } from './store.ts';

export interface OutsideMessage {
  /** The agent's own id of the message; equal whenever it is read. */
  id: string;
  role: 'USER' | 'AGENT';
  content: string;
  /** ISO 8601. */
  timestamp: string;
}

export interface OutsideSession {
  sessionId: string;
  title: string;
  projectPath: string;
  lastMessage: string;
  /** ISO 8601; empty when the agent does not tell. */
  lastActivity: string;
  messageCount: number;
  /** A turn runs there. */
  isActive: boolean;
}

/** What the agent keeps by itself. Reads only; must not move or touch anything. */
export interface Outside {
  /** Newest first, as many as are worth reporting. Reads only what has changed since it was called last. */
  sessions(): OutsideSession[];
  /** Changes with the session; undefined when there is none. Cheap: called every second for watched sessions. */
  stamp(sessionId: string): string | undefined;
  /** The conversation, oldest first. `open`: the last turn is not over. */
  read(sessionId: string): { projectPath: string; messages: OutsideMessage[]; open: boolean } | undefined;
  /**
   * For what must be asked for: brings `sessions` and `stamp` up to date. Called often, asks seldom. True when something changed.
   * Never rejects.
   */
  refresh?(): Promise<boolean>;
  /**
   * Brings `read` of this session up to date when it has anything later than `since` (ISO 8601; undefined: nothing is known of it);
   * undefined when there is nothing to wait for. Never rejects.
   */
  fetch?(sessionId: string, since: string | undefined): Promise<void> | undefined;
}

/** Of what is stored behind the last message with an id of the agent, the last so many are looked for by their words. */
const comparedLength = 400;

/**
 * What of `outside` is new: what stands behind the last message that is stored under its id, and from there on behind the last words that
 * both know, because what the daemon wrote itself is stored under ids of its own. Messages older than the last own one are not new. All is
 * new when nothing is stored. Linear in both, `comparedLength` steps a message at most.
 */
export function newBehind(
  sessionId: string,
  stored: readonly HistoryMessage[],
  outside: readonly OutsideMessage[],
): OutsideMessage[] {
  const places = new Map(stored.map(({ uuid }, place) => [uuid, place]));
  const placeOf = (message?: OutsideMessage) => message && places.get(foreignUuid(sessionId, message.id));
  const anchor = outside.findLastIndex((message) => placeOf(message) !== undefined);
  const mine = stored.slice((placeOf(outside[anchor]) ?? -1) + 1).slice(-comparedLength);
  const theirs = outside.slice(anchor + 1);
  const last = lastCommon(mine.map(keyOf), theirs);
  const named = new Set(outside.map(({ id }) => foreignUuid(sessionId, id)));
  const own = stored.findLast(({ uuid }) => !named.has(uuid))?.timestamp;
  const since = own === undefined ? -Infinity : Date.parse(own);
  return theirs.slice(last + 1).filter(({ timestamp }) => !(Date.parse(timestamp) < since));
}

const keyOf = ({ role, content }: { role: string; content: string }) => `${role}\n${content.trim()}`;

/**
 * The index in `theirs` where a longest common subsequence is complete first; -1 if they share nothing. The table is made column by
 * column, and only for words that are in `mine` at all: memory for one column, and that many steps at most for each of `theirs`.
 */
function lastCommon(mine: readonly string[], theirs: readonly OutsideMessage[]): number {
  const words = new Set(mine);
  /** Of the first `i` of `mine` with all of `theirs` so far. */
  const length = new Uint16Array(mine.length + 1);
  let last = -1;
  for (const [index, message] of theirs.entries()) {
    const whole = length[mine.length];
    if (whole === mine.length) break;
    const key = keyOf(message);
    if (!words.has(key)) continue;
    let before = 0;
    for (let i = 1; i <= mine.length; i++) {
      const above = length[i] ?? 0;
      length[i] = mine[i - 1] === key ? before + 1 : Math.max(above, length[i - 1] ?? 0);
      before = above;
    }
    if (length[mine.length] !== whole) last = index;
  }
  return last;
}

export interface Joined {
  /** Takes over what is new in a session. True for `known` when the session is in the store afterwards. */
  sync(sessionId: string): { known: boolean; added: number; completed: boolean };
  /** What the store and the agent know together, last activity first. */
  sessions(): (SessionSummary & { isActive: boolean })[];
  stamp(sessionId: string): string | undefined;
}

/** `isBusy`: a turn of ours runs in the session; what the agent wrote of it is not taken over before it has ended. */
export function joinOutside(
  store: Store,
  outside: Outside | undefined,
  isBusy: (sessionId: string) => boolean,
  onWritten?: (sessionId: string, ops: readonly Operation[], v: number) => void,
): Joined {
  const synced = new Map<string, string>();
  return {
    stamp: (sessionId) => outside?.stamp(sessionId),
    sync(sessionId) {
      const nothing = { known: store.has(sessionId), added: 0, completed: false };
      const stamp = outside?.stamp(sessionId);
      if (!outside || stamp === undefined || isBusy(sessionId) || synced.get(sessionId) === stamp) return nothing;
      const found = outside.read(sessionId);
      if (!found) return nothing;
      if (!store.has(sessionId)) store.create(sessionId, found.projectPath);
      const fresh = newBehind(sessionId, store.messages(sessionId, 'spoken') ?? [], found.messages);
      const added = store.take(
        sessionId,
        fresh.map(({ id, ...message }) => ({ uuid: foreignUuid(sessionId, id), ...message })),
        onWritten && ((ops, v) => onWritten(sessionId, ops, v)),
      );
      synced.set(sessionId, stamp);
      const [oldest] = synced.keys();
      if (synced.size > 1000 && oldest !== undefined) synced.delete(oldest);
      return { known: true, added, completed: added > 0 && !found.open && fresh.at(-1)?.role === 'AGENT' };
    },
    sessions() {
      const theirs = new Map((outside?.sessions() ?? []).map((session) => [session.sessionId, session]));
      const mine = store.sessions().map((summary) => {
        const other = theirs.get(summary.sessionId);
        theirs.delete(summary.sessionId);
        if (!other) return { ...summary, isActive: false };
        const later = other.lastActivity > summary.lastActivity;
        return {
          ...summary,
          title: other.title || summary.title,
          projectPath: summary.projectPath || other.projectPath,
          ...(later ? { lastActivity: other.lastActivity } : {}),
          ...(later && other.lastMessage !== '' ? { lastMessage: other.lastMessage } : {}),
          isActive: other.isActive,
        };
      });
      return [...mine, ...theirs.values()].sort((a, b) => (a.lastActivity < b.lastActivity ? 1 : -1));
    },
  };
}
