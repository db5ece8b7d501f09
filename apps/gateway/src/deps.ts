/** What a gateway is given. It keeps no state outside of what `createGateway` makes from this. */
import type { DeviceVerifier } from '@relay/auth';
import type { Backplane } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import type { Database } from '@relay/database';
import type { Logger, Metrics, Tracer } from '@relay/telemetry';

export interface GatewayDeps {
  config: RelayConfig;
  database: Database;
  backplane: Backplane;
  deviceVerifier: DeviceVerifier;
  logger: Logger;
  metrics: Metrics;
  /** Absent: no traces. */
  tracer?: Tracer | undefined;
}
