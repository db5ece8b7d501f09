/** The metrics of every instance, in any role: its build, the state of its dependencies, its database. */
import { totalmem } from 'node:os';
import { measured } from './measured.ts';
import type { Metrics } from './metrics.ts';
import type { ReadinessCheck } from './readiness.ts';
import type { Tracer } from './tracing.ts';

/** Connections of the pool to the database. */
interface PoolUse {
  /** All connections, and how many of them are idle. */
  readonly total: number;
  readonly idle: number;
  /** Callers that wait for one. */
  readonly waiting: number;
}

export interface InstanceMetrics {
  /** Counts a statement of the database. */
  readonly statement: (kind: string, seconds: number, ok: boolean) => void;
  /** Wraps the backplane and counts every call; the result of a `route` is its outcome. */
  backplane<B extends object & { route: unknown }>(backplane: B): B;
  /** Reads the pool on every scrape from now on. */
  watchPool(read: () => PoolUse): void;
  /** The same checks, counted: up or not, and how long the answer took. */
  watchDependencies(checks: Readonly<Record<string, ReadinessCheck>>): Record<string, ReadinessCheck>;
}

const statementBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

/** If a tracer is given, statements and backplane calls become child spans of the current span. */
export function createInstanceMetrics(
  metrics: Metrics,
  build: { role: string; version: string },
  tracer?: Tracer,
): InstanceMetrics {
  metrics
    .gauge('relay_build_info', 'Always 1; what runs here', ['role', 'version', 'node'])
    .set({ role: build.role, version: build.version, node: process.versions.node }, 1);
  // The limit of the container if it has one, else of the machine.
  metrics
    .gauge('relay_memory_limit_bytes', 'Memory that this process may use')
    .set(Math.min(process.constrainedMemory() || Infinity, totalmem()));
  const statements = metrics.histogram(
    'relay_database_seconds',
    'Statements of the database, waiting for a connection included, by kind and outcome',
    ['kind', 'outcome'],
    statementBuckets,
  );
  const up = metrics.gauge('relay_dependency_up', 'Whether a dependency answered when it was asked last', [
    'dependency',
  ]);
  const probes = metrics.histogram('relay_dependency_probe_seconds', 'Round trip of the question whether it is there', [
    'dependency',
  ]);
  return {
    statement: (kind, seconds, ok) => {
      statements.observe({ kind, outcome: ok ? 'ok' : 'error' }, seconds);
      tracer?.note(`database ${kind}`, seconds, ok);
    },
    backplane: <B extends object & { route: unknown }>(backplane: B) =>
      measured<B>(backplane, {
        metrics,
        name: 'relay_backplane_seconds',
        help: 'Calls to the backplane: a route until its ACK, a request until its reply, the others until Redis has answered',
        outcomes: ['route'],
        onCall:
          tracer &&
          ((operation, seconds, outcome, ok) => tracer.note(`backplane ${operation}`, seconds, ok, { outcome })),
      }),
    watchPool: (read) => {
      metrics.gauge(
        'relay_database_connections',
        'Connections to the database, by what they do',
        ['state'],
        (gauge) => {
          const { total, idle, waiting } = read();
          gauge.set({ state: 'busy' }, total - idle);
          gauge.set({ state: 'idle' }, idle);
          gauge.set({ state: 'waiting' }, waiting);
        },
      );
    },
    watchDependencies: (checks) => {
      const counted = Object.entries(checks).map(([dependency, check]) => {
        const watched: ReadinessCheck = async () => {
          try {
            const result = await check();
            up.set({ dependency }, result.ok ? 1 : 0);
            probes.observe({ dependency }, result.probeMs / 1000);
            return result;
          } catch (error) {
            up.set({ dependency }, 0);
            throw error;
          }
        };
        return [dependency, watched] as const;
      });
      return Object.fromEntries(counted);
    },
  };
}
