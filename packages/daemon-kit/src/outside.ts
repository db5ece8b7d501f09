/**
 * Sessions that the agent keeps in files of its own, also those begun at the desk: how they join the history of the daemon. Pure but
 * for the store. What is stored is never dropped or renumbered; a merge only appends what the agent has behind the last message
 * that both know.
 */
import { createHash } from 'node:crypto';
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
  /** ISO 8601 */
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

const tailLength = 400;

/** What of `outside` is new behind the last message that both know. Messages older than the last own one are not new. */
export function newBehind(stored: readonly HistoryMessage[], outside: readonly OutsideMessage[]): OutsideMessage[] {
  const mine = stored.slice(-tailLength);
  const theirs = outside.slice(-tailLength);
  const last = lastCommon(mine.map(keyOf), theirs.map(keyOf));
  const own = stored.findLast(({ uuid }) => !isForeign(uuid))?.timestamp;
  const since = own === undefined ? -Infinity : Date.parse(own);
  return theirs.slice(last + 1).filter(({ timestamp }) => !(Date.parse(timestamp) < since));
}

const keyOf = ({ role, content }: { role: string; content: string }) => `${role}\n${content.trim()}`;

/** The index in `b` of the last element of a longest common subsequence; -1 if they share nothing. */
function lastCommon(a: readonly string[], b: readonly string[]): number {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const above = length[(i - 1) * width + j] ?? 0;
      const left = length[i * width + j - 1] ?? 0;
      const both = (length[(i - 1) * width + j - 1] ?? 0) + 1;
      length[i * width + j] = a[i - 1] === b[j - 1] ? Math.max(above, left, both) : Math.max(above, left);
    }
  }
  const whole = length[a.length * width + b.length] ?? 0;
  if (whole === 0) return -1;
  let j = b.length;
  while (j > 0 && length[a.length * width + j - 1] === whole) j--;
  return j - 1;
}

/** UUIDs of version 5 are made from the agent's ids; our own are random. */
const isForeign = (uuid: string) => uuid[14] === '5';

/** RFC 9562 version 5 over the session and the agent's id of the message, so that it is the same whenever it is made. */
export function foreignUuid(sessionId: string, id: string): string {
  const namespace = Buffer.from('5b0b7c3e9a1f4d5c8e2a6f7d1c3b9e40', 'hex');
  const hash = createHash('sha1').update(namespace).update(`${sessionId}\n${id}`).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
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
      const fresh = newBehind(store.messages(sessionId) ?? [], found.messages);
      const added = store.take(
        sessionId,
        fresh.map(({ id, ...message }) => ({ uuid: foreignUuid(sessionId, id), ...message })),
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
