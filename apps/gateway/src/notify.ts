/** Notifies one api of new notifications, which sends them, or all apis if none confirms (rules, 14.5). */
import { type Backplane, poker } from '@relay/backplane';
import type { Logger } from '@relay/telemetry';

/** Returns immediately; if it fails, the next look of any api finds the notifications. */
export const createNotify = (backplane: Backplane, logger: Logger): (() => void) =>
  poker(
    backplane,
    'outbox',
    () => backplane.publishControl(JSON.stringify({ v: 1, kind: 'outbox' })),
    (error) => logger.warn({ err: error }, 'outbox not announced'),
  );
