/**
 * The relay in both sizes, as processes that a test can kill between two steps of a delivery, and a push service that
 * records deliveries.
 */
import { rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { type Database, openDatabase } from '@relay/database';
import {
  type Cluster,
  type Instance,
  type Received,
  type RelayAddress,
  callerOf,
  openPushKeys,
  registerDevice,
  startCluster,
  startFaultProxy,
  startPushReceiver,
  startRelayProcess,
} from '@relay/testing';
import { until } from './cluster/until.ts';

/** A relay with one sending process at a time. */
export interface Home {
  /** The address of the running process. */
  readonly relay: RelayAddress;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills the sending process with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the next process: on the same folder, or as another instance. */
  startNext(): Promise<void>;
  /** Moves the ledger two minutes on. Call it between `kill` and `startNext`. */
  passTwoMinutes(): Promise<void>;
  /** The output of all its processes. */
  written(): string;
  stop(): Promise<void>;
}

const passTwoMinutes = (database: Database) =>
  database.sql.execute`
    UPDATE deliveries SET claimed_at = claimed_at - interval '2 minutes', next_at = next_at - interval '2 minutes'`;

/** `npm start` on one data folder. */
export async function openSingle(env: Record<string, string>): Promise<Home> {
  let relay = await startRelayProcess({ env });
  const { dataDir } = relay;
  const ended: string[] = [];
  return {
    get relay() {
      return relay;
    },
    signal: (signal) => void relay.process.kill(signal),
    kill: async () => {
      await relay.end('SIGKILL');
      ended.push(relay.output());
    },
    startNext: async () => {
      relay = await startRelayProcess({ dataDir, env });
    },
    passTwoMinutes: async () => {
      const database = await openDatabase({ dataDir });
      await passTwoMinutes(database);
      await database.close();
    },
    written: () => [...ended, relay.output()].join('\n'),
    stop: async () => {
      await relay.end('SIGKILL');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The cluster at one of its apis. */
export const askedAt = (cluster: Cluster, api: Instance): RelayAddress => ({
  ...cluster,
  apis: [api],
  call: callerOf([api.url], (user) => cluster.token(user)),
});

/** Two apis: one starts after the other was killed. */
export async function openPair(env: Record<string, string>): Promise<Home> {
  const cluster = await startCluster({ apis: 2, gateways: 1, env });
  const database = await openDatabase({ url: cluster.databaseUrl, poolSize: 1 });
  let at = 0;
  const living = () => cluster.apis[at]!;
  await cluster.apis[1]!.kill();
  return {
    get relay() {
      return askedAt(cluster, living());
    },
    signal: (signal) => void living().child.signal(signal),
    kill: () => living().kill(),
    startNext: async () => {
      at = 1 - at;
      await living().start();
    },
    passTwoMinutes: async () => void (await passTwoMinutes(database)),
    written: () => cluster.apis.flatMap((api) => api.logged()).join('\n'),
    stop: async () => {
      await database.close();
      await cluster.stop();
    },
  };
}

export interface TakingService {
  /** Variables for the relay. */
  readonly env: Record<string, string>;
  /** The proxy between the relay and this service. */
  readonly wire: Awaited<ReturnType<typeof startFaultProxy>>;
  /** No log can contain these. */
  readonly secrets: readonly string[];
  /** Answers 503 until `answerOnce`. */
  refuse(): void;
  /** The number of times that it accepted this delivery. */
  timesOf(deliveryId: string): number;
  /**
   * Handles one request: reads it, runs `before`, answers 201, and runs `after` once the answer is written. Resolves
   * after that.
   */
  answerOnce(before: () => unknown, after?: () => unknown): Promise<void>;
  /** Adds a notification address of this person. Returns its id. */
  subscribe(relay: RelayAddress, user: string, more?: { delaySeconds?: number }): Promise<string>;
  close(): Promise<void>;
}

/** A web push service that answers 201 by default. */
export async function startTakingService(): Promise<TakingService> {
  const receiver = await startPushReceiver();
  const wire = await startFaultProxy({ port: Number(new URL(receiver.url).port) });
  const browser = openPushKeys();
  const host = `127.0.0.1:${wire.port}`;
  const taken: Received[] = [];
  const take: typeof receiver.answer = (response, request) => {
    taken.push(request);
    response.writeHead(201).end();
  };
  receiver.answer = take;
  return {
    env: {
      PUSH_SECRET: 'the secret of killed deliveries is long enough',
      PUSH_ALLOWED_HOSTS: host,
      TEST_OUTBOX_POLL_MS: '500',
      LOG_LEVEL: 'debug',
    },
    wire,
    secrets: ['hidden-endpoint', browser.keys.auth, browser.keys.p256dh],
    timesOf: (deliveryId) =>
      taken.filter(({ body }) => {
        const { notification } = browser.read(body) as { notification: { data: { deliveryId: string } } };
        return notification.data.deliveryId === deliveryId;
      }).length,
    refuse: () => {
      receiver.answer = (response) => void response.writeHead(503, { 'Retry-After': '1' }).end();
    },
    answerOnce: async (before, after) => {
      const response = await new Promise<ServerResponse>((resolve) => {
        receiver.answer = (one, request) => {
          receiver.answer = take;
          taken.push(request);
          resolve(one);
        };
      });
      await before();
      await new Promise<void>((resolve) => response.writeHead(201).end(resolve));
      await after?.();
    },
    subscribe: async (relay, user, more = {}) => {
      const endpoint = `http://${host}/hidden-endpoint/${user}`;
      const body = { kind: 'webpush', endpoint, keys: browser.keys, ...more } as const;
      return (await relay.call('addSubscription', { body, user })).body.subscription.id;
    },
    close: async () => {
      await wire.close();
      await receiver.close();
    },
  };
}

/**
 * Causes a notification of this person by registering a machine. The relay can send it, and its process die, before the
 * registration has its answer.
 */
export const notify = (relay: RelayAddress, user: string): Promise<unknown> =>
  registerDevice(relay, { user }).catch(() => undefined);

/** Waits until the delivery of the newest notification of this person has this state. */
export async function deliveryIn({ relay }: Pick<Home, 'relay'>, user: string, state: string) {
  const read = async () =>
    (await relay.call('listNotifications', { user })).body.notifications.flatMap(
      ({ deliveries = [] }) => deliveries,
    )[0];
  await until(`a delivery of ${user} is ${state}`, async () => (await read())?.state === state);
  return (await read())!;
}

/** Sends a test, which arrives after all earlier deliveries. */
export async function sendTest({ relay }: Pick<Home, 'relay'>, user: string, subscriptionId: string): Promise<void> {
  const { body } = await relay.call('testSubscription', { params: { id: subscriptionId }, user });
  const id = body.deliveryId;
  const read = async () => (await relay.call('readDelivery', { params: { id }, user })).body;
  await until(`a test of ${user} arrives`, async () => (await read()).state === 'accepted');
}
