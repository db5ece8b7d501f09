// Finished spans → a collector, in batches, beside the work: a collector that is slow or away costs spans, never requests.

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
  /** What sends: `service.name`, `service.version`, `service.instance.id`. */
  readonly service: string;
  readonly version: string;
  readonly instance: string;
  readonly log: { warn(fields: object, message: string): void };
  /** Between two batches. Default 5 s. */
  readonly intervalMs?: number;
}

export interface SpanExporter {
  add(span: FinishedSpan): void;
  /** Sends what is left, then nothing more. */
  stop(): Promise<void>;
}

const MAX_WAITING = 4_096;
const MAX_BATCH = 512;
const SEND_TIMEOUT_MS = 5_000;
/** A collector that is away is mentioned, not complained about with every batch. */
const SILENT_MS = 60_000;

const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };

function valueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

const attributesOf = (attributes: SpanAttributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));

const encode = ({ kind, startNs, endNs, attributes, failed, ...span }: FinishedSpan): object => ({
  ...span,
  kind: kinds[kind],
  startTimeUnixNano: String(startNs),
  endTimeUnixNano: String(endNs),
  attributes: attributesOf(attributes),
  status: failed ? { code: 2 } : {},
});

export function createSpanExporter(options: SpanExporterOptions): SpanExporter {
  const { service, version, instance, log, intervalMs = 5_000 } = options;
  const url = `${options.endpoint.replace(/\/+$/, '')}/v1/traces`;
  const resource = {
    attributes: attributesOf({
      'service.name': service,
      'service.version': version,
      'service.instance.id': instance,
    }),
  };
  let waiting: FinishedSpan[] = [];
  let lost = 0;
  let mentionedAtMs = Number.NEGATIVE_INFINITY;
  let sending: Promise<void> | undefined;
  let stopped = false;

  const mention = (err: unknown): void => {
    if (performance.now() - mentionedAtMs < SILENT_MS) return;
    mentionedAtMs = performance.now();
    log.warn({ err, lost }, 'traces could not be sent (OTEL_EXPORTER_OTLP_ENDPOINT)');
  };

  const sendBatch = async (batch: readonly FinishedSpan[]): Promise<void> => {
    const scopeSpans = [{ scope: { name: 'relay' }, spans: batch.map(encode) }];
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
        signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the collector answered ${response.status}`);
    } catch (error) {
      // Not tried again: what comes next is worth more than what was.
      lost += batch.length;
      mention(error);
    }
  };

  const sendAll = async (): Promise<void> => {
    while (waiting.length > 0) await sendBatch(waiting.splice(0, MAX_BATCH));
  };
  const send = (): Promise<void> => (sending ??= sendAll().finally(() => (sending = undefined)));

  const timer = setInterval(() => void send(), intervalMs);
  timer.unref();

  return {
    add: (span) => {
      if (stopped) return;
      if (waiting.length >= MAX_WAITING) {
        lost += 1;
        return;
      }
      waiting.push(span);
    },
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      const late = new Promise<void>((resolve) => setTimeout(resolve, SEND_TIMEOUT_MS).unref());
      await Promise.race([(async () => (await sending, await send()))(), late]);
      waiting = [];
    },
  };
}
