/** Verdicts about tasks under way, from a `status`, its absence or a history: written down, remembered, published. */
import type { Publisher } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import { type Database, addNotification, markLost, markUnknown, startRunning, withOwned } from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { ProgressBoard } from './progress.ts';
import type { Verdict } from './reconcile.ts';

export interface SettlementDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  progress: ProgressBoard;
  metrics: GatewayMetrics;
  notify: () => void;
}

type Settle = (
  connection: DaemonConnection,
  verdict: Partial<Pick<Verdict, 'confirmed' | 'unknown' | 'lost'>>,
) => Promise<void>;

export function createSettlement(deps: SettlementDeps): Settle {
  const { config, database, publisher, progress, metrics, notify } = deps;
  return async (connection, { confirmed = [], unknown = [], lost = [] }) => {
    if (confirmed.length + unknown.length + lost.length === 0) return;
    const { tasks } = connection.memory;
    const settled = await withOwned(database, connection, async (tx) => {
      for (const id of confirmed) await startRunning(tx, id);
      const failed = [...(await markUnknown(tx, unknown)), ...(await markLost(tx, lost))];
      let notified = false;
      for (const id of [...unknown, ...lost]) {
        const sessionKey = tasks.get(id)?.sessionKey;
        if (sessionKey === undefined || !failed.includes(sessionKey)) continue;
        const cause = lost.includes(id) ? 'failed' : 'unknown';
        const notification = { sessionKey, cause, taskId: id, windowMs: config.dedupeWindowMs } as const;
        notified = (await addNotification(tx, notification)) || notified;
      }
      const started = confirmed.flatMap((id) => tasks.get(id)?.sessionKey ?? []);
      return { keys: [...new Set([...started, ...failed])], notified };
    });
    for (const id of confirmed) {
      const entry = tasks.get(id);
      if (entry) entry.state = 'running';
    }
    for (const id of [...unknown, ...lost]) {
      const entry = tasks.get(id);
      if (entry) progress.drop(entry.sessionKey);
      connection.memory.forgetTask(id);
    }
    metrics.tasks.inc({ state: 'running' }, confirmed.length);
    metrics.tasks.inc({ state: 'unknown' }, unknown.length);
    metrics.tasks.inc({ state: 'lost' }, lost.length);
    if (!settled) return;
    await publisher.sessions(settled.keys);
    if (settled.notified) notify();
  };
}
