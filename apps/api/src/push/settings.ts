/** The causes that notify a person, and the hours (rules, 14.11 and 14.13). */
import { readNotificationSettings, rescheduleQuiet, saveNotificationSettings } from '@relay/database';
import { type NotificationSettings, RelayError, type SaveNotificationSettings } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import type { Push } from './push.ts';
import { isTimeZone, quietEnd } from './quiet.ts';

/**
 * A delivery held by earlier quiet hours waits for the new ones to pass, or is sent at once. @throws RelayError INVALID_REQUEST
 */
export async function saveSettings(
  { database }: Operations,
  push: Push,
  userId: string,
  settings: SaveNotificationSettings,
): Promise<NotificationSettings> {
  const quiet = settings.quietHours ?? null;
  if (quiet !== null && !isTimeZone(quiet.timeZone))
    throw new RelayError('INVALID_REQUEST', '"timeZone" must be a name of the IANA database, like "Europe/Berlin".');
  if (quiet?.start === quiet?.end && quiet !== null)
    throw new RelayError('INVALID_REQUEST', '"start" and "end" of quiet hours must differ.');
  await saveNotificationSettings(database, userId, settings);
  const now = Date.now();
  await rescheduleQuiet(database, userId, (cause) => {
    const end = quietEnd(quiet, cause, now);
    return end === undefined ? undefined : end - now;
  });
  push.room?.wake();
  return readNotificationSettings(database, userId);
}
