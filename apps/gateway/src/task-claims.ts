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
import type { DaemonConnection } from './connection.ts';

interface TaskClaims {
  /** Asked together with other devices. */
  hasQueue(deviceId: string): Promise<boolean>;
  /** Claims what is due. A claim of some tasks stays open until it is closed or put back; so does one that rejects. */
  claim(connection: DaemonConnection): ReturnType<typeof claimOwned>;
  /** Each of its tasks was written, ended or requeued. */
  close(connection: DaemonConnection): void;
  isOpen(this: void, connection: DaemonConnection): boolean;
  /**
   * Tasks of an earlier claim that an error cut off before they were written go back to the queue. It is certain that they were
   * not written: a task is remembered in the same turn in which it is written, and forgotten only after its end was committed, so
   * that it is no longer `sent`. (The fence excludes tasks forgotten after a newer connection took over.) A claim that
   * may still be committed holds the lock of the device, and nothing is claimed meanwhile: there is one run at a time.
   */
  putBack(connection: DaemonConnection): Promise<void>;
  /** Puts back one task, of which it is known that it was not written. */
  requeue(connection: DaemonConnection, taskId: string): Promise<void>;
  /** Makes an ordinary message of one that its daemon cannot take into a turn. */
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
      // Before the claim: it may be committed although its answer never comes.
      open.add(connection);
      const claimed = await claimOwned(database, connection);
      if (claimed.tasks.length === 0) open.delete(connection);
      return claimed;
    },
    close: (connection) => void open.delete(connection),
    isOpen: (connection) => open.has(connection),
    putBack: async (connection) => {
      const { deviceId, fence, memory } = connection;
      await withOwned(database, connection, (tx) => unclaimUnwritten(tx, deviceId, fence, [...memory.tasks.keys()]));
      open.delete(connection);
    },
    requeue: ({ deviceId, fence }, taskId) => withDevice(database, deviceId, (tx) => unclaimTask(tx, taskId, fence)),
    giveUp: ({ deviceId, fence }, taskId) => withDevice(database, deviceId, (tx) => giveUpSteer(tx, taskId, fence)),
  };
}
