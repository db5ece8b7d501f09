/** The numbers of deliveries for operators: `relay_push_…` (docs/push.md). */
import { type ClaimedDelivery, type Database, type DeliveryOutcome, countSubscriptions } from '@relay/database';
import type { Logger, Metrics } from '@relay/telemetry';

/** The time from due to accepted by the service. Retries take hours. */
const seconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 28_800];
const countEveryMs = 30_000;
/** A refusal concerns all deliveries to a service: one line a minute is enough. */
const refusedLogMs = 60_000;

interface PushMetrics {
  /** `settled`: false if another instance had taken over the claim. */
  settled(delivery: ClaimedDelivery, outcome: DeliveryOutcome, settled: boolean): void;
  swept(takenOver: number, oldestDueSeconds: number): void;
}

export function pushMetrics(metrics: Metrics, database: Database, logger: Logger): PushMetrics {
  const deliveries = metrics.counter(
    'relay_push_deliveries_total',
    'Attempts of deliveries to addresses of people, by kind and outcome; refused: the service does not accept this relay',
    ['kind', 'outcome'],
  );
  const took = metrics.histogram(
    'relay_push_seconds',
    'From a notification until its service took it, by kind',
    ['kind'],
    seconds,
  );
  const duplicates = metrics.counter(
    'relay_push_duplicates_total',
    'Deliveries taken over from an instance that ended',
    [],
  );
  const suppressed = metrics.counter(
    'relay_push_suppressed_total',
    'Deliveries that were not sent because they were no longer of use, by reason',
    ['reason'],
  );
  const oldest = metrics.gauge(
    'relay_push_oldest_due_seconds',
    'How long the delivery that is due longest has been due',
  );
  let refusedAt = -Infinity;
  let countedAt = -Infinity;
  metrics.gauge(
    'relay_push_subscriptions',
    'Addresses of all people, by kind and state; the same at every api',
    ['kind', 'state'],
    async (gauge) => {
      if (performance.now() - countedAt < countEveryMs) return;
      countedAt = performance.now();
      try {
        const counts = await countSubscriptions(database);
        gauge.reset();
        for (const { kind, state, count } of counts) gauge.set({ kind, state }, count);
      } catch (error) {
        logger.debug({ err: error }, 'the addresses could not be counted');
      }
    },
  );
  return {
    settled: ({ kind, host, createdAt }, { state, isRefused, httpStatus }, settled) => {
      if (isRefused && performance.now() - refusedAt > refusedLogMs) {
        refusedAt = performance.now();
        logger.warn({ kind, host, status: httpStatus }, 'a push service does not accept this relay');
      }
      deliveries.inc({ kind, outcome: !settled ? 'unknown' : isRefused ? 'refused' : state });
      if (!settled) return;
      if (state === 'accepted') took.observe({ kind }, Math.max(0, Date.now() - createdAt.getTime()) / 1000);
      if (state === 'superseded') suppressed.inc({ reason: 'over' });
      if (state === 'suppressed') suppressed.inc({ reason: 'read' });
    },
    swept: (takenOver, oldestDueSeconds) => {
      if (takenOver > 0) duplicates.inc({}, takenOver);
      oldest.set(oldestDueSeconds);
    },
  };
}
