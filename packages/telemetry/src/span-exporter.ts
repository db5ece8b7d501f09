/**
 * Sends finished spans to a collector, in batches, in the background: a slow or absent collector costs spans, never
 * requests. OpenTelemetry's own exporter defines the format; it is loaded only if a collector is configured.
 */
import type { Resource } from '@opentelemetry/resources';
import type { BatchSpanProcessor, ReadableSpan } from '@opentelemetry/sdk-trace';

export type SpanKind = 'internal' | 'server' | 'client';
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface FinishedSpan {
  /** 16 and 8 bytes, in hex. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: SpanKind;
  /** Nanoseconds since 1970. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: SpanAttributes;
  readonly failed: boolean;
}

export interface SpanExporterOptions {
  /** Base address of a collector (OTLP over HTTP); spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  /** The sender: `service.name`, `service.version`, `service.instance.id`. */
  readonly service: string;
  readonly version: string;
  readonly instance: string;
  readonly log: { warn(fields: object, message: string): void };
  /** Called with the number of spans that are given up: the collector refused them or was away, or too many waited. */
  readonly onLost?: (spans: number) => void;
  /** Between two batches. Default 5 s. */
  readonly intervalMs?: number;
}

interface SpanExporter {
  add(span: FinishedSpan): void;
  /** Sends the remaining spans, for 5 s at most, then stops. */
  stop(): Promise<void>;
}

const maxWaiting = 4_096;
const maxBatch = 512;
const sendTimeoutMs = 5_000;
/** A collector that is away is mentioned, not complained about with every batch. */
const silentMs = 60_000;

/** The numbers of OpenTelemetry's `SpanKind` and `SpanStatusCode`. */
const kinds: Readonly<Record<SpanKind, number>> = { internal: 0, server: 1, client: 2 };
const [unset, failedStatus] = [0, 2];
const sampled = 1;

const nsPerS = 1_000_000_000n;
const highResolution = (ns: bigint): [number, number] => [Number(ns / nsPerS), Number(ns % nsPerS)];

function readable(span: FinishedSpan, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, name, kind, startNs, endNs, attributes, failed } = span;
  const context = { traceId, spanId, traceFlags: sampled };
  return {
    name,
    kind: kinds[kind],
    spanContext: () => context,
    ...(parentSpanId === undefined
      ? {}
      : { parentSpanContext: { traceId, spanId: parentSpanId, traceFlags: sampled } }),
    startTime: highResolution(startNs),
    endTime: highResolution(endNs),
    duration: highResolution(endNs - startNs),
    status: { code: failed ? failedStatus : unset },
    attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'relay' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

interface Pipe {
  readonly processor: BatchSpanProcessor;
  readonly resource: Resource;
}

async function openPipe(
  options: SpanExporterOptions,
  onLeft: (spans: number) => void,
  onLost: (spans: number, err: unknown) => void,
): Promise<Pipe> {
  const [{ OTLPTraceExporter }, { BatchSpanProcessor }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  const url = `${options.endpoint.replace(/\/+$/, '')}/v1/traces`;
  const inner = new OTLPTraceExporter({ url, timeoutMillis: sendTimeoutMs });
  const exporter = {
    export: (spans: ReadableSpan[], done: Parameters<typeof inner.export>[1]) => {
      onLeft(spans.length);
      inner.export(spans, (result) => {
        if (result.error !== undefined) onLost(spans.length, result.error);
        done(result);
      });
    },
    shutdown: () => inner.shutdown(),
    forceFlush: () => inner.forceFlush(),
  };
  const resource = resourceFromAttributes({
    'service.name': options.service,
    'service.version': options.version,
    'service.instance.id': options.instance,
  });
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: maxWaiting,
    maxExportBatchSize: maxBatch,
    scheduledDelayMillis: options.intervalMs ?? 5_000,
    exportTimeoutMillis: sendTimeoutMs,
  });
  return { processor, resource };
}

export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  let lost = 0;
  let mentionedAtMs = Number.NEGATIVE_INFINITY;
  const onLost = (spans: number, err: unknown): void => {
    lost += spans;
    options.onLost?.(spans);
    if (performance.now() - mentionedAtMs < silentMs) return;
    mentionedAtMs = performance.now();
    options.log.warn({ err, lost }, 'traces could not be sent (OTEL_EXPORTER_OTLP_ENDPOINT)');
  };

  let pipe: Pipe | undefined;
  let stopped = false;
  /** Spans that finished while the exporter was loading. */
  const early: FinishedSpan[] = [];
  /** Passed to the processor but not sent yet: above its limit it drops spans silently. */
  let waiting = 0;
  const pass = ({ processor, resource }: Pipe, span: FinishedSpan): void => {
    if (waiting >= maxWaiting) return onLost(1, new Error(`more than ${maxWaiting} spans wait`));
    waiting += 1;
    processor.onEnd(readable(span, resource));
  };
  const onLeft = (spans: number) => {
    waiting -= spans;
  };
  const opened = openPipe(options, onLeft, onLost).then(
    (ready) => {
      pipe = ready;
      for (const span of early.splice(0)) pass(ready, span);
    },
    (error: unknown) => onLost(early.splice(0).length, error),
  );

  return {
    add: (span) => {
      if (stopped) return;
      if (pipe) pass(pipe, span);
      else if (early.length < maxWaiting) early.push(span);
      else onLost(1, new Error(`more than ${maxWaiting} spans wait`));
    },
    stop: async () => {
      stopped = true;
      const late = new Promise<void>((resolve) => setTimeout(resolve, sendTimeoutMs).unref());
      // Spans that could not be sent were logged before.
      const sent = opened.then(() => pipe?.processor.shutdown()).catch(() => undefined);
      await Promise.race([sent, late]);
    },
  };
}
