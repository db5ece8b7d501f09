/** Says that notifications were written: to one api, which sends them, or to all where none confirms it (rules, 14.5). */
import { type Backplane, poker } from '@relay/backplane';
import type { Logger } from '@relay/telemetry';

/** Returns at once; what fails is found by the next look of any api. */
export const createNotify = (backplane: Backplane, logger: Logger): (() => void) =>
  poker(
    backplane,
    'outbox',
    () => backplane.publishControl(JSON.stringify({ v: 1, kind: 'outbox' })),
    (error) => logger.warn({ err: error }, 'outbox not announced'),
  );
