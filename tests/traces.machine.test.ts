/**
 * Traces: if a collector is configured, a request is a span below its caller's span, and its effects are spans below
 * it.
 */
import { type Server, createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RelayProcess, connectDaemon, freePort, startRelayProcess } from '@relay/testing';
import { fileCapabilities, fileMarkers, passFiles } from './files-scene.ts';

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
}

const traceId = '0af7651916cd43dd8448eb211c80319c';

describe('a relay with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  let collector: Server;
  let relay: RelayProcess;
  let text = '';
  const credentials = new Set<string | undefined>();
  const spans: SentSpan[] = [];
  const secret = 'no one but us may read this';

  beforeAll(async () => {
    collector = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
      request.on('end', () => {
        text += body;
        credentials.add(request.headers.authorization);
        const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
        spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
        response.end('{}');
      });
    });
    collector.listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    relay = await startRelayProcess({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20of-the-collector',
        LOG_LEVEL: 'debug',
      },
    });
    const daemon = await connectDaemon(relay);
    await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: secret } });
    await daemon.next('task_start');
    const other = await connectDaemon(relay, { capabilities: [...fileCapabilities] });
    await passFiles((method, path, more) => relay.call(method, path, more), other);
    await other.close();
    await fetch(`${relay.url}/health`);
    await fetch(`${relay.url}/api/sessions?limit=5`, {
      headers: { authorization: `Bearer ${relay.token()}`, traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    await daemon.close();
    // The relay sends the remaining spans at its exit.
    await relay.end('SIGTERM');
  });
  afterAll(() => {
    collector.closeAllConnections();
    collector.close();
  });

  const attribute = (span: SentSpan | undefined, key: string) =>
    span?.attributes.find((candidate) => candidate.key === key)?.value;
  const below = (span: SentSpan | undefined) => spans.filter(({ parentSpanId }) => parentSpanId === span?.spanId);

  it('sends the configured headers to the collector', () => {
    expect([...credentials]).toEqual(['Bearer of-the-collector']);
  });

  it('continues the trace of the caller, and names the route instead of the address', () => {
    const [span, ...others] = spans.filter((candidate) => candidate.parentSpanId === 'b7ad6b7169203331');
    expect(others).toEqual([]);
    expect(span).toMatchObject({ traceId, name: 'GET /api/sessions' });
    expect(attribute(span, 'http.response.status_code')).toEqual({ intValue: 200 });
    expect(attribute(span, 'relay.request_id')?.stringValue).toMatch(/\S/);
    expect(below(span).map(({ name }) => name)).toContain('database query');
  });

  it('puts statements and calls to other instances below the request that caused them', () => {
    const span = spans.find(({ name }) => name === 'POST /api/sessions');
    const names = below(span).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['database begin', 'database commit', 'backplane append']));
  });

  it('has a span for each frame of a daemon, with the ids of device and connection', () => {
    const span = spans.find(({ name }) => name === 'daemon status');
    expect(attribute(span, 'relay.device_id')?.stringValue).toMatch(/^[0-9A-Z]{26}$/);
    expect(attribute(span, 'relay.connection_id')?.stringValue).toMatch(/^[0-9A-Z]{26}$/);
  });

  it('omits probes, and every text or credential of a person', () => {
    expect(spans.map(({ name }) => name).filter((name) => /health|ready/.test(name))).toEqual([]);
    expect(text).not.toContain(secret);
    for (const [where, written] of [
      ['traces', text],
      ['logs', relay.output()],
    ] as const) {
      const found = [...fileMarkers, 'zebra'].filter((marker) => written.includes(marker));
      expect([where, found]).toEqual([where, []]);
    }
    expect(spans.map(({ name }) => name)).toContain('GET /api/sessions/:id/changes/diff');
    expect(relay.output()).toContain('device_allowed');
    expect(text).not.toMatch(/Bearer|eyJ/);
  });
});

describe('a relay with a sampling rate of zero and a failing collector', () => {
  it('sends only the traces that a caller requested, and counts the lost spans', async () => {
    const sent: string[] = [];
    const collector = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')));
      request.on('end', () => {
        const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
        for (const { scopeSpans } of resourceSpans)
          for (const { spans } of scopeSpans) sent.push(...spans.map((span) => span.traceId));
        response.writeHead(400).end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const metricsPort = await freePort();
    const relay = await startRelayProcess({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
        OTEL_TRACES_SAMPLER_ARG: '0',
        METRICS_PORT: String(metricsPort),
      },
    });
    const lost = async () => {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      return Number(/^relay_trace_spans_lost_total\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    try {
      const authorization = `Bearer ${relay.token()}`;
      const ask = (more: Record<string, string>) =>
        fetch(`${relay.url}/api/sessions`, { headers: { authorization, ...more } });
      await ask({});
      await ask({ traceparent: `00-${traceId}-b7ad6b7169203331-01` });
      while ((await lost()) === 0) await new Promise((resolve) => setTimeout(resolve, 100));
      expect(new Set(sent)).toEqual(new Set([traceId]));
      expect(await lost()).toBe(sent.length);
    } finally {
      await relay.end('SIGTERM');
      collector.closeAllConnections();
      collector.close();
    }
  });
});
