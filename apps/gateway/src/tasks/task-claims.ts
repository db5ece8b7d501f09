/** Claims of queued tasks for connections: which are open, and how tasks that were not written return to the queue. */
import {
  type Database,
  claimOwned,
  devicesWithQueue,
  gathered,
  giveUpSteer,
  unclaimTask,
  unclaimUnwritten,
  withDevice,
  withOwned,
} from '@relay/database';
import type { DaemonConnection } from '../connection/connection.ts';

interface TaskClaims {
  /** Asked together with other devices. */
  hasQueue(deviceId: string): Promise<boolean>;
  /** Claims due tasks. A claim with tasks stays open until closed or put back, and so does a rejected claim. */
  claim(connection: DaemonConnection): ReturnType<typeof claimOwned>;
  /** Closes the claim: each of its tasks was written, settled or requeued. */
  close(connection: DaemonConnection): void;
  isOpen(this: void, connection: DaemonConnection): boolean;
  /**
   * Requeues tasks of an earlier claim that failed before the write. They cannot have been written: the gateway
   * remembers a task in the tick that writes it, and forgets it only after committing its outcome, when it is no longer
   * `sent`. (The fence excludes tasks forgotten after a newer connection took over.) A claim that could still commit
   * holds the lock of the device, which blocks other claims: one run at a time.
   */
  putBack(connection: DaemonConnection): Promise<void>;
  /** Requeues one task that was certainly not written. */
  requeue(connection: DaemonConnection, taskId: string): Promise<void>;
  /** Turns a steer into an ordinary message if its daemon cannot take it into a turn. */
  giveUp(connection: DaemonConnection, taskId: string): Promise<void>;
}

export function createTaskClaims(database: Database): TaskClaims {
  const open = new WeakSet<DaemonConnection>();
  const queued = gathered(
    async (deviceIds) => new Map((await devicesWithQueue(database, deviceIds)).map((id) => [id, true] as const)),
  );

  return {
    hasQueue: async (deviceId) => (await queued(deviceId)) ?? false,
    claim: async (connection) => {
      // Before the claim: it can commit even if its answer is lost.
      open.add(connection);
      const claimed = await claimOwned(database, connection);
      if (claimed.tasks.length === 0) open.delete(connection);
      return claimed;
    },
    close: (connection) => void open.delete(connection),
    isOpen: (connection) => open.has(connection),
    putBack: async (connection) => {
      const { deviceId, fence, tasks } = connection;
      await withOwned(database, connection, (tx) => unclaimUnwritten(tx, deviceId, fence, [...tasks.ids()]));
      open.delete(connection);
    },
    requeue: ({ deviceId, fence }, taskId) => withDevice(database, deviceId, (tx) => unclaimTask(tx, taskId, fence)),
    giveUp: ({ deviceId, fence }, taskId) => withDevice(database, deviceId, (tx) => giveUpSteer(tx, taskId, fence)),
  };
}
