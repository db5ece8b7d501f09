/** The causes and hours that a person chose (rules, 14.11 and 14.13). */
import {
  type CauseLevels,
  type NotificationSettings,
  type QuietHours,
  type SaveNotificationSettings,
  defaultLevels,
} from '@relay/protocol';
import type { Db } from './transaction.ts';

interface NotificationChoices {
  /** Only the person's own choices, not the defaults. */
  causes: CauseLevels;
  quietHours: QuietHours | null;
}

export async function readChoices(db: Db, userId: string): Promise<NotificationChoices> {
  const [row] = await db.sql.query<{ levels: CauseLevels; quiet: QuietHours | null }>`
    SELECT levels, quiet FROM notification_settings WHERE user_id = ${userId}`;
  return { causes: row?.levels ?? {}, quietHours: row?.quiet ?? null };
}

/** The settings as the person sees them, including held deliveries. */
export async function readNotificationSettings(db: Db, userId: string): Promise<NotificationSettings> {
  const { causes, quietHours } = await readChoices(db, userId);
  const [held] = await db.sql.query<{ count: number; until: Date | null }>`
    SELECT count(*)::int AS count, min(next_at) AS until FROM deliveries
    WHERE state = 'pending' AND user_id = ${userId} AND held_for = 'quiet_hours'`;
  const until = held?.until ? { until: held.until.toISOString() } : {};
  return { causes: { ...defaultLevels, ...causes }, quietHours, held: { count: held?.count ?? 0, ...until } };
}

export async function saveNotificationSettings(
  db: Db,
  userId: string,
  { causes = {}, quietHours = null }: SaveNotificationSettings,
): Promise<void> {
  const quiet = quietHours === null ? null : JSON.stringify(quietHours);
  await db.sql.execute`
    INSERT INTO notification_settings (user_id, levels, quiet) VALUES (${userId}, ${JSON.stringify(causes)}::jsonb, ${quiet}::jsonb)
    ON CONFLICT (user_id) DO UPDATE SET levels = excluded.levels, quiet = excluded.quiet, updated_at = now()`;
}
