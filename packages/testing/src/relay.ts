/**
 * A whole relay in one process, on real sockets and free ports: as many apis and gateways as wanted, one backplane between them,
 * one database below. The same rooms that production starts, in the same way.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type Api, type Identity, type Transport, openApi } from '@relay/api';
import type { Backplane } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import type { Database } from '@relay/database';
import { type Gateway, createGateway, createProbes } from '@relay/gateway';
import { type InstanceRole, type ServedDoor, openInstance } from '@relay/service/instance';
import type { Metrics } from '@relay/telemetry';
import { openTestBus } from './bus.ts';
import { type TestIssuer, type TokenOptions, startIssuer } from './issuer.ts';
import { type Call, callerOf } from './rest.ts';
import { openTestDatabase } from './template.ts';
import { testConfig } from './test-config.ts';

export interface RelayOptions {
  apis?: number;
  gateways?: number;
  /** Variables of the configuration; timings are short enough for tests unless given. */
  config?: Partial<RelayConfig>;
  /** A database to use; it is then not closed. */
  database?: Database;
  /** The issuer of an earlier process of the same relay, which closes it. */
  issuer?: TestIssuer;
  transports?: readonly Transport[];
  /**
   * Enables the built-in sign-in in addition to the test issuer. Its addresses begin with `config.publicUrl`, wherever
   * the apis are.
   */
  identity?: boolean;
  /**
   * For `identity`: hashes passwords at the cost of production, a tenth of a second of a core each. Default: a minimal
   * cost.
   */
  dearPasswords?: boolean;
  /** Receives the log of every instance, a line of JSON at a time. Default: discarded. */
  log?: { write(line: string): void } | undefined;
  /** Receives the output for the operator. */
  announce?: (line: string) => void;
}

interface Door {
  readonly url: string;
  readonly backplane: Backplane;
  readonly metrics: Metrics;
}

/** The properties of a relay that peers need: its addresses and its tokens. A relay in another process has them too. */
export interface RelayAddress {
  readonly apis: readonly { readonly url: string }[];
  readonly gateways: readonly { readonly url: string }[];
  token(user?: string, options?: TokenOptions): string;
  /** REST: a route of the table with `call(name, …)`, any other request with `call(method, path, …)`. */
  readonly call: Call;
}

export interface TestRelay extends RelayAddress {
  readonly apis: readonly (Door & {
    readonly api: Api;
    /** Present with `identity: true`. */ readonly identity: Identity | undefined;
  })[];
  readonly gateways: readonly (Door & {
    readonly gateway: Gateway;
    /** Stops this gateway like SIGTERM, or like SIGKILL. */ stop(): Promise<void>;
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
  // Each idle relay asks its database this often. A test that waits for a sweep sets `quickSweeps`.
  sweepIntervalMs: 1000,
  outboxPollMs: 1000,
};

/** Configuration of a test that waits for sweeps. */
export const quickSweeps = { sweepIntervalMs: 300 } as const;

const freePasswords = {
  hash: async (password: string) => Promise.resolve(createHash('sha256').update(password).digest('hex')),
  verify: async ({ hash, password }: { hash: string; password: string }) =>
    hash === (await freePasswords.hash(password)),
};

/** A test that stops a relay waits for no answer. */
const lastAnswersMs = 0;

export async function startRelay(options: RelayOptions = {}): Promise<TestRelay> {
  const config = testConfig({
    ...generous,
    ...(options.identity ? { authBuiltin: true, authSecret: [randomBytes(32).toString('base64url')] } : {}),
    ...options.config,
  });
  const database = options.database ?? (await openTestDatabase());
  const issuer = options.issuer ?? (await startIssuer(`${config.publicUrl}/api`));
  const bus = openTestBus({
    leaseTtlMs: config.leaseTtlMs,
    historyBytes: config.resumeHistoryBytes,
    historyTtlMs: config.resumeHistoryMs,
  });
  const stops: (() => Promise<void>)[] = [];
  /** Besides the instance its backplane as it is: the instance has a view of it, which counts the calls. */
  const open = async (role: InstanceRole, index: number) => {
    const name = `${role}${index}`;
    const backplane = await bus.connect(name);
    const connect = async () => Promise.resolve(backplane);
    const own = { version: '1.0.0', database, connect, log: options.log, processMetrics: false };
    return { instance: await openInstance(role, { ...config, instanceName: name }, own), backplane };
  };
  const urlOf = ({ port }: ServedDoor) => `http://127.0.0.1:${port}`;

  const apis = await Promise.all(
    Array.from({ length: options.apis ?? 1 }, async (_, index) => {
      const { instance, backplane } = await open('api', index);
      const deps = instance.deps('api');
      const { transports, announce } = options;
      const passwords = options.dearPasswords ? undefined : freePasswords;
      const { api, identity } = await openApi({ ...deps, issuers: [issuer.config], transports, announce, passwords });
      const served = await instance.serve(async () => Promise.resolve({ ...api, lastAnswersMs }));
      stops.push(() => served.stop());
      return { url: urlOf(served), api, identity, backplane, metrics: deps.metrics };
    }),
  );

  const gateways = await Promise.all(
    Array.from({ length: options.gateways ?? 1 }, async (_, index) => {
      const { instance, backplane } = await open('gateway', index);
      const deps = instance.deps('gateway');
      const gateway = createGateway(deps);
      const handler = createProbes(deps.readiness, '1.0.0');
      const served = await instance.serve(async () => Promise.resolve({ ...gateway, handler, lastAnswersMs }));
      const stop = () => served.stop();
      const kill = async () => {
        bus.kill(backplane);
        await served.cut();
        await stop().catch(() => undefined);
      };
      stops.push(stop);
      return { url: urlOf(served), gateway, backplane, metrics: deps.metrics, stop, kill };
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
      if (!options.issuer) await issuer.close();
      if (!options.database) await database.close();
    },
  };
}
