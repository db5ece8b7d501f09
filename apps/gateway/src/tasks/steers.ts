/**
 * MEANING of STEERED (rules, chapter 23): the outcome of a message that was written into a running turn. Write first, publish second. Like every
 * event it is the daemon's own statement, and a repetition changes nothing.
 */
import type { Publisher } from '@relay/attention';
import { type Database, type SteerOutcome, noteSteer, withDevice } from '@relay/database';
import type { DaemonEvent, TaskState } from '@relay/protocol';
import type { DaemonConnection } from '../connection/connection.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { TaskWriter } from './tasks-out.ts';

export interface Steers {
  settle(connection: DaemonConnection, event: DaemonEvent<'STEERED'>): Promise<void>;
  /** The history of the daemon has the message: it was injected. */
  arrived(connection: DaemonConnection, taskId: string): Promise<void>;
}

interface SteerDeps {
  database: Database;
  publisher: Publisher;
  writer: TaskWriter;
  metrics: GatewayMetrics;
}

const stateAfter: Readonly<Record<SteerOutcome, TaskState>> = {
  injected: 'running',
  not_running: 'queued',
  refused: 'queued',
  dropped: 'failed',
  unknown: 'unknown',
};
const isOutcome = (text: string): text is SteerOutcome => Object.hasOwn(stateAfter, text);

export function createSteers({ database, publisher, writer, metrics }: SteerDeps): Steers {
  const note = async (connection: DaemonConnection, taskId: string, outcome: SteerOutcome) => {
    const { deviceId, tasks } = connection;
    const key = await withDevice(database, deviceId, (tx) => noteSteer(tx, deviceId, taskId, outcome));
    const entry = tasks.get(taskId);
    // An injected one is over with its turn.
    if (outcome === 'injected' && entry?.isSteer && tasks.runs(entry.sessionKey)) entry.state = 'running';
    else if (entry?.isSteer && stateAfter[outcome] === 'queued') tasks.release(taskId);
    else if (entry?.isSteer) tasks.forget(taskId);
    if (key === undefined) return;
    metrics.tasks.inc({ state: stateAfter[outcome] });
    await publisher.sessions([key]);
    writer.resume(connection);
  };

  return {
    settle: (connection, { task_id: taskId, outcome }) =>
      note(connection, taskId ?? '', isOutcome(outcome) ? outcome : 'unknown'),
    arrived: (connection, taskId) => note(connection, taskId, 'injected'),
  };
}
