/** The separate port of /metrics. Apart from the public one, so that no proxy rule stands between strangers and the numbers. */
import { once } from 'node:events';
import { type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

const maxConnections = 50;
const requestTimeoutMs = 10_000;

interface MetricsServerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** False: an unavailable port causes a warning and disables the server. Absent: it is an error. */
  readonly required?: boolean;
  readonly log?: { warn(fields: object, message: string): void };
}

export interface MetricsServer {
  /** The real one. */
  readonly port: number;
  /** Resolves when the port is free again. */
  close(): Promise<void>;
}

const errors = {
  404: { error: 'There is only /metrics here.', code: 'NOT_FOUND', status: 404 },
  405: { error: 'Use GET.', code: 'METHOD_NOT_ALLOWED', status: 405 },
  500: { error: 'The metrics could not be read.', code: 'INTERNAL_ERROR', status: 500 },
} as const;

function listener({ metrics, log }: MetricsServerOptions): RequestListener {
  return (request, response) => {
    const refuse = (status: keyof typeof errors): void => {
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
      });
      response.end(JSON.stringify(errors[status]));
    };
    if (request.url?.split('?')[0] !== '/metrics') return refuse(404);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405);
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      (err: unknown) => {
        log?.warn({ err }, 'the metrics could not be read');
        refuse(500);
      },
    );
  };
}

/**
 * Serves `GET /metrics` and nothing else: other paths 404, other methods 405, both as JSON.
 *
 * @returns undefined if the port cannot be had and the server is not `required`
 * @throws the error of the system if it is, with `setting` naming the variable to change
 */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer | undefined> {
  const { host, port, required = true, log } = options;
  const server = createServer(listener(options));
  server.maxConnections = maxConnections;
  server.requestTimeout = requestTimeoutMs;
  server.headersTimeout = requestTimeoutMs;
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (err) {
    if (required) throw Object.assign(err as Error, { setting: 'METRICS_PORT' });
    const { code } = err as NodeJS.ErrnoException;
    log?.warn({ host, port, code }, 'no metrics: the port is not available; choose another one with METRICS_PORT');
    return undefined;
  }
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
