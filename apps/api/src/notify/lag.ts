/** How late the outbox is, as a number for operators: looked at now and then, by one question at a time. */
import { type Database, outboxLag } from '@relay/database';
import type { Logger, Metrics } from '@relay/telemetry';

interface OutboxLagDeps {
  database: Database;
  metrics: Metrics;
  logger: Logger;
  /** Between two looks. */
  pollMs: number;
}

/** Keeps the gauge up to date; a failed read leaves it as it was. `stop` resolves when no read is under way. */
export function watchOutboxLag({ database, metrics, logger, pollMs }: OutboxLagDeps): { stop(): Promise<void> } {
  const gauge = metrics.gauge(
    'relay_outbox_lag_seconds',
    'How long the oldest notification that is not sent has waited',
  );
  let looking: Promise<void> | undefined;
  const look = () => {
    looking ??= outboxLag(database)
      .then(
        (seconds) => gauge.set(seconds),
        (error: unknown) => logger.debug({ err: error }, 'the age of the outbox could not be read'),
      )
      .finally(() => (looking = undefined));
  };
  look();
  const timer = setInterval(look, pollMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}
