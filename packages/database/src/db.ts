/** What speaks to the database: types, and no code. */
import type { Prisma } from './generated/prisma/client.ts';

/** What statements are sent with: the client, or a running transaction. */
export interface Db {
  $queryRaw<T = unknown>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<T>;
  /** Returns how many rows were changed. */
  $executeRaw(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<number>;
}
/** What models are read and written with: Prisma's client, or a transaction of it. */
export type Models = Prisma.TransactionClient;

export interface Transactions {
  /**
   * Runs `work` in a transaction of its own (READ COMMITTED), which is rolled back when `work` throws or does not end in its time. All that
   * `work` sends must go through the client it is given. Throws what `work` throws; `P2028` when the time is over.
   */
  $direct<T>(work: (tx: Db) => Promise<T>): Promise<T>;
}
