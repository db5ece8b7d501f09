/**
 * Cancels → the daemon (rules, 2.11). The database is the source of truth; a command only speeds it up. The tasks in
 * memory repair a lost command, after an outage of Redis or a stop of this instance.
 */
import { type Database, cancelledAmong } from '@relay/database';
import type { DaemonConnection } from '../connection/connection.ts';
import type { ProgressBoard } from '../sessions/progress.ts';

export interface Cancels {
  /** Forgets a task that was cancelled, and sends `task_cancel`. False when the socket is closing: then it was not sent. */
  send(connection: DaemonConnection, taskId: string): boolean;
  /** Sends the cancel of every cancelled task that is under way on these connections. A connection without tasks costs nothing. */
  repeat(connections: readonly DaemonConnection[]): Promise<void>;
}

export function createCancels(database: Database, progress: ProgressBoard): Cancels {
  const send: Cancels['send'] = (connection, taskId) => {
    // Progress that was not shown yet would bring the task back to life on every screen.
    const entry = connection.tasks.get(taskId);
    if (entry) progress.drop(entry.sessionKey);
    else connection.evidence.cancelEarly(taskId);
    connection.tasks.forget(taskId);
    return connection.send({ type: 'task_cancel', task_id: taskId });
  };

  return {
    send,
    repeat: async (connections) => {
      const holders = new Map<string, DaemonConnection>();
      for (const connection of connections) {
        if (connection.tasks.size === 0 || !connection.live) continue;
        for (const id of connection.tasks.ids()) holders.set(id, connection);
      }
      if (holders.size === 0) return;
      const devices = new Set([...holders.values()].map(({ deviceId }) => deviceId));
      for (const id of await cancelledAmong(database, [...devices], [...holders.keys()])) {
        const connection = holders.get(id)!;
        // The command might have arrived in between.
        if (connection.live && connection.tasks.has(id)) send(connection, id);
      }
    },
  };
}
