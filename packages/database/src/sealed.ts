/** Values that the api keeps sealed, so that it can seal them again after its secret was rotated. Nothing is opened here. */
import type { Db } from './transaction.ts';

interface Sealed {
  id: string;
  sealed: string;
}

/** The addresses to notify behind `afterId`, up to 100. */
export async function sealedAddresses(db: Db, afterId: string): Promise<Sealed[]> {
  return db.sql.query<Sealed>`SELECT id, sealed FROM subscriptions WHERE id > ${afterId} ORDER BY id LIMIT 100`;
}

/**
 * Replaces the sealed part of an address, and its keyed hash, unless it changed since it was read. If the person has
 * the same address twice, which instances with different secrets can cause, the hash stays.
 */
export async function resealAddress(
  db: Db,
  { id, sealed }: Sealed,
  fresh: { sealed: string; addressHash: string },
): Promise<void> {
  await db.sql.execute`
    UPDATE subscriptions s SET sealed = ${fresh.sealed}, address_hash = CASE WHEN EXISTS (
        SELECT 1 FROM subscriptions o WHERE o.user_id = s.user_id AND o.address_hash = ${fresh.addressHash}
      ) THEN address_hash ELSE ${fresh.addressHash} END
    WHERE id = ${id} AND sealed = ${sealed}`;
}

/** The private halves of all keys of this relay: one a month for answers, those for browsers. */
export async function sealedServerKeys(db: Db): Promise<string[]> {
  const rows = await db.sql.query<{ sealed: string }>`SELECT sealed FROM server_keys`;
  return rows.map(({ sealed }) => sealed);
}

/** Replaces the private half of a key, even if the key was renamed. */
export async function resealServerKey(db: Db, sealed: string, fresh: string): Promise<void> {
  await db.sql.execute`UPDATE server_keys SET sealed = ${fresh} WHERE sealed = ${sealed}`;
}
