/** Registration keys (rules, 7.13): machines register with them without a person. The relay keeps only their hash, and deletes revoked keys. */
import type { CreateDeviceKey, DeviceKey } from '@relay/protocol';
import { addAccessNotice } from './access-notices.ts';
import { type NewDeviceCode, createDeviceCode } from './device-codes.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { sql } from './sql.ts';
import type { Db, Transactions } from './transaction.ts';
import { newUlid } from './ulids.ts';

interface Row {
  id: string;
  name: string;
  uses: number;
  used: number;
  created_at: Date;
  expires_at: Date;
}
const columns = sql`id, name, uses, used, created_at, expires_at`;
const toKey = ({ created_at: createdAt, expires_at: expiresAt, ...key }: Row): DeviceKey => ({
  ...key,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});

/** Saves a key; returns undefined if the person has `max` keys that have not expired. */
export async function createDeviceKey(
  db: Transactions,
  key: Required<CreateDeviceKey> & { userId: string; keyHash: string; max: number },
): Promise<DeviceKey | undefined> {
  return db.sql.transaction(async (tx) => {
    // One at a time for each person, so that the count holds.
    await tx.sql.execute`SELECT pg_advisory_xact_lock(hashtextextended(${`device_keys ${key.userId}`}, 0))`;
    const [row] = await tx.sql.query<Row>`
      INSERT INTO device_keys (id, user_id, key_hash, name, uses, expires_at)
      SELECT ${newUlid()}, ${key.userId}, ${key.keyHash}, ${key.name}, ${key.uses}::int,
        now() + ${key.ttlSeconds}::double precision * interval '1 second'
      WHERE ${key.max} > (SELECT count(*) FROM device_keys WHERE user_id = ${key.userId} AND expires_at > now())
      RETURNING ${columns}`;
    return row && toKey(row);
  });
}

/** Keys of a person that have not expired, used-up ones included, newest first. */
export async function listDeviceKeys(db: Db, userId: string): Promise<DeviceKey[]> {
  const rows = await db.sql.query<Row>`
    SELECT ${columns} FROM device_keys WHERE user_id = ${userId} AND expires_at > now() ORDER BY created_at DESC, id DESC`;
  return rows.map(toKey);
}

/** Returns false if the person does not own the key. */
export async function revokeDeviceKey(db: Db, userId: string, id: string): Promise<boolean> {
  return (
    (await db.sql.execute`
      DELETE FROM device_keys WHERE id = ${id} AND user_id = ${userId} AND expires_at > now()`) > 0
  );
}

type Redeemed =
  { kind: 'invalid' } | { kind: 'full' } | { kind: 'taken' } | { kind: 'approved'; userId: string; name: string };

/** Rolls a transaction back with a reason. */
class NotRedeemed extends Error {
  readonly kind: 'full' | 'taken';
  constructor(kind: 'full' | 'taken') {
    super(kind);
    this.kind = kind;
  }
}

/**
 * Uses a key once: saves a registration that its person has approved, and the notification of it; all or nothing. `full`: the person has
 * `maxDevices`; `taken`: the user code is in use, ask again with another.
 */
export async function redeemDeviceKey(
  db: Transactions,
  keyHash: string,
  code: NewDeviceCode,
  maxDevices: number,
): Promise<Redeemed> {
  try {
    return await db.sql.transaction(async (tx): Promise<Redeemed> => {
      const [key] = await tx.sql.query<{ user_id: string }>`
        UPDATE device_keys SET used = used + 1
        WHERE key_hash = ${keyHash} AND used < uses AND expires_at > now()
          AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = user_id AND u.disabled_at IS NOT NULL)
          AND (${code.boundTo ?? null}::text IS NULL OR user_id = ${code.boundTo ?? null})
        RETURNING user_id`;
      if (!key) return { kind: 'invalid' };
      const { user_id: userId } = key;
      if (!(await createDeviceCode(tx, code))) throw new NotRedeemed('taken');
      await oneAtATime(tx, 'devices', userId);
      const approved = await tx.sql.execute`
        UPDATE device_codes SET state = 'approved', decided_by = ${userId}
        WHERE code_hash = ${code.codeHash}
          AND ${maxDevices} > (SELECT count(*) FROM devices WHERE owner_id = ${userId} AND removed_at IS NULL)
            + (SELECT count(*) FROM device_codes WHERE decided_by = ${userId} AND state = 'approved' AND expires_at > now())`;
      if (approved === 0) throw new NotRedeemed('full');
      await addAccessNotice(tx, { userId, name: code.deviceName, deviceId: code.deviceId });
      return { kind: 'approved', userId, name: code.deviceName };
    });
  } catch (error) {
    if (error instanceof NotRedeemed) return { kind: error.kind };
    throw error;
  }
}
