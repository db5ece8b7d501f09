/**
 * One way to change state: a short transaction that begins by locking the row of the device it concerns. Everything that
 * happens to the sessions and tasks of a device is thereby in one order, whoever asks, and nothing deadlocks.
 */
import type { Transactions } from './direct-transaction.ts';
import { Prisma } from './generated/prisma/client.ts';

/** What statements are sent with: the client, or a running transaction. */
export interface Db {
  $queryRaw<T = unknown>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<T>;
  /** Returns how many rows were changed. */
  $executeRaw(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<number>;
}
/** What models are read and written with: Prisma's client, or a transaction of it. */
export type Models = Prisma.TransactionClient;
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
