/** Tells all apps of a user that what they have may be no longer so. */
import { encodeUserFrame } from '@relay/protocol';
import type { UserChannel } from './publisher.ts';

/** For as long as instances may hear of one cause. */
const rememberMs = 3_600_000;

/**
 * `resync`, once per `cause` whichever instances ask for it, as an entry of the user's history: apps that listen hear it now, and those that
 * come back later hear it among what they missed, or are told to reload because the history ends after it. Only apps that sent `since`
 * know it. Rejects like `appendOnce`.
 */
export async function tellToReload(
  channel: Pick<UserChannel, 'appendOnce'>,
  user: string,
  cause: string,
): Promise<void> {
  await channel.appendOnce(user, encodeUserFrame('x', '{"type":"resync"}'), [`reload ${cause}`], rememberMs);
}
