/** The dependencies of the built-in sign-in. It keeps no state outside of the objects that `createIdentity` makes from them. */
import type { Backplane } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import type { Database } from '@relay/database';
import type { Logger } from '@relay/telemetry';
import type { Passwords } from './passwords.ts';

export interface IdentityDeps {
  /** `authSecret` holds at least one secret. */
  config: RelayConfig;
  database: Database;
  backplane: Backplane;
  logger: Logger;
  /** Hashes and verifies passwords. Default: scrypt of the library, a tenth of a second of a core each. */
  passwords?: Passwords | undefined;
}
