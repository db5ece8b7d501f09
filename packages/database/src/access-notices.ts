/** Notifications that a device or a program was allowed on an account (rules, 8.13), or that its sign-in changed (8.24). Every user gets them, with or without watched sessions. */
import type { Db } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** `name`: of the device or program; without control characters and marks that change the direction of text. */
export async function addAccessNotice(
  db: Db,
  { userId, name, deviceId }: { userId: string; name: string; deviceId?: string },
): Promise<void> {
  await db.sql.execute`
    INSERT INTO notifications (id, user_id, session_key, session_id, device_id, cause, name)
    VALUES (${newUlid()}, ${userId}, '', '', ${deviceId ?? null}, ${deviceId === undefined ? 'program_allowed' : 'device_allowed'}, ${name})`;
}

/** `change`: a sentence, which is shown as it is. */
export async function addAccountNotice(db: Db, userId: string, change: string): Promise<void> {
  await db.sql.execute`
    INSERT INTO notifications (id, user_id, session_key, session_id, cause, name)
    VALUES (${newUlid()}, ${userId}, '', '', 'account_changed', ${change})`;
}
