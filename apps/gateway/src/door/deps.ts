/** The dependencies of a gateway. It keeps no state outside of the objects that `createGateway` makes from them. */
import type { DeviceVerifier } from '@relay/auth';
import type { Backplane } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import type { Database } from '@relay/database';
import type { Logger, Metrics, ReadinessProbe, Tracer } from '@relay/telemetry';

export interface GatewayDeps {
  config: RelayConfig;
  database: Database;
  backplane: Backplane;
  deviceVerifier: DeviceVerifier;
  readiness: Pick<ReadinessProbe, 'drain'>;
  logger: Logger;
  metrics: Metrics;
  /** Absent: no traces. */
  tracer?: Tracer | undefined;
}
