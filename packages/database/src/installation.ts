/** The id of an installation: made with the first migration, it stays in every dump, standby and restored state of the database. */
import type { Db } from './transaction.ts';

/** Returns the id that the bookkeeping gave to the first migration. It is unique per new database and never changes. */
export async function readInstallationId(db: Db): Promise<string> {
  const [row] = await db.sql.query<{ id: string }>`
    SELECT id FROM _prisma_migrations ORDER BY migration_name COLLATE "C" LIMIT 1`;
  return row!.id;
}
