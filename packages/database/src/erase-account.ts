/**
 * Deleting an account (rules, 8.14): every table loses the rows of the person. One transaction deletes the sign-in and
 * marks the rest as owed; the rest follows in bounded batches, each safe to repeat. `unfinishedDeletions` lists
 * interrupted deletions.
 */
import { removeDeviceRow, eraseOfDevice } from './erase.ts';
import { newUlid } from './ulids.ts';
import { type Sql, sql } from './sql.ts';
import { type Db, type Whole, withDevice } from './transaction.ts';

const tasksAtOnce = 500;
const sessionsAtOnce = 200;
const rowsAtOnce = 1000;

/**
 * Revokes every sign-in of the person, for good, and records that the rest must be erased: all of it or nothing.
 * Records tokens that are still valid as revoked.
 */
export async function beginAccountDeletion(db: Whole, userId: string): Promise<void> {
  await db.sql.transaction(async (tx) => {
    await tx.sql.execute`
      INSERT INTO account_deletions (user_id) VALUES (${userId})
      ON CONFLICT (user_id) DO UPDATE SET requested_at = now(), erased_at = NULL`;
    await tx.sql.execute`INSERT INTO revocations (id, subject) VALUES (${newUlid()}, ${userId})`;
    await tx.sql.execute`
      INSERT INTO revocations (id, login) SELECT ${newUlid()} || '-' || id, id FROM logins WHERE user_id = ${userId}`;
    // Cascades to sign-ins, passwords, tokens and grants of programs.
    await tx.sql.execute`DELETE FROM users WHERE id = ${userId}`;
  });
}

/** Refuses the credential of every device of the person from now on. Returns their ids, those removed earlier included. */
async function closeDevices(db: Whole, userId: string): Promise<string[]> {
  const devices = await db.models.device.findMany({
    where: { ownerId: userId },
    select: { id: true, removedAt: true },
  });
  for (const { id, removedAt } of devices)
    if (removedAt === null) await withDevice(db, id, async (tx, device) => device && removeDeviceRow(tx, id));
  return devices.map(({ id }) => id);
}

/** Repeats a statement that deletes up to `atOnce` rows until it deletes fewer. */
async function inBatches(db: Db, atOnce: number, statement: Sql): Promise<void> {
  while ((await db.sql.execute(statement)) >= atOnce);
}

/** Deletes the sessions and tasks of a closed device: nothing writes to them now. */
async function eraseClosedDevice(db: Db, deviceId: string): Promise<void> {
  await inBatches(
    db,
    tasksAtOnce,
    sql`DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE device_id = ${deviceId} LIMIT ${tasksAtOnce})`,
  );
  // Aliases and watches go with them.
  await inBatches(
    db,
    sessionsAtOnce,
    sql`DELETE FROM sessions WHERE key IN (SELECT key FROM sessions WHERE device_id = ${deviceId} LIMIT ${sessionsAtOnce})`,
  );
  await eraseOfDevice(db, deviceId);
}

/** Deletes the rows that belong to the person and to no device. */
async function erasePersonal(db: Db, userId: string): Promise<void> {
  await db.sql.execute`DELETE FROM device_keys WHERE user_id = ${userId}`;
  await db.sql.execute`DELETE FROM acp_tokens WHERE user_id = ${userId}`;
  await db.sql.execute`DELETE FROM schedules WHERE owner_id = ${userId}`;
  await db.sql.execute`DELETE FROM device_codes WHERE decided_by = ${userId} OR bound_to = ${userId}`;
  await db.sql.execute`DELETE FROM watched_sessions WHERE user_id = ${userId}`;
  await db.sql.execute`DELETE FROM invitations WHERE created_by = ${userId} AND kind = 'invite'`;
  // Flows in progress, and codes that were used, name their person in a text of the library.
  await db.sql.execute`DELETE FROM verifications WHERE position(${userId} in value) > 0`;
  await inBatches(
    db,
    rowsAtOnce,
    sql`DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_entries WHERE user_id = ${userId} LIMIT ${rowsAtOnce})`,
  );
  await inBatches(
    db,
    rowsAtOnce,
    sql`DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE user_id = ${userId} LIMIT ${rowsAtOnce})`,
  );
  // Before the items: a head with counts changes for each of them.
  await db.sql.execute`DELETE FROM inbox_heads WHERE user_id = ${userId}`;
  await inBatches(
    db,
    rowsAtOnce,
    sql`DELETE FROM inbox_items WHERE id IN (SELECT id FROM inbox_items WHERE user_id = ${userId} LIMIT ${rowsAtOnce})`,
  );
  await db.sql.execute`DELETE FROM subscriptions WHERE user_id = ${userId}`;
  await db.sql.execute`DELETE FROM notification_settings WHERE user_id = ${userId}`;
  await inBatches(
    db,
    rowsAtOnce,
    sql`DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE user_id = ${userId} LIMIT ${rowsAtOnce})`,
  );
  await inBatches(
    db,
    rowsAtOnce,
    sql`DELETE FROM idempotency_keys WHERE (user_id, route, key) IN (
      SELECT user_id, route, key FROM idempotency_keys WHERE user_id = ${userId} LIMIT ${rowsAtOnce})`,
  );
}

/**
 * Erases the data that `beginAccountDeletion` left. Keeps a row of each device, without owner and names, so that its
 * daemon gets the removal. Calls `onClosed` with every device as soon as the relay refuses its credential. Safe to
 * repeat, also concurrently.
 */
export async function eraseAccount(
  db: Whole,
  userId: string,
  onClosed: (deviceId: string) => Promise<void>,
): Promise<void> {
  await erasePersonal(db, userId);
  const devices = await closeDevices(db, userId);
  for (const id of devices) await onClosed(id);
  for (const id of devices) await eraseClosedDevice(db, id);
  // Again, for writes that were under way while the devices were closed.
  await erasePersonal(db, userId);
  await db.sql.execute`UPDATE devices SET owner_id = '' WHERE owner_id = ${userId} AND removed_at IS NOT NULL`;
  await db.sql.execute`UPDATE account_deletions SET erased_at = now() WHERE user_id = ${userId}`;
}

/**
 * Deletions for the sweep, a minute after their request. `erased`: the request finished it. An account of this relay is
 * erased a second time even so, for writes in flight at that moment; a person of another issuer might have signed up
 * again.
 */
export async function unfinishedDeletions(db: Db): Promise<{ userId: string; erased: boolean }[]> {
  const rows = await db.sql.query<{ user_id: string; erased: boolean }>`
    SELECT user_id, erased_at IS NOT NULL AS erased FROM account_deletions
    WHERE requested_at < now() - interval '1 minute' ORDER BY requested_at LIMIT 100`;
  return rows.map(({ user_id: userId, erased }) => ({ userId, erased }));
}

/** Completes a deletion: removes the last record of the account. */
export async function forgetDeletion(db: Db, userId: string): Promise<void> {
  await db.sql.execute`DELETE FROM account_deletions WHERE user_id = ${userId} AND erased_at IS NOT NULL`;
}
