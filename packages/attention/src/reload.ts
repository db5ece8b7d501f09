/** Makes all apps of a user reload stale data. */
import { encodeUserFrame } from '@relay/protocol';
import type { UserChannel } from './publisher.ts';

/** Longest time for all instances to learn of one cause. */
const rememberMs = 3_600_000;

/**
 * `resync`, once per `cause` over all instances, as an entry of the user's history: connected apps get it now, and
 * returning apps get it with the missed frames, or reload because the history does not reach back far enough. Only apps
 * that sent `since` understand it. Rejects like `appendOnce`.
 */
export async function tellToReload(
  channel: Pick<UserChannel, 'appendOnce'>,
  user: string,
  cause: string,
): Promise<void> {
  await channel.appendOnce(user, encodeUserFrame('x', '{"type":"resync"}'), [`reload ${cause}`], rememberMs);
}
