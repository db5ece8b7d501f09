/** A complete configuration for tests: nothing from the environment, nothing that could collide with another process. */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RelayConfig, defaults } from '@relay/config';

/**
 * The defaults of `overrides.role` (standalone if absent) with free ports on loopback, no metrics, no log, no waiting on close,
 * no built-in sign-in, no development issuer and a fresh data folder that does not exist yet; its creator removes it. `overrides` win. Unchecked.
 */
export function testConfig(overrides: Partial<RelayConfig> = {}): RelayConfig {
  return {
    ...defaults(overrides.role ?? 'standalone'),
    host: '127.0.0.1',
    port: 0,
    publicUrl: 'http://localhost:4000',
    metricsPort: 0,
    logLevel: 'silent',
    drainSeconds: 0,
    instanceName: 'test',
    authBuiltin: false,
    authDevIssuer: false,
    dataDir: join(tmpdir(), `relay-test-${randomUUID()}`),
    ...overrides,
  };
}
