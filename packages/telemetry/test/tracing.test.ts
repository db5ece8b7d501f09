import { type Server, createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Tracer, type TracerOptions, createTracer } from '../src/index.ts';

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: object }[];
  status: { code?: number };
}

interface Body {
  resourceSpans: { resource: { attributes: object[] }; scopeSpans: { spans: SentSpan[] }[] }[];
}

const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('traces', () => {
  let collector: Server;
  let bodies: { path: string | undefined; body: Body }[];
  let status: number;
  let warnings: string[];
  let lost: number;
  let options: TracerOptions;
  let tracer: Tracer;

  beforeEach(async () => {
    bodies = [];
    warnings = [];
    lost = 0;
    status = 200;
    collector = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      request.on('end', () => {
        bodies.push({ path: request.url, body: JSON.parse(text) as Body });
        response.writeHead(status).end('{}');
      });
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    options = {
      endpoint: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
      service: 'relay-api',
      version: '1.2.3',
      instance: 'api-0',
      log: { warn: (_, message) => void warnings.push(message) },
      onLost: (spans) => (lost += spans),
      intervalMs: 3_600_000,
    };
    tracer = createTracer(options);
  });
  afterEach(async () => {
    await tracer.stop();
    collector.closeAllConnections();
    collector.close();
  });

  const sent = async (): Promise<SentSpan[]> => {
    await tracer.stop();
    return bodies.flatMap(({ body }) =>
      body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
  };

  it('reach the collector as OTLP, with who sends them', async () => {
    tracer.start('GET', { kind: 'server', attributes: { 'http.request.method': 'GET' } }).end();
    const [span] = await sent();
    expect(bodies[0]?.path).toBe('/v1/traces');
    expect(bodies[0]?.body.resourceSpans[0]?.resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'relay-api' },
    });
    expect(span).toMatchObject({ name: 'GET', kind: 2, status: {} });
    expect(span?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span?.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(span?.parentSpanId).toBeUndefined();
    expect(span?.attributes).toEqual([{ key: 'http.request.method', value: { stringValue: 'GET' } }]);
    expect(BigInt(span?.endTimeUnixNano ?? 0) >= BigInt(span?.startTimeUnixNano ?? 1)).toBe(true);
  });

  it('continue the trace of the caller, unless its header is invalid', async () => {
    tracer.start('one', { parent: caller }).end();
    tracer.start('two', { parent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }).end();
    tracer.start('three', { parent: 'nonsense' }).end();
    const [one, two, three] = await sent();
    expect(one).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c', parentSpanId: 'b7ad6b7169203331' });
    for (const span of [two, three]) expect([span?.parentSpanId, span?.traceId.length]).toEqual([undefined, 32]);
  });

  it('that the caller does not sample are not sent', async () => {
    const span = tracer.start('quiet', { parent: caller.replace(/01$/, '00') });
    span.within(() => tracer.note('database query', 0.1, true));
    expect(span.traceparent).toMatch(/-00$/);
    span.end();
    expect(await sent()).toEqual([]);
  });

  it('that begin here are sampled by share, as a whole, and a caller decides for its own', async () => {
    tracer = createTracer({ ...options, share: 0.1 });
    for (let n = 0; n < 1_000; n += 1) {
      const span = tracer.start('first');
      span.within(() => tracer.start('second')).end();
      span.end();
    }
    for (let n = 0; n < 10; n += 1) tracer.start('of a caller', { parent: caller }).end();
    const names = (await sent()).map(({ name }) => name);
    const of = (wanted: string) => names.filter((name) => name === wanted).length;
    // Five times the deviation of a thousand throws.
    expect(Math.abs(of('first') - 100)).toBeLessThan(48);
    expect(of('second')).toBe(of('first'));
    expect(of('of a caller')).toBe(10);
  });

  it('nest inner spans below outer ones, across awaits and in parallel', async () => {
    const request = async (name: string) => {
      const span = tracer.start(name);
      await span.within(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        tracer.note(`in ${name}`, 0.01, name === 'a', { n: 1, part: 0.5, good: true });
      });
      span.end(name === 'b');
    };
    await Promise.all([request('a'), request('b')]);
    const spans = await sent();
    for (const name of ['a', 'b']) {
      const outer = spans.find((span) => span.name === name);
      const inner = spans.find((span) => span.name === `in ${name}`);
      expect([inner?.traceId, inner?.parentSpanId]).toEqual([outer?.traceId, outer?.spanId]);
      expect([inner?.status.code, outer?.status.code]).toEqual(name === 'a' ? [0, 0] : [2, 2]);
      expect(inner?.attributes.map(({ value }) => value)).toEqual([
        { intValue: 1 },
        { doubleValue: 0.5 },
        { boolValue: true },
      ]);
    }
  });

  it('accept names and attributes until they finish, and finish once', async () => {
    const span = tracer.start('GET');
    span.rename('GET /api/me');
    span.set({ 'http.response.status_code': 200 });
    span.end();
    span.rename('late');
    span.end(true);
    const spans = await sent();
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ name: 'GET /api/me', status: {} });
  });

  it('do not start for a note outside of every span', async () => {
    tracer.note('database query', 0.1, true);
    tracer.start('the only one').end();
    expect((await sent()).map(({ name }) => name)).toEqual(['the only one']);
  });

  it('leave in batches of bounded size, and the backlog has a limit', async () => {
    for (let n = 0; n < 5_000; n += 1) tracer.start('many').end();
    const spans = await sent();
    expect(spans.length).toBeGreaterThanOrEqual(4_096);
    expect(spans.length).toBeLessThan(5_000);
    expect(lost).toBe(5_000 - spans.length);
    expect(bodies.length).toBeGreaterThanOrEqual(8);
  });

  it('of a busy collector go out again', async () => {
    status = 503;
    collector.once('request', (_, response) => response.once('finish', () => (status = 200)));
    tracer.start('once').end();
    const spans = await sent();
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(1);
    expect(bodies.length).toBeGreaterThan(1);
    expect(warnings).toEqual([]);
  });

  it('of a collector that refuses are lost with one warning', async () => {
    status = 400;
    for (let n = 0; n < 1_000; n += 1) tracer.start('many').end();
    await sent();
    expect(bodies).toHaveLength(2);
    expect(lost).toBe(1_000);
    expect(warnings).toEqual(['traces could not be sent (OTEL_EXPORTER_OTLP_ENDPOINT)']);
  });
});
