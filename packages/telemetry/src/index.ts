/** Everything an instance reports about itself: its log, its metrics, its health. Knows nothing about its work. */
export { type InstanceMetrics, createInstanceMetrics } from './instance-metrics.ts';
export { type Logger, createLogger } from './logger.ts';
export { type Counter, type Gauge, type Histogram, type Metrics, createMetrics, promiseBuckets } from './metrics.ts';
export { type MetricsServer, startMetricsServer } from './metrics-server.ts';
export { type Readiness, type ReadinessCheck, type ReadinessProbe, createReadiness } from './readiness.ts';
export { type Tracer, type TracerOptions, createTracer } from './tracing.ts';
export { maskSecrets } from './secret-text.ts';
