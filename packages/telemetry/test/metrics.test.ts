import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MetricsServer, startMetricsServer, createMetrics } from '../src/index.ts';
import { lines } from './lines.ts';

describe('metrics', () => {
  it('are written with the name of the instance', async () => {
    const metrics = createMetrics({ instance: 'api-1' });
    metrics.counter('frames_total', 'Frames.', ['type']).inc({ type: 'status' }, 2);
    metrics.gauge('connections', 'Connections.').set(3);
    metrics.histogram('request_seconds', 'Time.', ['route'], [0.1, 1]).observe({ route: '/x' }, 0.5);
    const text = await metrics.text();
    expect(text).toContain('frames_total{type="status",instance="api-1"} 2');
    expect(text).toContain('connections{instance="api-1"} 3');
    expect(text).toContain('request_seconds_bucket{le="0.1",instance="api-1",route="/x"} 0');
    expect(text).toContain('request_seconds_bucket{le="1",instance="api-1",route="/x"} 1');
    expect(text).toContain('# HELP frames_total Frames.');
  });

  it('are made once by name', async () => {
    const metrics = createMetrics({ instance: 'api-1' });
    const first = metrics.counter('a_total', 'A.', ['x', 'y']);
    expect(metrics.counter('a_total', 'A.', ['y', 'x'])).toBe(first);
    const gauge = metrics.gauge('b', 'B.');
    expect(metrics.gauge('b', 'B.')).toBe(gauge);
    first.inc({ x: '1', y: '2' });
    expect((await metrics.text()).match(/^a_total/gm)).toHaveLength(1);
  });

  it('of one name with another kind or other labels are a mistake', () => {
    const metrics = createMetrics({ instance: 'api-1' });
    metrics.counter('a_total', 'A.', ['x']);
    expect(() => metrics.gauge('a_total', 'A.', ['x'])).toThrow(TypeError);
    expect(() => metrics.counter('a_total', 'A.', ['y'])).toThrow('a_total is counter(x), not counter(y)');
  });

  it('of two instances in one process never meet', async () => {
    const [one, two] = [createMetrics({ instance: '1' }), createMetrics({ instance: '2' })];
    one.counter('a_total', 'A.').inc();
    two.counter('a_total', 'A.').inc(5);
    expect(await one.text()).toContain('a_total{instance="1"} 1');
    expect(await two.text()).toContain('a_total{instance="2"} 5');
  });

  it('can be counted on each scrape', async () => {
    const metrics = createMetrics({ instance: '1' });
    let sockets = 0;
    metrics.gauge('sockets', 'Sockets.', [], (gauge) => gauge.set(sockets));
    sockets = 4;
    expect(await metrics.text()).toContain('sockets{instance="1"} 4');
  });

  it('of the process are there when asked for', async () => {
    expect(await createMetrics({ instance: '1', processMetrics: true }).text()).toContain(
      'process_resident_memory_bytes',
    );
    expect(await createMetrics({ instance: '1' }).text()).not.toContain('process_');
  });
});

describe('the server of metrics', () => {
  const servers: (MetricsServer | undefined)[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server?.close();
  });

  async function start(
    metrics: Parameters<typeof startMetricsServer>[0]['metrics'],
    log = lines().log,
  ): Promise<string> {
    const server = await startMetricsServer({ host: '127.0.0.1', port: 0, metrics, log });
    servers.push(server);
    return `http://127.0.0.1:${server?.port}`;
  }

  it('serves them', async () => {
    const metrics = createMetrics({ instance: '1' });
    metrics.counter('a_total', 'A.').inc();
    const response = await fetch(`${await start(metrics)}/metrics?x=1`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, metrics.contentType]);
    expect(await response.text()).toContain('a_total{instance="1"} 1');
  });

  it.each([
    ['GET', '/', 404, 'NOT_FOUND'],
    ['GET', '/metrics/', 404, 'NOT_FOUND'],
    ['GET', '/ready', 404, 'NOT_FOUND'],
    ['POST', '/metrics', 405, 'METHOD_NOT_ALLOWED'],
  ])('answers %s %s with %i as JSON', async (method, path, status, code) => {
    const response = await fetch((await start(createMetrics({ instance: '1' }))) + path, { method });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code, status, error: expect.any(String) });
  });

  it('hide a failed scrape from strangers, and report it to the log', async () => {
    const { log, text } = lines();
    const metrics = createMetrics({ instance: '1' });
    metrics.gauge('broken', 'Broken.', [], () => {
      throw new Error('the pool is closed');
    });
    const response = await fetch(`${await start(metrics, log)}/metrics`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('pool');
    expect(text()).toContain('the pool is closed');
  });

  it('causes a warning if its port is in use and optional, else an error', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    try {
      const { log, last } = lines();
      const metrics = createMetrics({ instance: '1' });
      const options = { host: '127.0.0.1', port: (other.address() as AddressInfo).port, metrics, log };
      expect(await startMetricsServer({ ...options, required: false })).toBeUndefined();
      expect(last()).toMatchObject({ level: 'warn', port: options.port, code: 'EADDRINUSE' });
      await expect(startMetricsServer(options)).rejects.toMatchObject({ code: 'EADDRINUSE', setting: 'METRICS_PORT' });
    } finally {
      await new Promise((done) => other.close(done));
    }
  });

  it('leaves its port when it closes, even with a client connected', async () => {
    const metrics = createMetrics({ instance: '1' });
    const server = await startMetricsServer({ host: '127.0.0.1', port: 0, metrics });
    const port = server?.port ?? 0;
    await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await server?.close();
    servers.push(await startMetricsServer({ host: '127.0.0.1', port, metrics }));
    expect(servers[0]?.port).toBe(port);
  });
});
