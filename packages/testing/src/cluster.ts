/**
 * The relay as deployed: api and gateway processes of the built programs, real Redis and PostgreSQL behind wires that
 * can fail, HAProxy in front. Tests call instances directly, at `apis[n].url`, or through the edge, at `haproxy.url`.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migratePostgres } from '@relay/database';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type HaProxy, startHaProxy } from './haproxy.ts';
import { type TestIssuer, startIssuer } from './issuer.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { type TestPostgres, startPostgres } from './postgres.ts';
import { type Child, freePort, startProgram } from './programs.ts';
import { type TestRedis, startRedis } from './redis.ts';
import type { RelayAddress } from './relay.ts';
import { callerOf } from './rest.ts';
import { runningInstances } from './running-instances.ts';

interface ClusterOptions {
  apis?: number;
  gateways?: number;
  /** Variables for every instance; timings are short enough for tests unless given. */
  env?: Record<string, string>;
  /** Puts HAProxy in front; `plain`: without TLS, and its address is `PUBLIC_URL`. */
  haproxy?: boolean | 'plain';
  /** Where HAProxy listens; default any free port. */
  haproxyPort?: number;
  /** How long HAProxy leaves a silent socket alone; default an hour. */
  haproxyTunnelMs?: number;
  /** A folder like this repository, built: the release that instances run. Default this one. */
  release?: string;
  /** PgBouncer with its defaults, in this mode, between instances and their wire to PostgreSQL. The database is migrated before. */
  pooler?: 'session' | 'transaction';
  /** PostgreSQL keeps its whole log, for a restore to a point in time. */
  archived?: boolean;
}

/** One api or gateway process. It keeps its port when it is started again. */
export interface Instance {
  readonly url: string;
  readonly name: string;
  readonly port: number;
  /** The newest process of this instance. */
  readonly child: Child;
  /** SIGTERM: leaves in good order. Resolves with the exit code. */
  leave(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /**
   * Starts it again after it exited, from another release and with changed variables if given, which it keeps; resolves when
   * it is ready.
   */
  start(release?: string, changes?: Record<string, string>): Promise<void>;
  /** Its event loop is stopped, as if stuck, until `resume`. */
  pause(): void;
  resume(): void;
  /** The metrics of its newest process. */
  metrics(): Promise<string>;
  /** The log of all its processes: lines of JSON, warnings and worse unless LOG_LEVEL is set. */
  logged(): string[];
}

export interface Cluster extends RelayAddress {
  readonly apis: readonly Instance[];
  readonly gateways: readonly Instance[];
  readonly redis: TestRedis;
  readonly postgres: TestPostgres;
  readonly databaseUrl: string;
  /** The wires of every instance to Redis and to PostgreSQL. */
  readonly wires: { readonly redis: FaultProxy; readonly database: FaultProxy };
  readonly issuer: TestIssuer;
  readonly haproxy: HaProxy | undefined;
  stop(): Promise<void>;
}

// Nothing listens there; instances are refused without TLS in their address.
const publicUrl = 'https://relay.test';

/** Limits out of the way, and clocks short enough to be waited for. */
const forTests: Record<string, string> = {
  PUBLIC_URL: publicUrl,
  HOST: '127.0.0.1',
  AUTH_BUILTIN: 'off',
  DRAIN_SECONDS: '1',
  RATE_LIMIT_PER_MINUTE: '1000000',
  SOCKETS_PER_USER: '100000',
  DEVICES_PER_USER: '1000',
  SESSION_CREATE_PER_MINUTE: '1000000',
  TEST_SWEEP_INTERVAL_MS: '1000',
  LOG_LEVEL: 'warn',
};

const thisRelease = fileURLToPath(new URL('../../..', import.meta.url));

async function startInstance(
  role: 'api' | 'gateway',
  index: number,
  env: Record<string, string>,
  firstRelease = thisRelease,
): Promise<Instance> {
  const port = await freePort();
  const metricsPort = await freePort();
  const name = `${role}-${index}`;
  let release = firstRelease;
  let changed: Record<string, string> = {};
  const launch = async () => {
    const child = startProgram(process.execPath, [join(release, `apps/${role}/dist/main.js`)], {
      env: {
        PATH: process.env.PATH ?? '',
        BOUND_APPROVALS: 'off',
        ...env,
        ...changed,
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
        INSTANCE_NAME: name,
      },
    });
    await child.wrote(/listening on /);
    return child;
  };
  let child = await launch();
  const children = [child];
  return {
    url: `http://127.0.0.1:${port}`,
    name,
    port,
    get child() {
      return child;
    },
    leave: () => child.end('SIGTERM'),
    kill: async () => {
      await child.end('SIGKILL');
    },
    start: async (other = release, changes = {}) => {
      release = other;
      changed = { ...changed, ...changes };
      child = await launch();
      children.push(child);
    },
    pause: () => child.signal('SIGSTOP'),
    resume: () => child.signal('SIGCONT'),
    metrics: async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
    logged: () => children.flatMap((each) => each.output().split('\n')).filter((line) => line.startsWith('{')),
  };
}

/** Starts everything, in order of dependency. If a start fails, stops everything started before. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const [postgres, redis] = await Promise.all([startPostgres({ archived: options.archived ?? false }), startRedis()]);
    stops.push(
      () => postgres.stop(),
      () => redis.stop(),
    );
    const databaseUrl = await postgres.createDatabase();
    const wires = {
      redis: await startFaultProxy({ port: redis.port }),
      database: await startFaultProxy({ port: postgres.address.port }),
    };
    stops.push(
      () => wires.redis.close(),
      () => wires.database.close(),
    );
    const issuer = await startIssuer(`${publicUrl}/api`);
    stops.push(() => issuer.close());
    const pooler = options.pooler && (await startPgBouncer(wires.database.port, options.pooler));
    if (pooler) {
      stops.push(() => pooler.stop());
      await migratePostgres(databaseUrl);
    }
    const throughTheWire = new URL(databaseUrl);
    throughTheWire.port = String(pooler?.port ?? wires.database.port);
    const plainPort = options.haproxy === 'plain' ? (options.haproxyPort ?? (await freePort())) : undefined;
    const env = {
      ...forTests,
      ...(plainPort === undefined ? {} : { PUBLIC_URL: `http://localhost:${plainPort}`, TRUST_PROXY: '1' }),
      AUTH_ISSUERS: JSON.stringify([issuer.config]),
      DATABASE_URL: throughTheWire.href,
      REDIS_URL: `redis://127.0.0.1:${wires.redis.port}`,
      ...options.env,
    };
    const start = async (role: 'api' | 'gateway', count: number) => {
      const instances: Instance[] = [];
      for (let index = 0; index < count; index += 1) {
        const instance = await startInstance(role, index, env, options.release);
        runningInstances.add(instance);
        stops.push(async () => {
          runningInstances.delete(instance);
          await instance.child.end('SIGKILL');
        });
        instances.push(instance);
      }
      return instances;
    };
    const apis = await start('api', options.apis ?? 2);
    const gateways = await start('gateway', options.gateways ?? 2);
    const haproxy = options.haproxy
      ? await startHaProxy({
          apis: apis.map(({ port }) => port),
          gateways: gateways.map(({ port }) => port),
          showsReady: true,
          ...(plainPort === undefined ? {} : { port: plainPort, plain: true }),
          ...(options.haproxyTunnelMs === undefined ? {} : { tunnelMs: options.haproxyTunnelMs }),
        })
      : undefined;
    if (haproxy) stops.push(() => haproxy.stop());
    const token: RelayAddress['token'] = (user = 'alice', tokenOptions) => issuer.token(user, tokenOptions);
    return {
      apis,
      gateways,
      redis,
      postgres,
      databaseUrl,
      wires,
      issuer,
      haproxy,
      token,
      call: callerOf(
        apis.map(({ url }) => url),
        token,
      ),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
