/**
 * Notifies every app of a person about a new device or program on the account (rules, 8.13), so that they notice an
 * unwanted one. The notification was written before.
 */
import type { Publisher } from '@relay/attention';
import type { Shared } from '@relay/backplane';
import type { Logger } from '@relay/telemetry';

interface NotifyDeps {
  publisher: Pick<Publisher, 'append'>;
  backplane: Pick<Shared, 'publishControl'>;
  logger: Logger;
}

/** Never rejects: the next poll of the outbox finds the notification. */
export async function notifyAllowed(
  { publisher, backplane, logger }: NotifyDeps,
  userId: string,
  allowed: { kind: 'device' | 'program'; name: string },
): Promise<void> {
  backplane
    .publishControl(JSON.stringify({ v: 1, kind: 'outbox' }))
    .catch((error: unknown) => logger.warn({ err: error }, 'the outbox could not be woken'));
  await publisher.append(userId, { type: 'access_granted', ...allowed, at: new Date().toISOString() }, 'x');
}
