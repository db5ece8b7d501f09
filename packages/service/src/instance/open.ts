/** The one assembly of an instance: everything that an api and a gateway need, opened in order and closed in reverse. */
import { type DeviceVerifier, createDeviceVerifier } from '@relay/auth';
import { type Backplane, claimRedis } from '@relay/backplane';
import type { RelayConfig, Role } from '@relay/config';
import { type Database, openDatabase, readCredential, readInstallationId } from '@relay/database';
import {
  type InstanceMetrics,
  type Logger,
  type Metrics,
  type ReadinessCheck,
  type ReadinessProbe,
  type Tracer,
  createInstanceMetrics,
  createLogger,
  createMetrics,
  createReadiness,
  createTracer,
} from '@relay/telemetry';
import { watchAuthority } from '../authority.ts';
import { type Closers, createClosers } from '../closers.ts';
import { openFilesLimit, openFilesWarning } from '../open-files.ts';
import { createPatience } from './patience.ts';
import { publishInboxes } from './inboxes.ts';
import { watchInstallation } from './installation.ts';
import { type Connect, inMemory, overRedis } from './backplane.ts';
import { type Door, type ServedDoor, serveDoor } from './serve-door.ts';

/** A member of the backplane: an instance of the role standalone has both, the others the one of their name. */
export type InstanceRole = 'api' | 'gateway';

/** The dependencies of the parts of an instance. */
export interface InstanceDeps {
  readonly config: RelayConfig;
  readonly database: Database;
  readonly backplane: Backplane;
  readonly deviceVerifier: DeviceVerifier;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer | undefined;
  readonly readiness: ReadinessProbe;
  readonly version: string;
}

interface InstanceOptions {
  readonly version: string;
  /** Readiness checks in addition to the database and the backplane of the first part. */
  readonly checks?: (backplane: Backplane) => Readonly<Record<string, ReadinessCheck>>;
  /** A database that is open; it is then not closed. Default: the one of the configuration. */
  readonly database?: Database;
  /** How members reach each other. Default: within the process for standalone, over Redis for the other roles. */
  readonly connect?: Connect;
  /** Gets every line of the log. Default: standard output. */
  readonly log?: { write(line: string): void } | undefined;
  /** Whether the instance exports the metrics of the process: only one instance per process. Default true. */
  readonly processMetrics?: boolean;
}

export interface Instance {
  /** Throws a TypeError for a part that this role does not have. */
  deps(part: InstanceRole): InstanceDeps;
  /** Opens a door on the opened resources and listens. If either fails, closes everything before it rejects. */
  serve(open: () => Promise<Door>): Promise<ServedDoor>;
  /**
   * Shuts down in order: drains, answers, closes. Every call returns the same promise. Rejects at last with the errors.
   */
  close(): Promise<void>;
}

const readinessTimeoutMs = 2000;
const partsOf = { api: ['api'], gateway: ['gateway'], standalone: ['api', 'gateway'] } as const;

/** Opens log, metrics, traces, database and backplane, in this order. Leaves nothing open when it rejects. */
export async function openInstance(role: Role, config: RelayConfig, options: InstanceOptions): Promise<Instance> {
  const closers = createClosers();
  try {
    return await assemble(role, config, options, closers);
  } catch (error) {
    await closers.close().catch(() => undefined);
    throw error;
  }
}

function lostSpans(metrics: Metrics): (spans: number) => void {
  const lost = metrics.counter('relay_trace_spans_lost_total', 'Spans of traces that could not be sent');
  return (spans) => lost.inc(spans);
}

async function assemble(
  role: Role,
  config: RelayConfig,
  options: InstanceOptions,
  closers: Closers,
): Promise<Instance> {
  const { version, log } = options;
  const instance = config.instanceName;
  const logger = createLogger({ level: config.logLevel, name: role, instance, ...(log ? { destination: log } : {}) });
  const metrics = createMetrics({ instance, processMetrics: options.processMetrics ?? true });
  const endpoint = config.otelExporterOtlpEndpoint;
  const tracer =
    endpoint === undefined
      ? undefined
      : createTracer({
          ...{ endpoint, service: `relay-${role}`, version, instance, log: logger },
          share: config.otelTracesSamplerArg,
          onLost: lostSpans(metrics),
        });
  if (tracer) closers.push('traces', () => tracer.stop());
  const observed = createInstanceMetrics(metrics, { role, version }, tracer);
  watchAuthority({ metrics, logger });
  const warning = openFilesWarning(openFilesLimit());
  if (warning !== undefined) logger.warn(warning);

  const patience = createPatience(config, { version, logger });
  closers.push('probes of the start', () => patience.end());
  const database =
    options.database ??
    (await patience.wait('database', () => openOwnDatabase(config, version, { logger, observed, closers })));
  observed.watchPool(() => database.pool());
  const connect =
    options.connect ?? (role === 'standalone' ? await inMemory(config, database) : overRedis(config, logger));
  const members = new Map<InstanceRole, Backplane>();
  for (const part of partsOf[role]) {
    const name = role === 'standalone' ? `${instance}-${part}` : instance;
    const member = observed.backplane(await patience.wait('backplane', () => connect(name)));
    closers.push(`backplane of the ${part}`, () => member.close());
    members.set(part, member);
  }
  const memberOf = (part: InstanceRole): Backplane => {
    const member = members.get(part);
    if (!member) throw new TypeError(`an instance of the role ${role} has no ${part}`);
    return member;
  };

  if (role !== 'standalone' && !options.connect) {
    const installation = await readInstallationId(database);
    const backplane = memberOf(role);
    await patience.wait('backplane', () => claimRedis(backplane, installation));
    const watch = watchInstallation({ backplane, installation, logger, metrics });
    closers.push('claim of Redis', () => watch.stop());
  }
  await patience.end();
  const first = memberOf(partsOf[role][0]);
  const inboxes = publishInboxes({ database, backplane: first, logger, metrics, repairs: members.has('api') });
  closers.push('inboxes', () => inboxes.stop());
  const readiness = createReadiness({
    checks: observed.watchDependencies({
      database: () => database.health(),
      backplane: () => first.health(),
      ...options.checks?.(first),
    }),
    // A gateway can claim no device without it; an api still has lists, sessions and new tasks, and all apis lose it at once.
    dispensable: role === 'api' ? ['backplane'] : [],
    schema: database.newerMigrations.length > 0 ? 'newer' : undefined,
    timeoutMs: readinessTimeoutMs,
  });
  const deviceVerifier = createDeviceVerifier({ lookup: (deviceId) => readCredential(database, deviceId) });
  const shared = { config, database, deviceVerifier, logger, metrics, tracer, readiness, version };
  return {
    deps: (part) => ({ ...shared, backplane: memberOf(part) }),
    serve: async (open) => {
      try {
        return await serveDoor({ ...shared, role, tickets: first, closers }, open);
      } catch (error) {
        await closers.close().catch(() => undefined);
        throw error;
      }
    },
    close: () => closers.close(),
  };
}

async function openOwnDatabase(
  config: RelayConfig,
  release: string,
  { logger, observed, closers }: { logger: Logger; observed: InstanceMetrics; closers: Closers },
): Promise<Database> {
  const database = await openDatabase({
    url: config.databaseUrl,
    release,
    prepare: config.databasePrepare,
    dataDir: config.dataDir,
    sync: config.dataSync,
    vacuumIntervalMs: config.vacuumIntervalMs,
    onWarning: (message) => logger.warn(message),
    onStatement: observed.statement,
  });
  closers.push('database', () => database.close());
  if (database.newerMigrations.length > 0)
    logger.warn(
      { migrations: database.newerMigrations },
      'the database was migrated by a newer release, which this one runs with',
    );
  return database;
}
