/** Everything an instance reports about itself: its log, its metrics, its health. Knows nothing about its work. */
export { createInstanceMetrics } from './instance-metrics.ts';
export type { InstanceMetrics, PoolUse } from './instance-metrics.ts';
export { createLogger } from './logger.ts';
export type { Logger, LoggerOptions } from './logger.ts';
export { measured } from './measured.ts';
export type { MeasuredOptions } from './measured.ts';
export { createMetrics, promiseBuckets } from './metrics.ts';
export type { Counter, Gauge, Histogram, Metrics, MetricsOptions } from './metrics.ts';
export { startMetricsServer } from './metrics-server.ts';
export type { MetricsServer, MetricsServerOptions } from './metrics-server.ts';
export { createReadiness } from './readiness.ts';
export type { Readiness, ReadinessCheck, ReadinessOptions, ReadinessProbe } from './readiness.ts';
export { redactFields } from './redact.ts';
export { safeUrl } from './safe-url.ts';
export { createTracer } from './tracing.ts';
export type { Span, SpanOptions, Tracer, TracerOptions } from './tracing.ts';
export { maskSecrets } from './secret-text.ts';
