/**
 * Merges sessions that the agent keeps in its own files, including sessions started locally, into the history of the daemon. Pure
 * except for the store. Stored items are never dropped or renumbered; a merge only appends the agent's items after the last
 * common message.
 */
import { type Item, type Operation, isPlain } from '@relay/protocol';
import type { Keep } from './contents.ts';
import type { SessionSummary, Store } from './store.ts';
import { type PastUpdate, type ReplaySettings, type Replayed, replayed } from './transcript/replay.ts';

export interface OutsideSession {
  sessionId: string;
  /** The further agent that has it. */
  agentType?: string;
  title: string;
  projectPath: string;
  lastMessage: string;
  /** ISO 8601; empty if unknown to the agent. */
  lastActivity: string;
  messageCount: number;
  /** A turn is running. */
  isActive: boolean;
}

/** A part of a conversation, cut between turns unless a single turn is larger. */
export interface OutsidePart {
  projectPath: string;
  /** The last message among them is complete. */
  updates: readonly PastUpdate[];
  /** The last turn is still running: its calls can still change. */
  open: boolean;
  /** The place where it begins; 0 when nothing is before it. */
  start: number;
}

/** Reads the sessions that the agent keeps by itself. Must not move or modify anything. */
export interface Outside {
  /** The further agent that has this session, of a daemon with several. */
  agentTypeOf?(sessionId: string): string | undefined;
  /** Newest first, up to a useful number. Reads only files that have changed since the previous call. */
  sessions(): OutsideSession[];
  /** Changes with the session; undefined for an unknown session. Cheap: called every second for watched sessions. */
  stamp(sessionId: string): string | undefined;
  /** The tail of the conversation, or the part before the place where a later part begins: oldest first, at most one read. */
  read(sessionId: string, before?: number): OutsidePart | undefined;
  /**
   * For agents that must be asked, and files that take long to read: refreshes `sessions` and `stamp`. Called often, asks rarely.
   * Resolves true if a change has to be reported. Never rejects.
   */
  refresh?(): Promise<boolean>;
  /**
   * Refreshes `read` of this session if the agent has anything later than `since` (ISO 8601; undefined: nothing is stored of it);
   * undefined when there is nothing to wait for. Resolves with the reason when the agent could not be read. Never rejects.
   */
  fetch?(sessionId: string, since: string | undefined): Promise<string | undefined> | undefined;
}

/** Number of stored items after the last item with an agent id that are matched by their text. */
const comparedLength = 400;
/** Parts of one session read at once to reach the stored items. */
const maxParts = 16;

type ComparableItem = Pick<Item, 'uuid' | 'role' | 'content' | 'timestamp' | 'part'>;

/**
 * Returns the new items of `outside`: those after the last item stored under its uuid, and from there after the last common text,
 * because items written by the daemon itself might have other uuids. Items older than the last own item are not new. All are new
 * when nothing is stored. Linear in both, at most `comparedLength` steps an item.
 */
export function newBehind<S extends ComparableItem>(stored: readonly ComparableItem[], outside: readonly S[]): S[] {
  const places = new Map(stored.map(({ uuid }, place) => [uuid, place]));
  const anchor = outside.findLastIndex(({ uuid }) => places.has(uuid));
  const mine = stored.slice((places.get(outside[anchor]?.uuid ?? '') ?? -1) + 1).filter(isWords);
  const theirs = outside.slice(anchor + 1);
  const last = lastCommon(mine.slice(-comparedLength).map(keyOf), theirs);
  const named = new Set(outside.map(({ uuid }) => uuid));
  const own = stored.findLast(({ uuid }) => !named.has(uuid))?.timestamp;
  const since = own === undefined ? -Infinity : Date.parse(own);
  const fresh = theirs.slice(last + 1).filter(({ timestamp }) => !(Date.parse(timestamp) < since));
  const next = fresh.findIndex(({ role }) => role === 'USER');
  const rest = next < 0 ? fresh : fresh.slice(0, next);
  const turn = stored.slice(
    Math.max(
      stored.findLastIndex(({ role }) => role === 'USER'),
      0,
    ),
  );
  return [...rest.filter((item) => !turn.some((other) => isSame(other, item))), ...fresh.slice(rest.length)];
}

/** A turn has only one of each of these, no matter which side wrote it. */
const isSame = ({ part: other }: ComparableItem, { part }: ComparableItem) =>
  other.kind === part.kind && ['plan', 'usage', 'mark'].includes(part.kind) && other.what === part.what;
const isWords = ({ role, part }: ComparableItem) => role !== 'SYSTEM' && isPlain({ part });
const keyOf = ({ role, content }: { role: string; content: string }) => `${role}\n${content.trim()}`;

/**
 * Returns the index in `theirs` at which a longest common subsequence is first complete; -1 if they share nothing. The table is
 * built column by column, and only for texts that occur in `mine`: memory for one column, and at most that many steps for each of
 * `theirs`.
 */
function lastCommon(mine: readonly string[], theirs: readonly ComparableItem[]): number {
  const words = new Set(mine);
  /** The length of the longest common subsequence of the first `i` of `mine` and all of `theirs` so far. */
  const length = new Uint16Array(mine.length + 1);
  let last = -1;
  for (const [index, message] of theirs.entries()) {
    const whole = length[mine.length];
    if (whole === mine.length) break;
    const key = keyOf(message);
    if (!isWords(message) || !words.has(key)) continue;
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
  /** Adds the new items of a session. `isStored` is true when the session is in the store afterwards. */
  sync(sessionId: string): { isStored: boolean; added: number; completed: boolean };
  /** Keeps the content that this item references but does not hold, if it is in the parts read at once. */
  keep(sessionId: string, uuid: string): void;
  /** The agent's items before a place that were not added to the store; undefined when they can no longer be read. */
  before(sessionId: string, place: number): { items: Item[]; start: number } | undefined;
  /** The sessions of the store and the agent together, last activity first. */
  sessions(): (SessionSummary & { isActive: boolean })[];
  stamp(sessionId: string): string | undefined;
}

interface JoinOptions {
  store: Store;
  outside: Outside | undefined;
  /** The settings for building the items of a session. */
  settingsOf: (sessionId: string, projectPath: string) => ReplaySettings;
  /** Keeps content that the items of a session reference but do not hold. */
  keepOf: (sessionId: string) => Keep;
  /** One of our turns runs in the session; the agent's record of it is added only after the turn. */
  isBusy: (sessionId: string) => boolean;
  onWritten?: (sessionId: string, ops: readonly Operation[], v: number) => void;
}

export function joinOutside({ store, outside, settingsOf, keepOf, isBusy, onWritten }: JoinOptions): Joined {
  const synced = new Map<string, string>();

  const itemsOf = (sessionId: string, { projectPath, updates, open }: OutsidePart, contents?: Replayed) =>
    replayed(updates, settingsOf(sessionId, projectPath), open, contents);

  /** The agent's items backwards from the newest to the stored ones, and the place where they begin. */
  const behind = (sessionId: string, end: OutsidePart, stored: readonly ComparableItem[]) => {
    const storedUuids = new Set(stored.map(({ uuid }) => uuid));
    const since = stored.at(-1)?.timestamp;
    const contents: Replayed = new Map();
    let items = itemsOf(sessionId, end, contents);
    let { start } = end;
    for (let parts = 1; start > 0 && since !== undefined && parts < maxParts; parts++) {
      const [oldest] = items;
      if ((oldest && oldest.timestamp < since) || items.some(({ uuid }) => storedUuids.has(uuid))) break;
      const part = outside?.read(sessionId, start);
      if (!part) break;
      items = [...itemsOf(sessionId, { ...part, open: false }, contents), ...items];
      ({ start } = part);
    }
    return { items, start, contents };
  };

  return {
    stamp: (sessionId) => outside?.stamp(sessionId),
    sync(sessionId) {
      const nothing = { isStored: store.has(sessionId), added: 0, completed: false };
      const stamp = outside?.stamp(sessionId);
      if (!outside || stamp === undefined || isBusy(sessionId) || synced.get(sessionId) === stamp) return nothing;
      const found = outside.read(sessionId);
      if (!found) return nothing;
      const stored = store.everything(sessionId) ?? [];
      const { items, start, contents } = behind(sessionId, found, stored);
      if (!store.has(sessionId)) store.create(sessionId, found.projectPath, start, outside.agentTypeOf?.(sessionId));
      const fresh = newBehind(stored, items);
      for (const { uuid } of fresh) contents.get(uuid)?.(keepOf(sessionId));
      const added = store.take(sessionId, fresh, onWritten && ((ops, v) => onWritten(sessionId, ops, v)));
      synced.set(sessionId, stamp);
      const [oldest] = synced.keys();
      if (synced.size > 1000 && oldest !== undefined) synced.delete(oldest);
      const last = fresh.findLast(isWords);
      return { isStored: true, added, completed: added > 0 && !found.open && last?.role === 'AGENT' };
    },
    keep(sessionId, uuid) {
      let place: number | undefined;
      for (let parts = 0; parts < maxParts && place !== 0; parts++) {
        const part = outside?.read(sessionId, place);
        if (!part) return;
        const contents: Replayed = new Map();
        const items = itemsOf(sessionId, { ...part, open: false }, contents);
        contents.get(uuid)?.(keepOf(sessionId));
        if (items.some((item) => item.uuid === uuid)) return;
        place = part.start;
      }
    },
    before(sessionId, place) {
      const part = outside?.read(sessionId, place);
      return part && { items: itemsOf(sessionId, { ...part, open: false }), start: part.start };
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
