/** The door of an instance: it listens, checks the way to itself, and leaves without dropping work in progress. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RelayConfig, Role } from '@relay/config';
import {
  type Logger,
  type MetricsServer,
  type Metrics,
  type ReadinessProbe,
  startMetricsServer,
} from '@relay/telemetry';
import type { Closers } from '../closers.ts';
import { watchCertificate } from '../certificate.ts';
import { type ProxyCheckOptions, checkProxy, quietMsOf } from '../proxy-check.ts';
import { type Tickets, createQuietDoor } from '../quiet-door.ts';
import type { Service } from '../run.ts';
import { type Served, serve } from '../serve.ts';

/** The server of one port: an api, a gateway, or both. */
export interface Door {
  handler(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void;
  /** Closes the live sockets with a word, spread over `overMs`; requests go on. */
  drain(overMs: number): Promise<unknown>;
  /** Closes the rest and stops every timer. */
  close(): Promise<void>;
  /** After the draining: requests under way are answered within this time, or cut. */
  readonly lastAnswersMs: number;
  /** The socket to test through PUBLIC_URL after the start. Absent: skips the test. */
  readonly selfCheck?: ProxyCheckOptions['path'];
  /** Further lines for people, on standard error, when it is ready. */
  readonly welcome?: readonly string[];
}

interface Below {
  readonly role: Role;
  readonly version: string;
  readonly config: RelayConfig;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly readiness: ReadinessProbe;
  readonly tickets: Tickets;
  readonly closers: Closers;
}

export interface ServedDoor extends Service {
  readonly port: number;
  /** Cuts every connection silently, as a crash of the process does. */
  cut(): Promise<void>;
}

/** Extra margin on top of the configured drain time. */
const marginMs = 5000;
/** Daemons and apps close their sockets, and the relay writes the resulting changes. */
const doorCloseMs = 30_000;

/** Everything that it opens, the door included, is on the stack of `closers`; also when it rejects. */
export async function serveDoor(below: Below, open: () => Promise<Door>): Promise<ServedDoor> {
  const { role, version, config, logger, metrics, closers } = below;
  // Read until the last moment, so it is opened last and closed late.
  let metricsServer: MetricsServer | undefined;
  closers.push('metrics', () => metricsServer?.close());

  const door = await open();
  let listening: Served | undefined;
  closers.push('connections', () => listening?.cut());
  closers.push('door', () => door.close(), doorCloseMs);

  const server = createServer((request, response) => door.handler(request, response));
  const quiet = createQuietDoor({ tickets: below.tickets, quietMs: quietMsOf(config.pingIntervalMs) });
  server.on('upgrade', (request, duplex, head) =>
    door.selfCheck === undefined
      ? door.upgrade(request, duplex, head)
      : quiet.upgrade(request, duplex, () => door.upgrade(request, duplex, head)),
  );
  const served = (listening = await serve(server, config));
  closers.push('last answers', () => served.finish(door.lastAnswersMs), door.lastAnswersMs + marginMs);
  const drainMs = config.drainSeconds * 1000;
  closers.push('draining', () => door.drain(drainMs), drainMs + marginMs);

  if (config.metricsPort !== 0)
    metricsServer = await startMetricsServer({
      host: config.host,
      port: config.metricsPort,
      metrics,
      required: role !== 'standalone',
      log: logger,
    });
  if (door.selfCheck !== undefined) {
    const { publicUrl, pingIntervalMs } = config;
    const check = checkProxy({ publicUrl, path: door.selfCheck, pingIntervalMs, door: quiet, log: logger });
    closers.push('self-check', () => {
      check.stop();
      quiet.close();
    });
  }
  const certificate = watchCertificate({ publicUrl: config.publicUrl, metrics, logger });
  closers.push('certificate', () => certificate.stop());
  closers.push('readiness', () => below.readiness.drain());

  const ready = role === 'standalone' ? 'is ready at' : `(${role}) is ready for`;
  return {
    port: served.port,
    cut: () => served.cut(),
    welcome: [
      `Relay ${version} ${ready} ${config.publicUrl} (listening on ${config.host}:${served.port}).`,
      ...(door.welcome ?? []),
    ],
    stop: () => closers.close(),
  };
}
