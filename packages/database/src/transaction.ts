/**
 * One way to change state: a short transaction that begins by locking the row of the device it concerns. Everything that
 * happens to the sessions and tasks of a device is thereby in one order, whoever asks, and nothing deadlocks.
 */
import type { Db, Transactions } from './db.ts';
import { Prisma } from './generated/prisma/client.ts';

export type { Db, Models } from './db.ts';
export { Prisma };

export interface DeviceLock {
  id: string;
  ownerId: string;
  agentType: string;
  status: 'online' | 'offline';
  fence: number;
}

/**
 * Runs `work` in a transaction that holds the lock of the device. `work` gets undefined when there is no such device (or it
 * was removed). Everything in `work` must use the transaction's client. Throws what `work` throws, after a rollback.
 */
export async function withDevice<T>(
  prisma: Transactions,
  deviceId: string,
  work: (tx: Db, device: DeviceLock | undefined) => Promise<T>,
): Promise<T> {
  return prisma.$direct(async (tx) => {
    const rows = await tx.$queryRaw<
      { id: string; owner_id: string; agent_type: string; status: 'online' | 'offline'; connection_fence: bigint }[]
    >`
      SELECT id, owner_id, agent_type, status, connection_fence FROM devices
      WHERE id = ${deviceId} AND removed_at IS NULL FOR NO KEY UPDATE`;
    const row = rows[0];
    return work(
      tx,
      row && {
        id: row.id,
        ownerId: row.owner_id,
        agentType: row.agent_type,
        status: row.status,
        fence: Number(row.connection_fence),
      },
    );
  });
}
