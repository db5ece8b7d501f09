/**
 * Traces in OpenTelemetry form: W3C trace context in, OTLP over HTTP (JSON) out. A span covers all work inside it,
 * across awaits. The caller sets all attributes; the tracer reads none from requests.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import {
  type SpanExporterOptions,
  type SpanKind,
  type SpanAttributes,
  type FinishedSpan,
  createSpanExporter,
} from './span-exporter.ts';

interface SpanOptions {
  readonly kind?: SpanKind;
  /** The header `traceparent` of a caller. A malformed one counts as absent. */
  readonly parent?: string | undefined;
  readonly attributes?: SpanAttributes;
}

interface Span {
  /** The `traceparent` header for calls inside the span. */
  readonly traceparent: string;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** Runs `work` so that spans that begin inside, however deep and however late, are children of this one. */
  within<T>(work: () => T): T;
  /** Only the first call counts; later changes are lost. */
  end(failed?: boolean): void;
}

export interface Tracer {
  /** Starts a child span of the current span or of `parent`, or else a new trace. */
  start(name: string, options?: SpanOptions): Span;
  /** Records a finished operation below the current span; without a current span it does not deserve its own trace. */
  note(name: string, seconds: number, ok: boolean, attributes?: SpanAttributes): void;
  /** Sends the remaining spans, at most for a few seconds. */
  stop(): Promise<void>;
}

export interface TracerOptions extends SpanExporterOptions {
  /** The share of sampled traces among those that begin here, 0 to 1; a caller decides for its own. Default 1. */
  readonly share?: number;
}

interface Context {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

const traceparentShape = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(traceparent: string | undefined): Context | undefined {
  const [, traceId = '', spanId = '', flags = ''] = traceparentShape.exec(traceparent ?? '') ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

const nowNs = (): bigint => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;

/** Decided by the id, so that every instance decides alike: its last 52 bits are random (W3C Trace Context, level 2). */
const isWithin = (share: number, traceId: string) => Number.parseInt(traceId.slice(-13), 16) < share * 2 ** 52;

/** All tracers of a process share this store: each promise visits every store of the process. */
const running = new AsyncLocalStorage<Context>();

export function createTracer(options: TracerOptions): Tracer {
  const { share = 1 } = options;
  const exporter = createSpanExporter(options);

  const start = (first: string, { kind = 'internal', parent, attributes = {} }: SpanOptions = {}): Span => {
    const above = contextOf(parent) ?? running.getStore();
    const traceId = above?.traceId ?? randomBytes(16).toString('hex');
    const context: Context = {
      traceId,
      spanId: randomBytes(8).toString('hex'),
      sampled: above?.sampled ?? isWithin(share, traceId),
    };
    const startNs = nowNs();
    let name = first;
    let all = attributes;
    let ended = false;
    return {
      traceparent: `00-${context.traceId}-${context.spanId}-${context.sampled ? '01' : '00'}`,
      rename: (newName) => {
        name = newName;
      },
      set: (more) => {
        all = { ...all, ...more };
      },
      within: (work) => running.run(context, work),
      end: (failed = false) => {
        if (ended) return;
        ended = true;
        if (!context.sampled) return;
        const { spanId } = context;
        const span: FinishedSpan = { traceId, spanId, name, kind, startNs, endNs: nowNs(), attributes: all, failed };
        exporter.add(above ? { ...span, parentSpanId: above.spanId } : span);
      },
    };
  };

  return {
    start,
    note: (name, seconds, ok, attributes = {}) => {
      const above = running.getStore();
      if (!above?.sampled) return;
      const endNs = nowNs();
      exporter.add({
        traceId: above.traceId,
        spanId: randomBytes(8).toString('hex'),
        parentSpanId: above.spanId,
        name,
        kind: 'client',
        startNs: endNs - BigInt(Math.round(seconds * 1e9)),
        endNs,
        attributes,
        failed: !ok,
      });
    },
    stop: () => exporter.stop(),
  };
}
