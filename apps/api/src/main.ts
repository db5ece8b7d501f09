/** `npm run api`: one of several instances of the users' door. Environment → dependencies → server → SIGTERM. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createDeviceVerifier } from '@relay/auth';
import { BackplaneError, RedisAddressError, RedisTrouble, createRedisBackplane } from '@relay/backplane';
import { ConfigError, readConfig } from '@relay/config';
import { DatabaseError, openDatabase, readCredential } from '@relay/database';
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
import { openApi } from './open.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const web = { directory: fileURLToPath(new URL('../../web/dist', import.meta.url)) };
const readinessTimeoutMs = 2000;
/** What is asked of a daemon is answered within this time, or refused: longer than the slowest answer. */
const lastAnswersMs = 15_000;
/**
 * An edge that looks every second knows by then that this instance leaves. Until it does it sends requests over connections that
 * are open, and one that is closed under a POST is an error for somebody.
 */
const edgeNoticesMs = 3000;

async function start(): Promise<Service> {
  const config = readConfig('api', process.env);
  const logger = createLogger({ level: config.logLevel, name: 'api', instance: config.instanceName });
  const metrics = createMetrics({ instance: config.instanceName, processMetrics: true });
  const tracer =
    config.otelExporterOtlpEndpoint === undefined
      ? undefined
      : createTracer({
          endpoint: config.otelExporterOtlpEndpoint,
          service: 'relay-api',
          version,
          instance: config.instanceName,
          log: logger,
        });
  const observed = createInstanceMetrics(metrics, { role: 'api', version }, tracer);
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
    }),
    timeoutMs: readinessTimeoutMs,
  });
  const deviceVerifier = createDeviceVerifier({ lookup: (deviceId) => readCredential(database.prisma, deviceId) });
  const { api, setupLink } = await openApi({
    config,
    database,
    backplane,
    deviceVerifier,
    logger,
    metrics,
    tracer,
    readiness,
    version,
    web,
    announce: (line) => process.stderr.write(`${line}\n`),
  });
  const server = createServer((request, response) => api.handler(request, response));
  const door = createQuietDoor({ tickets: backplane, quietMs: quietMsOf(config.pingIntervalMs) });
  server.on('upgrade', (request, duplex, head) =>
    door.upgrade(request, duplex, () => api.upgrade(request, duplex, head)),
  );
  const served = await serve(server, config);
  const metricsServer =
    config.metricsPort === 0
      ? undefined
      : await startMetricsServer({ host: config.host, port: config.metricsPort, metrics, log: logger });
  const { publicUrl, pingIntervalMs } = config;
  const proxyCheck = checkProxy({ publicUrl, path: '/ws/attention', pingIntervalMs, door, log: logger });
  return {
    welcome: [
      `Relay ${version} (api) is ready for ${config.publicUrl} (listening on ${config.host}:${served.port}).`,
      ...(setupLink === undefined ? [] : [`Create the first account: ${setupLink}`]),
    ],
    stop: async () => {
      readiness.drain();
      proxyCheck.stop();
      door.close();
      const drainMs = config.drainSeconds * 1000;
      await Promise.all([api.drain(drainMs), delay(Math.min(drainMs, edgeNoticesMs))]);
      await served.finish(lastAnswersMs);
      await api.close();
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
