/** What the built-in sign-in is given. It keeps no state outside of what `createIdentity` makes from this. */
import type { Backplane } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import type { Database } from '@relay/database';
import type { Logger } from '@relay/telemetry';

export interface IdentityDeps {
  /** `authSecret` holds at least one secret. */
  config: RelayConfig;
  database: Database;
  backplane: Backplane;
  logger: Logger;
}
