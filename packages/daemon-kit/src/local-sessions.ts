/** The sessions that an agent keeps by itself, as they change locally: watched, read, and sent to the watchers. */
import type { FromDaemon } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import type { Agent } from './agent.ts';
import type { Cancel, Clock } from './clock.ts';
import type { Watched } from './inbound.ts';
import type { Log } from './log.ts';
import type { Joined, Outside } from './outside.ts';
import { type Reported, activityOf } from './report.ts';
import type { Store } from './store.ts';

interface LocalSessions {
  /** All sessions, as far as the agent's files can be read. */
  list: () => Reported[];
  /** Adds messages written locally to the history, and sends them to the watchers of the session. */
  sync: (sessionId: string) => void;
  /**
   * The fetch that must finish before a session can be read, with the reason when it failed; undefined when everything is available.
   */
  bring: (sessionId: string) => Promise<string | undefined> | undefined;
  /** Sends local changes from now on; earlier messages can be requested. */
  watch: (sessionId: string) => void;
  /** A new connection: looks at once, and again until `stop`. */
  look: () => void;
  stop: () => void;
}

/** Watched sessions beyond this number are checked only on request. */
const maxLookedAt = 200;

export function createLocalSessions({
  agent,
  outside,
  joined,
  store,
  watched,
  isActive,
  sendsTranscript,
  send,
  onNew,
  clock,
  intervalMs,
  log,
}: {
  agent: Agent;
  outside: Outside | undefined;
  joined: Joined;
  store: Store;
  watched: Watched;
  /** Whether one of our turns runs in the session. */
  isActive: (sessionId: string) => boolean;
  /** Whether the relay takes transcripts. */
  sendsTranscript: () => boolean;
  send: (frame: FromDaemon<'session_activity'>) => void;
  /** An agent that must be asked for its sessions has new ones. */
  onNew: () => unknown;
  clock: Clock;
  /** Between two looks, ms. */
  intervalMs: number;
  log: Log;
}): LocalSessions {
  const stamps = new Map<string, string | undefined>();
  let cancelLook: Cancel = () => undefined;

  const sync = (sessionId: string) => {
    const { added, completed } = joined.sync(sessionId);
    if (added > 0) agent.outdated?.(sessionId);
    const session = added > 0 && watched.has(sessionId) ? store.session(sessionId) : undefined;
    if (session) send(activityOf(session, completed, sendsTranscript()));
  };
  const bring = (sessionId: string) =>
    isActive(sessionId) ? undefined : outside?.fetch?.(sessionId, store.session(sessionId)?.lastActivity);
  /** A reader of the agent's files can fail in any way; the daemon continues without it. */
  const tried = (sessionId: string, read: () => void) => () => {
    try {
      read();
    } catch (error) {
      log.warn('local session not read', { session: sessionId, why: reasonOf(error) });
    }
  };

  /** Watched sessions that changed locally. Reads only their stamps unless one has changed. */
  const look = () => {
    cancelLook();
    for (const sessionId of watched.all().slice(-maxLookedAt)) {
      const take = tried(sessionId, () => sync(sessionId));
      tried(sessionId, () => {
        const stamp = joined.stamp(sessionId);
        if (stamps.get(sessionId) === stamp || isActive(sessionId)) return;
        stamps.set(sessionId, stamp);
        const wait = bring(sessionId);
        if (wait) void wait.then(take);
        else take();
      })();
    }
    void outside?.refresh?.().then((isNew) => isNew && onNew());
    if (outside) cancelLook = clock.after(intervalMs, look);
  };

  return {
    list() {
      try {
        return joined.sessions();
      } catch (error) {
        log.warn('local sessions not read', { why: reasonOf(error) });
        return store.sessions();
      }
    },
    sync,
    bring,
    watch(sessionId) {
      tried(sessionId, () => {
        if (!watched.has(sessionId) && joined.sync(sessionId).added > 0) agent.outdated?.(sessionId);
        stamps.set(sessionId, joined.stamp(sessionId));
      })();
      watched.add(sessionId);
    },
    look() {
      stamps.clear();
      look();
    },
    stop: () => cancelLook(),
  };
}
