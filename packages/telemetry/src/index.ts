/** Everything an instance reports about itself: its log, its metrics, its health. Knows nothing about its work. */
export { createInstanceMetrics } from './instance-metrics.ts';
export type { InstanceMetrics } from './instance-metrics.ts';
export { createLogger } from './logger.ts';
export type { Logger } from './logger.ts';
export { measured } from './measured.ts';
export { createMetrics, promiseBuckets } from './metrics.ts';
export type { Counter, Gauge, Histogram, Metrics } from './metrics.ts';
export { startMetricsServer } from './metrics-server.ts';
export type { MetricsServer } from './metrics-server.ts';
export { createReadiness } from './readiness.ts';
export type { Readiness, ReadinessCheck, ReadinessProbe } from './readiness.ts';
export { redactFields } from './redact.ts';
export { safeUrl } from './safe-url.ts';
export { createTracer } from './tracing.ts';
export type { Tracer, TracerOptions } from './tracing.ts';
export { maskSecrets } from './secret-text.ts';
