/** Verdicts about tasks under way, from a `status`, its absence or a history: written down, remembered, published. */
import type { Publisher } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import {
  type Database,
  addNotification,
  confirmTask,
  markLost,
  markUnknown,
  openTasks,
  startRunning,
  withOwned,
} from '@relay/database';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { ProgressBoard } from '../sessions/progress.ts';
import type { Reconciliation } from './reconcile.ts';

export interface SettlementDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  progress: ProgressBoard;
  metrics: GatewayMetrics;
  notify: () => void;
}

/**
 * Resolves with the tasks of `unknown` that run: events are not fenced, so the instance of an earlier connection might
 * have received an event after this connection read the task. They stay in memory as running tasks.
 */
type Settle = (
  connection: DaemonConnection,
  verdict: Partial<Pick<Reconciliation, 'confirmed' | 'unknown' | 'lost'>>,
) => Promise<string[]>;

export function createSettlement(deps: SettlementDeps): Settle {
  const { config, database, publisher, progress, metrics, notify } = deps;
  return async (connection, { confirmed = [], unknown = [], lost = [] }) => {
    if (confirmed.length + unknown.length + lost.length === 0) return [];
    const { tasks } = connection;
    if (unknown.length + lost.length === 0) {
      for (const id of confirmed) {
        const record = await confirmTask(database, connection, id);
        tasks.confirm(id);
        if (record) await publisher.session(record);
      }
      metrics.tasks.inc({ state: 'running' }, confirmed.length);
      return [];
    }
    const settled = await withOwned(database, connection, async (tx) => {
      for (const id of confirmed) await startRunning(tx, id);
      const failed = [...(await markUnknown(tx, unknown)), ...(await markLost(tx, lost))];
      const open = unknown.length === 0 ? undefined : await openTasks(tx, [connection.deviceId]);
      const running = (open?.get(connection.deviceId) ?? [])
        .filter(({ id, state }) => state === 'running' && unknown.includes(id))
        .map(({ id }) => id);
      let notified = false;
      for (const id of [...unknown, ...lost]) {
        const sessionKey = tasks.get(id)?.sessionKey;
        if (sessionKey === undefined || !failed.includes(sessionKey) || running.includes(id)) continue;
        // A steer has no turn of its own.
        if (tasks.get(id)?.isSteer) continue;
        const cause = lost.includes(id) ? 'failed' : 'unknown';
        const notification = { sessionKey, cause, taskId: id, windowMs: config.dedupeWindowMs } as const;
        notified = (await addNotification(tx, notification)) || notified;
      }
      const started = confirmed.flatMap((id) => tasks.get(id)?.sessionKey ?? []);
      return { keys: [...new Set([...started, ...failed])], notified, running };
    });
    const running = settled?.running ?? [];
    for (const id of [...confirmed, ...running]) tasks.confirm(id);
    const over = unknown.filter((id) => !running.includes(id));
    for (const id of [...over, ...lost]) {
      const entry = tasks.get(id);
      if (entry) progress.drop(entry.sessionKey);
      tasks.forget(id);
    }
    metrics.tasks.inc({ state: 'running' }, confirmed.length);
    metrics.tasks.inc({ state: 'unknown' }, over.length);
    metrics.tasks.inc({ state: 'lost' }, lost.length);
    if (!settled) return [];
    await publisher.sessions(settled.keys);
    if (settled.notified) notify();
    return running;
  };
}
