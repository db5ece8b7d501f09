/** The whole relay in one process: embedded memory, in-memory backplane, both doors (architecture, single process). */
import { openApi } from '@relay/api';
import { createDeviceVerifier } from '@relay/auth';
import { createMemoryBus } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import { newestFence, openDatabase, readCredential } from '@relay/database';
import { createGateway } from '@relay/gateway';
import { type Service, openFilesLimit, openFilesWarning, serve } from '@relay/service';
import {
  createInstanceMetrics,
  createLogger,
  createMetrics,
  createReadiness,
  createTracer,
  startMetricsServer,
} from '@relay/telemetry';
import { createDoors } from './doors.ts';
import { keptSecret } from './secret.ts';

const readinessTimeoutMs = 2000;
/** Somebody waits for the process to end; what takes longer is asked again. */
const lastAnswersMs = 1000;

/** The built-in sign-in needs a secret; where none is configured, one is made and kept. */
function withSecret(config: RelayConfig): RelayConfig {
  if (!config.authBuiltin || config.authSecret.length > 0) return config;
  return { ...config, authSecret: [keptSecret(config.dataDir)] };
}

export interface StandaloneOptions {
  /** The built pages; without it there are none. */
  web?: { directory: string };
}

/** Opens the database, then listens. Throws, with nothing left open, when one of them cannot be had. */
export async function startStandalone(
  given: RelayConfig,
  version: string,
  { web }: StandaloneOptions = {},
): Promise<Service> {
  const config = withSecret(given);
  const logger = createLogger({ level: config.logLevel, name: 'standalone', instance: config.instanceName });
  const metrics = createMetrics({ instance: config.instanceName, processMetrics: true });
  const tracer =
    config.otelExporterOtlpEndpoint === undefined
      ? undefined
      : createTracer({
          endpoint: config.otelExporterOtlpEndpoint,
          service: 'relay-standalone',
          version,
          instance: config.instanceName,
          log: logger,
        });
  const observed = createInstanceMetrics(metrics, { role: 'standalone', version }, tracer);
  const warning = openFilesWarning(openFilesLimit());
  if (warning !== undefined) logger.warn(warning);
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    vacuumIntervalMs: config.vacuumIntervalMs,
    onWarning: (message) => logger.warn(message),
    onStatement: observed.statement,
  });
  // Fences are times; a clock that was set back during a restart must not make an older connection the newer one.
  const aheadMs = Math.max(0, (await newestFence(database.prisma)) + 1 - Date.now());
  const bus = createMemoryBus({
    leaseTtlMs: config.leaseTtlMs,
    historyBytes: config.resumeHistoryBytes,
    historyTtlMs: config.resumeHistoryMs,
    now: () => Date.now() + aheadMs,
  });
  const apiBackplane = observed.backplane(bus.connect(`${config.instanceName}-api`));
  const gatewayBackplane = observed.backplane(bus.connect(`${config.instanceName}-gateway`));
  const deviceVerifier = createDeviceVerifier({ lookup: (deviceId) => readCredential(database.prisma, deviceId) });
  observed.watchPool(() => database.pool());
  const readiness = createReadiness({
    checks: observed.watchDependencies({
      database: () => database.health(),
      backplane: () => gatewayBackplane.health(),
    }),
    timeoutMs: readinessTimeoutMs,
  });
  const announce = (line: string) => process.stderr.write(`${line}\n`);
  const shared = { config, database, deviceVerifier, logger, metrics, tracer };
  const { api, setupLink } = await openApi({ ...shared, backplane: apiBackplane, readiness, version, web, announce });
  const gateway = createGateway({ ...shared, backplane: gatewayBackplane });
  const server = createDoors(api, gateway);

  const closeDoors = async () => {
    await api.close();
    await gateway.close();
  };
  const closeRest = async () => {
    await apiBackplane.close();
    await gatewayBackplane.close();
    await database.close();
  };

  const served = await serve(server, config).catch(async (error: unknown) => {
    await closeDoors();
    await closeRest();
    throw error;
  });
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

  return {
    welcome: [
      `Relay ${version} is ready at ${config.publicUrl} (listening on ${config.host}:${served.port}).`,
      ...(setupLink === undefined ? [] : [`Create the first account: ${setupLink}`]),
      ...(config.authDevIssuer
        ? ['AUTH_DEV_ISSUER is on: "npm run dev:token" prints an access token for this machine.']
        : []),
    ],
    stop: async () => {
      readiness.drain();
      const drainMs = config.drainSeconds * 1000;
      await Promise.all([api.drain(drainMs), gateway.drain(drainMs)]);
      await served.finish(lastAnswersMs);
      await closeDoors();
      await served.cut();
      await closeRest();
      await metricsServer?.close();
      await tracer?.stop();
    },
  };
}
