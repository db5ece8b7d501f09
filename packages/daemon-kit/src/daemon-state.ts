/** The state of a daemon as it shows it, and the log of its connection. */
import type { Clock } from './clock.ts';
import type { ConnectionState } from './connection.ts';
import type { DaemonState } from './daemon-options.ts';
import type { Log } from './log.ts';
import type { AttemptEnd } from './reconnect.ts';

export interface ShownState {
  now: () => DaemonState;
  running: (taskIds: string[]) => void;
  connection: (state: ConnectionState) => void;
}

export function createShownState({
  clock,
  log,
  about,
  onChange,
}: {
  clock: Clock;
  log: Log;
  /** The relay and the device, for the log. */
  about: { server: string; device: string };
  onChange: ((state: DaemonState) => void) | undefined;
}): ShownState {
  const time = (ms: number) => new Date(ms).toISOString();
  const state: DaemonState = { connection: 'idle', since: time(clock.now()), runningTasks: [] };
  const now = () => ({ ...state, runningTasks: [...state.runningTasks] });
  const change = (to: Partial<DaemonState>) => {
    Object.assign(state, to);
    onChange?.(now());
  };
  let wasSentOn = false;
  return {
    now,
    running: (runningTasks) => change({ runningTasks }),
    connection(to) {
      delete state.problem;
      delete state.nextAttemptAt;
      const since = time(clock.now());
      switch (to.phase) {
        case 'connecting':
          return change({ connection: 'connecting', since });
        case 'connected':
          wasSentOn = false;
          log.info('connected', about);
          return change({ connection: 'connected', since, lastConnectedAt: since });
        case 'waiting': {
          const problem = problemOf(to.ending);
          // Only the first time: a relay that keeps redirecting the daemon has no room for it, or trouble of its own.
          const isSent = isSentOn(to.ending);
          log[isSent && !wasSentOn ? 'info' : 'warn']('disconnected', { why: problem, retryInMs: to.waitMs });
          wasSentOn = isSent;
          return change({ connection: 'waiting', since, problem, nextAttemptAt: time(clock.now() + to.waitMs) });
        }
        case 'stopped':
          if (to.stop.reason === 'stopped') {
            log.info('stopped');
            return change({ connection: 'stopped', since });
          }
          log.warn('refused by the relay', { reason: to.stop.reason });
          return change({ connection: 'stopped', since, problem: to.stop.message });
      }
    },
  };
}

/** Whether the socket is open. */
export const isOpen = (shown: ShownState): boolean => shown.now().connection === 'connected';

/** One gateway is full or draining: the next attempt finds another gateway. */
const isSentOn = (ending: AttemptEnd): boolean =>
  ending.kind === 'refused' && ending.status === 503 && ending.retryAfterMs !== undefined;

function problemOf(ending: AttemptEnd): string {
  switch (ending.kind) {
    case 'closed':
      return `the connection was closed (${ending.code}${ending.reason ? ` ${ending.reason}` : ''})`;
    case 'refused':
    case 'failed':
      return ending.message;
  }
}
