/**
 * A whole relay in one process, on real sockets and free ports: as many apis and gateways as wanted, one backplane between them,
 * one database below. The same rooms that production starts, in the same way.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Api, type Identity, type Transport, createApi, createIdentity } from '@relay/api';
import { createDeviceVerifier, createJwtVerifier } from '@relay/auth';
import type { Backplane } from '@relay/backplane';
import { type RelayConfig, testConfig } from '@relay/config';
import { type Database, readCredential } from '@relay/database';
import { type Gateway, createGateway } from '@relay/gateway';
import { createLogger, createMetrics, createReadiness, type Metrics } from '@relay/telemetry';
import { openTestBus } from './bus.ts';
import { type TestIssuer, type TokenOptions, startIssuer } from './issuer.ts';
import { type Answer, type RequestOptions, send } from './rest.ts';
import { openTestDatabase } from './template.ts';

export interface RelayOptions {
  apis?: number;
  gateways?: number;
  /** Variables of the configuration; timings are short enough for tests unless given. */
  config?: Partial<RelayConfig>;
  /** A database to use; it is then not closed. */
  database?: Database;
  transports?: readonly Transport[];
  /** With the built-in sign-in besides the test issuer. Its addresses begin with `config.publicUrl`, wherever the apis are. */
  identity?: boolean;
  /** Where every instance writes what it logs, a line of JSON at a time. Default: nowhere that a test sees. */
  log?: { write(line: string): void } | undefined;
  /** Hears what the operator is told. */
  announce?: (line: string) => void;
}

export interface Door {
  readonly url: string;
  readonly backplane: Backplane;
  readonly metrics: Metrics;
}

/** What peers need of a relay: where it is, and who may talk to it. A relay in another process has that too. */
export interface RelayAddress {
  readonly apis: readonly { readonly url: string }[];
  readonly gateways: readonly { readonly url: string }[];
  token(user?: string, options?: TokenOptions): string;
  /** One REST call as `user` (default `alice`); `null` sends no credential. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export type CallOptions = RequestOptions & { user?: string | null; api?: number };

export interface TestRelay extends RelayAddress {
  readonly apis: readonly (Door & {
    readonly api: Api;
    /** Present with `identity: true`. */ readonly identity: Identity | undefined;
  })[];
  readonly gateways: readonly (Door & {
    readonly gateway: Gateway;
    /** Ends this gateway as SIGTERM would, or as SIGKILL would. */ stop(): Promise<void>;
    kill(): Promise<void>;
  })[];
  /** Address of the first api. */
  readonly url: string;
  readonly config: RelayConfig;
  readonly database: Database;
  readonly issuer: TestIssuer;
  stop(): Promise<void>;
}

/** Limits out of the way of tests that are about something else. */
const generous: Partial<RelayConfig> = {
  rateLimitPerMinute: 100_000,
  sessionCreatePerMinute: 100_000,
  signInPerMinute: 100_000,
  socketsPerUser: 100_000,
  devicesPerUser: 1000,
  sweepIntervalMs: 300,
  outboxPollMs: 200,
};

interface Listening {
  url: string;
  /** Cuts every connection, upgraded ones too, and frees the port. */
  close: () => Promise<void>;
}

async function listen(server: Server): Promise<Listening> {
  const connections = new Set<Socket>();
  server.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}

/** REST calls to the apis at these addresses. */
export function callerOf(urls: readonly string[], token: (user?: string) => string): RelayAddress['call'] {
  return (method, path, { user = 'alice', api = 0, ...request } = {}) =>
    send(method, `${urls[api]!}${path}`, {
      ...request,
      headers: { ...(user === null ? {} : { Authorization: `Bearer ${token(user)}` }), ...request.headers },
    });
}

export async function startRelay(options: RelayOptions = {}): Promise<TestRelay> {
  const config = testConfig({
    ...generous,
    ...(options.identity ? { authBuiltin: true, authSecret: [randomBytes(32).toString('base64url')] } : {}),
    ...options.config,
  });
  const database = options.database ?? (await openTestDatabase());
  const issuer = await startIssuer(`${config.publicUrl}/api`);
  const bus = openTestBus({
    leaseTtlMs: config.leaseTtlMs,
    historyBytes: config.resumeHistoryBytes,
    historyTtlMs: config.resumeHistoryMs,
  });
  const stops: (() => Promise<void>)[] = [];
  const shared = async (name: string) => {
    const metrics = createMetrics({ instance: name });
    return {
      config,
      database,
      metrics,
      logger: createLogger({
        level: config.logLevel,
        name: 'test',
        instance: name,
        ...(options.log ? { destination: options.log } : {}),
      }),
      backplane: await bus.connect(name),
      deviceVerifier: createDeviceVerifier({ lookup: (deviceId) => readCredential(database.prisma, deviceId) }),
    };
  };

  const apis = await Promise.all(
    Array.from({ length: options.apis ?? 1 }, async (_, index) => {
      const deps = await shared(`api${index}`);
      const readiness = createReadiness({
        checks: { database: () => database.health(), backplane: () => deps.backplane.health() },
        timeoutMs: 2000,
      });
      const identity = options.identity ? await createIdentity(deps) : undefined;
      const issuers = [issuer.config, ...(identity ? [identity.issuer] : []), ...config.authIssuers];
      const api = createApi(
        {
          ...deps,
          readiness,
          identity,
          jwtVerifier: createJwtVerifier({ issuers }),
          version: '1.0.0',
          announce: options.announce,
        },
        options.transports ? { transports: options.transports } : {},
      );
      const server = createServer((request, response) => api.handler(request, response));
      server.on('upgrade', (request, duplex, head) => api.upgrade(request, duplex, head));
      const { url, close } = await listen(server);
      stops.push(async () => {
        await api.close();
        await deps.backplane.close();
        await close();
      });
      return { url, api, identity, backplane: deps.backplane, metrics: deps.metrics };
    }),
  );

  const gateways = await Promise.all(
    Array.from({ length: options.gateways ?? 1 }, async (_, index) => {
      const deps = await shared(`gateway${index}`);
      const gateway = createGateway(deps);
      const server = createServer((_request, response) => response.writeHead(404).end());
      server.on('upgrade', (request, duplex, head) => gateway.upgrade(request, duplex, head));
      const { url, close } = await listen(server);
      let stopped: Promise<void> | undefined;
      const stop = () =>
        (stopped ??= (async () => {
          await gateway.close();
          await deps.backplane.close();
          await close();
        })());
      const kill = () =>
        (stopped ??= (async () => {
          bus.kill(deps.backplane);
          await close();
          await gateway.close().catch(() => undefined);
        })());
      stops.push(stop);
      return { url, gateway, backplane: deps.backplane, metrics: deps.metrics, stop, kill };
    }),
  );

  const token = (user = 'alice', tokenOptions: TokenOptions = {}) => issuer.token(user, tokenOptions);
  return {
    apis,
    gateways,
    url: apis[0]?.url ?? '',
    config,
    database,
    issuer,
    token,
    call: callerOf(
      apis.map(({ url }) => url),
      token,
    ),
    stop: async () => {
      for (const stop of stops) await stop();
      await issuer.close();
      if (!options.database) await database.close();
    },
  };
}
