/** Numbers about one instance. Every instance has its own registry, so that several instances can share a process. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

export type { Counter, Gauge, Histogram } from 'prom-client';

/** Seconds: from a call inside the process to a slow daemon. */
const defaultBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Buckets in seconds, for operations with a target of less than half a second, or two: `docs/operations.md`. */
export const promiseBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30];

interface MetricsOptions {
  /** The label `instance` of every metric. */
  readonly instance: string;
  /** Also measures memory, processor and event loop: set it for one registry of a process. Absent: no. */
  readonly processMetrics?: boolean;
}

/**
 * The first call with a name creates the metric, and later calls return it. A known name with another kind or other labels is a
 * programming error and throws a TypeError. Label values must come from a small fixed set:
 * every new one costs memory forever.
 */
export interface Metrics {
  counter<L extends string = never>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /** `collect` runs before every scrape, to set values that are easier to count than to track. */
  gauge<L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L>;
  /** `buckets` in the unit of the metric, by default seconds from 1 ms to 10 s. */
  histogram<L extends string = never>(
    name: string,
    help: string,
    labels?: readonly L[],
    buckets?: readonly number[],
  ): Histogram<L>;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
}

interface RegisteredMetric {
  readonly shape: string;
  readonly metric: unknown;
}

export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ instance: options.instance });
  // Ten milliseconds, the default, wake an idle process a hundred times a second, which costs it half a percent of a core.
  if (options.processMetrics) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
  const registered = new Map<string, RegisteredMetric>();

  function once<M>(kind: string, name: string, labels: readonly string[], make: () => M): M {
    const shape = `${kind}(${[...labels].sort().join(',')})`;
    const before = registered.get(name);
    if (before && before.shape !== shape) throw new TypeError(`the metric ${name} is ${before.shape}, not ${shape}`);
    if (before) return before.metric as M;
    const metric = make();
    registered.set(name, { shape, metric });
    return metric;
  }

  return {
    counter(name, help, labels = []) {
      return once(
        'counter',
        name,
        labels,
        () => new Counter({ name, help, labelNames: labels, registers: [registry] }),
      );
    },
    gauge<L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      collect?: (gauge: Gauge<L>) => void | Promise<void>,
    ) {
      const read = collect && { collect: () => collect(gauge) };
      const make = (): Gauge<L> => new Gauge({ name, help, labelNames: labels, registers: [registry], ...read });
      const gauge: Gauge<L> = once('gauge', name, labels, make);
      return gauge;
    },
    histogram(name, help, labels = [], buckets = defaultBuckets) {
      const settings = { name, help, labelNames: labels, buckets: [...buckets], registers: [registry] };
      return once('histogram', name, labels, () => new Histogram(settings));
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
