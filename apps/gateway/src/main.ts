/** `npm run gateway`: one of several instances of the daemons' door. Environment → dependencies → server → SIGTERM. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createDeviceVerifier } from '@relay/auth';
import { BackplaneError, RedisAddressError, RedisTrouble, createRedisBackplane } from '@relay/backplane';
import { ConfigError, readConfig } from '@relay/config';
import { DatabaseError, openDatabase, readCredentials } from '@relay/database';
import {
  type Service,
  checkProxy,
  createQuietDoor,
  openFilesLimit,
  openFilesWarning,
  quietMsOf,
  runService,
  serve,
} from '@relay/service';
import {
  createInstanceMetrics,
  createLogger,
  createMetrics,
  createReadiness,
  createTracer,
  startMetricsServer,
} from '@relay/telemetry';
import { claimsCheck } from './claims-check.ts';
import { gathered } from './gather.ts';
import { createProbes } from './probes.ts';
import { createGateway } from './server.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const readinessTimeoutMs = 2000;
/** Probes are answered at once. */
const lastAnswersMs = 1000;

async function start(): Promise<Service> {
  const config = readConfig('gateway', process.env);
  const logger = createLogger({ level: config.logLevel, name: 'gateway', instance: config.instanceName });
  const metrics = createMetrics({ instance: config.instanceName, processMetrics: true });
  const tracer =
    config.otelExporterOtlpEndpoint === undefined
      ? undefined
      : createTracer({
          endpoint: config.otelExporterOtlpEndpoint,
          service: 'relay-gateway',
          version,
          instance: config.instanceName,
          log: logger,
        });
  const observed = createInstanceMetrics(metrics, { role: 'gateway', version }, tracer);
  const warning = openFilesWarning(openFilesLimit());
  if (warning !== undefined) logger.warn(warning);
  const database = await openDatabase({
    url: config.databaseUrl,
    dataDir: config.dataDir,
    vacuumIntervalMs: config.vacuumIntervalMs,
    onWarning: (message) => logger.warn(message),
    onStatement: observed.statement,
  });
  const backplane = observed.backplane(
    await createRedisBackplane({
      // The roles of several instances are refused without it.
      url: config.redisUrl ?? '',
      name: config.instanceName,
      leaseTtlMs: config.leaseTtlMs,
      historyBytes: config.resumeHistoryBytes,
      historyTtlMs: config.resumeHistoryMs,
      // Each reason is a line of its own: a second one must not be counted as the first said again.
      onError: (error) =>
        logger.warn({ err: error }, error instanceof RedisTrouble ? error.message : 'the backplane has trouble'),
    }),
  );
  observed.watchPool(() => database.pool());
  const readiness = createReadiness({
    checks: observed.watchDependencies({
      database: () => database.health(),
      backplane: () => backplane.health(),
      claims: claimsCheck(backplane),
    }),
    timeoutMs: readinessTimeoutMs,
  });
  const deviceVerifier = createDeviceVerifier({ lookup: gathered((ids) => readCredentials(database.prisma, ids)) });
  const gateway = createGateway({ config, database, backplane, deviceVerifier, logger, metrics, tracer });
  const server = createServer(createProbes(readiness, version));
  const door = createQuietDoor({ tickets: backplane, quietMs: quietMsOf(config.pingIntervalMs) });
  server.on('upgrade', (request, duplex, head) =>
    door.upgrade(request, duplex, () => gateway.upgrade(request, duplex, head)),
  );
  const served = await serve(server, config);
  const metricsServer =
    config.metricsPort === 0
      ? undefined
      : await startMetricsServer({ host: config.host, port: config.metricsPort, metrics, log: logger });
  const { publicUrl, pingIntervalMs } = config;
  const proxyCheck = checkProxy({ publicUrl, path: '/ws/daemon', pingIntervalMs, door, log: logger });
  return {
    welcome: [
      `Relay ${version} (gateway) is ready for ${config.publicUrl} (listening on ${config.host}:${served.port}).`,
    ],
    stop: async () => {
      readiness.drain();
      proxyCheck.stop();
      door.close();
      await gateway.drain(config.drainSeconds * 1000);
      await gateway.close();
      await served.finish(lastAnswersMs);
      await served.cut();
      await backplane.close();
      await database.close();
      await metricsServer?.close();
      await tracer?.stop();
    },
  };
}

const forPeople = [ConfigError, DatabaseError, BackplaneError, RedisAddressError];
runService(start, { isForPeople: (error) => forPeople.some((kind) => error instanceof kind) });
