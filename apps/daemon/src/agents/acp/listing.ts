/**
 * Lists an agent's sessions on request (`session/list`) and reads their text by replay (`session/load`), for agents whose files
 * have no reader. Each request costs a process, so requests are rare: when files of the agent have changed, or after a long while. A
 * session is loaded only to read new messages, never to look for them.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Clock,
  type Fields,
  type Log,
  type Outside,
  type OutsideSession,
  type PastUpdate,
  elapsedOn,
  wordsOf,
} from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import type { AcpAgent } from './agent.ts';
import type { AgentAbilities, AgentProcess } from './process.ts';

export interface ListingTimings {
  /** Minimum time between two lists. */
  listGapMs: number;
  /** Maximum age of a list, whether or not files changed. */
  relistMs: number;
  /** The limit of a list, or of a replay. */
  answerMs: number;
  /** An agent can record the completion of our turn a little later than we do; a change within this time is not new. */
  slackMs: number;
}

interface ListingOptions {
  agent: AcpAgent;
  /** Files that change with the sessions of the agent. */
  marks: readonly string[];
  clock: Clock;
  log: Log;
  timings?: Partial<ListingTimings>;
}

const defaults: ListingTimings = { listGapMs: 10_000, relistMs: 600_000, answerMs: 30_000, slackMs: 3000 };
const maxPages = 20;
const maxSessions = 500;
const maxReplays = 20;
/** The number of entries of a folder that a mark covers. */
const maxEntries = 1000;
/** The bytes of a replay that are kept for one session. */
const maxReplayBytes = 32 * 1024 * 1024;

interface Replay {
  stamp: string;
  updates: PastUpdate[];
}

export function listedSessions({ agent, marks, clock, log, ...options }: ListingOptions): Outside {
  const timings = { ...defaults, ...options.timings };
  let listed = new Map<string, OutsideSession>();
  /** The replays of the sessions that were read last. */
  const replays = new Map<string, Replay>();
  const coming = new Map<string, Promise<string | undefined>>();
  let asking: Promise<boolean> | undefined;
  let requestedAt = -Infinity;
  let seen: string | undefined;
  /** The agent does not support lists. */
  let mute = false;
  /** Number of lists so far. A session without a time might have changed since the last list. */
  let lists = 0;
  const stampOfSession = ({ lastActivity }: OutsideSession) => lastActivity || `list ${lists}`;

  const moved = () => marks.map(stampOf).join();

  const due = () => {
    const since = elapsedOn(clock) - requestedAt;
    return !mute && (since >= timings.relistMs || (since >= timings.listGapMs && marks.length > 0 && moved() !== seen));
  };

  const ask = async (): Promise<boolean> => {
    try {
      const list = async (process: AgentProcess, can: AgentAbilities) => {
        mute = !can.list;
        return mute ? [] : pagesOf((params) => process.request('session/list', params, timings.answerMs));
      };
      const live = agent.borrow();
      const found = live ? await list(live, await live.ready) : await agent.visit({ use: list });
      const before = JSON.stringify([...listed.values()]);
      listed = new Map(found.map((session) => [session.sessionId, session]));
      lists++;
      log.info('local sessions listed', { sessions: listed.size });
      return JSON.stringify([...listed.values()]) !== before;
    } catch (error) {
      log.warn('local sessions not listed', { why: reasonOf(error).slice(0, 300) });
      return false;
    } finally {
      // Changes by this process itself are not new.
      requestedAt = elapsedOn(clock);
      seen = moved();
      asking = undefined;
    }
  };

  /** Resolves with the reason when it failed. */
  const load = async (session: OutsideSession): Promise<string | undefined> => {
    const { sessionId, projectPath, lastActivity } = session;
    const stamp = stampOfSession(session);
    const updates: PastUpdate[] = [];
    // A replay carries no times; only the last change of the session is known.
    const at = lastActivity || new Date(clock.now()).toISOString();
    let bytes = 0;
    try {
      await agent.visit({
        async use(process, { load: can }) {
          if (can)
            await process.request('session/load', { sessionId, cwd: projectPath, mcpServers: [] }, timings.answerMs);
        },
        onUpdate: (id, update) => {
          if (id !== sessionId) return;
          updates.push({ update, at });
          bytes += JSON.stringify(update).length;
          if (bytes <= maxReplayBytes) return;
          // Too much to keep until it is read: the older half is dropped.
          updates.splice(0, Math.ceil(updates.length / 2));
          bytes = JSON.stringify(updates).length;
        },
      });
      replays.delete(sessionId);
      replays.set(sessionId, { stamp, updates });
      const [oldest] = replays.keys();
      if (replays.size > maxReplays && oldest !== undefined) replays.delete(oldest);
      seen = moved();
      return undefined;
    } catch (error) {
      const why = reasonOf(error).slice(0, 300);
      log.warn('local session not read', { session: sessionId, why });
      return why;
    } finally {
      coming.delete(sessionId);
    }
  };

  return {
    refresh() {
      if (asking) return asking.then(() => false);
      return due() ? (asking = ask()) : Promise.resolve(false);
    },
    sessions: () => [...listed.values()].sort((a, b) => (a.lastActivity < b.lastActivity ? 1 : -1)),
    stamp(sessionId) {
      const session = listed.get(sessionId);
      return session && stampOfSession(session);
    },
    fetch(sessionId, since) {
      const session = listed.get(sessionId);
      if (!session || replays.get(sessionId)?.stamp === stampOfSession(session)) return undefined;
      const isOld = since !== undefined && Date.parse(session.lastActivity) <= Date.parse(since) + timings.slackMs;
      if (isOld) return undefined;
      const loading = coming.get(sessionId) ?? load(session);
      coming.set(sessionId, loading);
      return loading;
    },
    read(sessionId) {
      const session = listed.get(sessionId);
      const replay = replays.get(sessionId);
      if (!session || replay?.stamp !== stampOfSession(session)) return undefined;
      return { projectPath: session.projectPath, updates: replay.updates, open: false, start: 0 };
    },
  };
}

/** All pages; an entry of another shape is ignored. */
async function pagesOf(list: (params: Fields) => Promise<Fields>): Promise<OutsideSession[]> {
  const found: OutsideSession[] = [];
  let cursor: unknown;
  for (let page = 0; page < maxPages && found.length < maxSessions; page++) {
    const { sessions, nextCursor } = await list(cursor === undefined ? {} : { cursor });
    if (Array.isArray(sessions)) found.push(...(sessions as unknown[]).flatMap(sessionOf));
    if (typeof nextCursor !== 'string' || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return found.slice(0, maxSessions);
}

function sessionOf(entry: unknown): OutsideSession[] {
  if (typeof entry !== 'object' || entry === null) return [];
  const { sessionId, cwd, title, updatedAt } = entry as Fields;
  if (typeof sessionId !== 'string' || sessionId === '' || typeof cwd !== 'string') return [];
  const time = Date.parse(wordsOf(updatedAt));
  return [
    {
      sessionId,
      title: wordsOf(title),
      projectPath: cwd,
      lastMessage: '',
      // Optional in ACP.
      lastActivity: Number.isNaN(time) ? '' : new Date(time).toISOString(),
      messageCount: 0,
      isActive: false,
    },
  ];
}

function stampOf(path: string): string {
  try {
    if (path.endsWith('/*')) {
      const folder = path.slice(0, -2);
      const times = readdirSync(folder)
        .slice(0, maxEntries)
        .map((name) => statSync(join(folder, name)).mtimeMs);
      return `${times.length}:${Math.max(0, ...times)}`;
    }
    const { mtimeMs, size } = statSync(path);
    return `${mtimeMs}:${size}`;
  } catch {
    return '-';
  }
}
