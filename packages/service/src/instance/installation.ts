/** Repeats the claim of Redis while an instance runs (rules, 15.25). */
import { type Backplane, InstallationError, claimRedis } from '@relay/backplane';
import type { Logger, Metrics } from '@relay/telemetry';

/** Redis can lose the id without losing a connection: FLUSHALL. */
const repeatMs = 60_000;

interface WatchDeps {
  readonly backplane: Pick<Backplane, 'keepFirst' | 'onRestored'>;
  readonly installation: string;
  readonly logger: Pick<Logger, 'error' | 'debug'>;
  readonly metrics: Pick<Metrics, 'gauge'>;
}

/**
 * Repeats the claim every minute and after each lost connection, because Redis can lose it. An instance that finds the id of another
 * installation keeps serving: it logs an error and sets the gauge `relay_redis_foreign`.
 */
export function watchInstallation({ backplane, installation, logger, metrics }: WatchDeps): { stop(): void } {
  const foreign = metrics.gauge('relay_redis_foreign', '1 while Redis belongs to another installation of the relay');
  let stopped = false;
  const confirm = () =>
    claimRedis(backplane, installation).then(
      () => foreign.set(0),
      (error: unknown) => {
        if (stopped) return;
        if (!(error instanceof InstallationError)) return logger.debug({ err: error }, 'the claim of Redis waits');
        foreign.set(1);
        logger.error(error.message);
      },
    );
  foreign.set(0);
  backplane.onRestored(() => void (stopped || confirm()));
  const timer = setInterval(() => void confirm(), repeatMs);
  timer.unref();
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
    },
  };
}
