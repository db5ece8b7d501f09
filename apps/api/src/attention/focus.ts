/** The session that an app shows to its person (rules, 14.12): known to all instances for 10 s after the app reported it. */
import type { Shared } from '@relay/backplane';

const scope = 'focus';
const keptMs = 10_000;

const keyOf = (userId: string, sessionId: string) => JSON.stringify([userId, sessionId]);

/** Bound: the number of frames that apps can send in 10 s. */
export const keepFocus = (backplane: Pick<Shared, 'mark'>, userId: string, sessionId: string): Promise<void> =>
  backplane.mark(scope, [keyOf(userId, sessionId)], keptMs);

/** Whether an app shows exactly this session. False when the backplane does not know. */
export async function isShown(backplane: Pick<Shared, 'once'>, userId: string, sessionId: string): Promise<boolean> {
  // Asking claims the key where no app did, for the shortest time.
  return !(await backplane.once(scope, [keyOf(userId, sessionId)], 1));
}
