/** The whole relay in one process: embedded memory, in-memory backplane, both doors (architecture, single process). */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createApi, createIdentity } from '@relay/api';
import { createDeviceVerifier, createJwtVerifier, openDevIssuer } from '@relay/auth';
import { createMemoryBus } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import { newestFence, openDatabase, readCredential } from '@relay/database';
import { createGateway } from '@relay/gateway';
import { createLogger, createMetrics, createReadiness, startMetricsServer } from '@relay/telemetry';
import { createDoors } from './doors.ts';
import { keptSecret } from './secret.ts';

export interface Relay {
  /** Where it listens. */
  readonly port: number;
  /** Where the first account is created, as long as there is none. */
  readonly setupLink: string | undefined;
  /** Stops taking work, lets everybody go, closes everything. May be called twice. */
  stop(): Promise<void>;
}

const readinessTimeoutMs = 2000;

/** The built-in sign-in needs a secret; where none is configured, one is made and kept. */
function withSecret(config: RelayConfig): RelayConfig {
  if (!config.authBuiltin || config.authSecret.length > 0) return config;
  return { ...config, authSecret: [keptSecret(config.dataDir)] };
}

/** Opens the database, then listens. Throws, with nothing left open, when one of them cannot be had. */
export async function startStandalone(given: RelayConfig, version: string): Promise<Relay> {
  const config = withSecret(given);
  const logger = createLogger({ level: config.logLevel, name: 'standalone', instance: config.instanceName });
  const metrics = createMetrics({ instance: config.instanceName, processMetrics: true });
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    vacuumIntervalMs: config.vacuumIntervalMs,
    onWarning: (message) => logger.warn(message),
  });
  // Fences are times; a clock that was set back during a restart must not make an older connection the newer one.
  const aheadMs = Math.max(0, (await newestFence(database.prisma)) + 1 - Date.now());
  const bus = createMemoryBus({ leaseTtlMs: config.leaseTtlMs, now: () => Date.now() + aheadMs });
  const apiBackplane = bus.connect(`${config.instanceName}-api`);
  const gatewayBackplane = bus.connect(`${config.instanceName}-gateway`);
  const identity = config.authBuiltin
    ? await createIdentity({ config, database, backplane: apiBackplane, logger })
    : undefined;
  const issuers = [
    ...(identity ? [identity.issuer] : []),
    ...config.authIssuers,
    ...(config.authDevIssuer ? [openDevIssuer(config.dataDir, { audience: `${config.publicUrl}/api` }).config] : []),
  ];
  const deviceVerifier = createDeviceVerifier({ lookup: (deviceId) => readCredential(database.prisma, deviceId) });
  const readiness = createReadiness({
    checks: { database: () => database.health(), backplane: () => gatewayBackplane.health() },
    timeoutMs: readinessTimeoutMs,
  });
  const shared = { config, database, deviceVerifier, logger, metrics };
  const api = createApi({
    ...shared,
    backplane: apiBackplane,
    jwtVerifier: createJwtVerifier({ issuers }),
    readiness,
    version,
    identity,
  });
  const gateway = createGateway({ ...shared, backplane: gatewayBackplane });
  const server = createDoors(api, gateway);

  const closeRooms = async () => {
    await api.close();
    await gateway.close();
    await apiBackplane.close();
    await gatewayBackplane.close();
    await database.close();
  };

  try {
    server.listen(config.port, config.host);
    await once(server, 'listening');
  } catch (error) {
    await closeRooms();
    throw error;
  }
  const metricsServer =
    config.metricsPort === 0
      ? undefined
      : await startMetricsServer({
          host: config.host,
          port: config.metricsPort,
          metrics,
          required: false,
          log: logger,
        });

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    readiness.drain();
    const drainMs = config.drainSeconds * 1000;
    await Promise.all([api.drain(drainMs), gateway.drain(drainMs)]);
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    await closeRooms();
    server.closeAllConnections();
    await closed;
    await metricsServer?.close();
  };
  return {
    port: (server.address() as AddressInfo).port,
    setupLink: identity?.setupLink,
    stop: () => (stopping ??= stop()),
  };
}
