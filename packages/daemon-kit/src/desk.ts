/** Reports to the relay which programs have sessions open, at each change, and answers how a person continues there (rules, 24.3, 24.6). */
import { type FromDaemon, type Held, type ToDaemon, relayCapabilities } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import type { Agent } from './agent.ts';
import type { Cancel, Clock } from './clock.ts';
import type { Link } from './link.ts';
import type { Outside } from './outside.ts';
import type { Store } from './store.ts';
import type { Tasks } from './task.ts';

export interface Desk {
  /** The programs for a report, which replaces everything that was sent before. */
  reported(): ReadonlyMap<string, Held>;
  /** A new connection: looks from now on, until `stop`. */
  begin(): void;
  stop(): void;
  /** Looks at once. */
  look(): void;
  answer(frame: ToDaemon<'desk_request'>): Promise<FromDaemon<'desk_response'>>;
  release(frame: ToDaemon<'force_quit_session'>): Promise<FromDaemon<'force_quit_result'>>;
}

interface DeskOptions {
  agent: Agent;
  tasks: () => Tasks;
  store: Store;
  outside: Outside | undefined;
  link: Link;
  /** Adds messages that were written elsewhere; a session started locally is known afterwards. */
  sync: (sessionId: string) => void;
  /** A session that was not reported yet was opened. */
  onNew: () => unknown;
  clock: Clock;
  timings: { deskIntervalMs: number };
}

export function createDesk(options: DeskOptions): Desk {
  const { agent, tasks, store, outside, link, sync, onNew, clock, timings } = options;
  const { holders } = agent;
  const isDeclared = () => link.isDeclared(relayCapabilities.desk);
  /** The relay knows the sessions of a report. */
  const isReported = (sessionId: string) => store.has(sessionId) || outside?.stamp(sessionId) !== undefined;
  /** The newest reports to the relay, as JSON. */
  let sent = new Map<string, string>();
  /** Sessions that no report had yet. */
  const missing = new Map<string, string>();
  let cancel: Cancel = () => undefined;

  const look = () => {
    if (!holders) return;
    const now = holders.look();
    let isNew = false;
    for (const sessionId of new Set([...sent.keys(), ...now.keys()])) {
      const held = now.get(sessionId) ?? null;
      const text = JSON.stringify(held);
      if ((sent.get(sessionId) ?? 'null') === text) continue;
      if (!isReported(sessionId)) {
        isNew ||= missing.get(sessionId) !== text;
        missing.set(sessionId, text);
        continue;
      }
      missing.delete(sessionId);
      if (isDeclared()) link.send({ type: 'session_held', session_id: sessionId, held });
      if (held) sent.set(sessionId, text);
      else {
        sent.delete(sessionId);
        sync(sessionId);
      }
    }
    for (const sessionId of missing.keys()) if (!now.has(sessionId)) missing.delete(sessionId);
    tasks().lookAtDesk();
    if (isNew) onNew();
  };

  const again = () => {
    cancel();
    look();
    if (holders) cancel = clock.after(timings.deskIntervalMs, again);
  };

  const isStored = (sessionId: string): boolean => {
    sync(sessionId);
    return store.has(sessionId);
  };

  return {
    reported() {
      const now = isDeclared() ? holders?.look() : undefined;
      const shown = [...(now ?? [])].filter(([sessionId]) => isReported(sessionId));
      sent = new Map(shown.map(([sessionId, held]) => [sessionId, JSON.stringify(held)]));
      return new Map(shown);
    },
    begin: again,
    stop: () => cancel(),
    look,
    async answer({ request_id: requestId, session_id: sessionId, let_go: letGo }) {
      const reply = { type: 'desk_response', request_id: requestId, session_id: sessionId } as const;
      try {
        if (!holders || !isStored(sessionId)) return { ...reply, error: 'this device has no such session' };
        const why = () => tasks().deskReason(sessionId) ?? (holders.of(sessionId) ? 'held' : undefined);
        if (letGo && why() === undefined) await agent.letGo?.(sessionId);
        const [now, held] = [why(), holders.of(sessionId)];
        const cwd = store.session(sessionId)?.projectPath ?? '';
        const command = holders.command(sessionId, cwd);
        return {
          ...reply,
          free: now === undefined,
          ...(now === undefined ? {} : { why: now }),
          ...(held === undefined ? {} : { held }),
          ...(command === undefined ? {} : { command }),
          ...(cwd === '' ? {} : { cwd }),
        };
      } catch (error) {
        return { ...reply, error: reasonOf(error) };
      }
    },
    async release({ request_id: requestId, session_id: sessionId, stop_turn: stopTurn = false }) {
      const reply = { type: 'force_quit_result', request_id: requestId, session_id: sessionId } as const;
      if (!isStored(sessionId)) return { ...reply, status: 'unknown_session' };
      if (tasks().isActive(sessionId)) return { ...reply, status: 'busy' };
      if (!holders)
        return { ...reply, status: 'failed', detail: 'This daemon cannot tell which program holds a session.' };
      const { result, detail } = await tasks().release(sessionId, stopTurn);
      look();
      return { ...reply, status: result, ...(detail === undefined ? {} : { detail }) };
    },
  };
}
