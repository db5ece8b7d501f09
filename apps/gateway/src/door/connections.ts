/**
 * The connections of a gateway from the accepted socket to its close: claim the device, mark it online, handle frames,
 * release it.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Leases } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import { type Database, closedAmong, newUlid } from '@relay/database';
import { capabilities, closeCodes, relayCapabilitiesHeader, relayCapabilityNames } from '@relay/protocol';
import { type Socket, type SocketHandlers, type SocketServer, createTokenBucket, spreadOver } from '@relay/socket';
import { type ConnectionDeps, DaemonConnection, type Peer } from '../connection/connection.ts';
import type { Contests } from './contests.ts';
import { type FrameHandler, passesReport } from '../frames/frame-handler.ts';
import type { History } from '../history/history.ts';
import type { Hub } from '../connection/hub.ts';
import type { FrameDispatcher } from '../frames/inbound.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import type { Presence } from './presence.ts';
import type { Status } from '../frames/status.ts';
import { versionStatus } from './version.ts';

interface ConnectionsDeps {
  config: RelayConfig;
  database: Database;
  backplane: Leases;
  metrics: GatewayMetrics;
  sockets: SocketServer;
  /** The dependencies that all connections share. */
  shared: ConnectionDeps;
  hub: Hub;
  presence: Presence;
  contests: Contests;
  history: History;
  inbound: FrameDispatcher;
  status: Status;
  handleFrame: FrameHandler;
  /** Drops the cached credential of a device because it is stale. */
  forget: (deviceId: string) => void;
}

/** The capabilities that this relay declares to daemons, on every 101. */
const declared = { [relayCapabilitiesHeader]: relayCapabilityNames.join(', ') };

/** Lines about single daemons: enough to see which they are, too few to fill a disk. The counters have all. */
export const lineRate = { ratePerSecond: 1, burst: 20 };

export class Connections {
  readonly #deps: ConnectionsDeps;
  /** Every open socket, also before its connection enters the hub. */
  readonly #bySocket = new Map<Socket, DaemonConnection>();
  readonly #ending = new Set<Promise<void>>();
  readonly #takeovers = createTokenBucket(lineRate);
  /** The handlers of all sockets; each finds its connection. */
  readonly #handlers: SocketHandlers;
  #draining = false;
  #beginning = 0;

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps;
    const of = (socket: Socket) => this.#bySocket.get(socket)!;
    this.#handlers = {
      onFrame: (text, socket) => deps.handleFrame(of(socket), text),
      passes: passesReport,
      payer: (socket) => of(socket).ownerId,
      onBinary: (socket) => of(socket).close('binary'),
      onClose: ({ code, reason }, socket) => this.#end(of(socket), socket, code, reason),
      onError: (error, socket) => of(socket).logger.error({ err: error }, 'a frame could not be handled'),
    };
  }

  /** Every open socket. */
  get size(): number {
    return this.#bySocket.size;
  }

  /** The number of connections that do not own their device yet. */
  get beginning(): number {
    return this.#beginning;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Accepts the socket of an authenticated daemon. Resolves when it is decided whether its frames count; rejects without a socket. */
  async open(request: IncomingMessage, duplex: Duplex, head: Buffer, peer: Peer): Promise<void> {
    // The handlers run in a later tick.
    const socket = await this.#deps.sockets.accept(request, duplex, head, this.#handlers, {
      receipts: peer.capabilities.includes(capabilities.receipts),
      headers: declared,
    });
    const connection = new DaemonConnection(newUlid(), peer, socket, this.#deps.shared);
    this.#bySocket.set(socket, connection);
    this.#beginning += 1;
    // The drain might have begun during the accept.
    if (this.#draining) connection.close('goingAway');
    connection.beginning = this.#begin(connection)
      .catch((error: unknown) => {
        connection.logger.error({ err: error }, 'the connection could not begin');
        connection.close('overloaded');
      })
      .finally(() => {
        connection.beginning = undefined;
        this.#beginning -= 1;
      });
    await connection.beginning;
  }

  /**
   * Owns the device, listens for its commands, marks it online. Then its frames count, and it receives its initial
   * state.
   */
  async #begin(connection: DaemonConnection): Promise<void> {
    const { config, backplane, presence, contests, hub, metrics, inbound } = this.#deps;
    const { fence } = await backplane.claim(connection.deviceId, connection.id);
    connection.claimed(fence);
    this.replace(hub.put(connection));
    metrics.connections.set(hub.size);
    const connected = await presence.online(connection);
    if (!connected) return this.#refuse(connection);
    if (connected.hold) contests.learn(connection.deviceId, connected.hold);
    connection.online();
    metrics.accepts.inc();
    const policy = config.daemonVersions?.[connection.agentType];
    if (policy) connection.send(versionStatus(connection.daemonVersion, policy));
    await inbound.begin(connection, connected.reportHash);
    this.#awaitStatus(connection);
  }

  /** The device has a newer claim, or was deleted. */
  async #refuse(connection: DaemonConnection): Promise<void> {
    const [closed] = await closedAmong(this.#deps.database, [connection.deviceId]);
    if (closed) this.#deps.forget(connection.deviceId);
    connection.close(!closed ? 'replaced' : closed.removed ? 'deviceDeleted' : 'credential');
  }

  #awaitStatus(connection: DaemonConnection): void {
    const timer = setTimeout(() => {
      this.#deps.status.overdue(connection).catch((error: unknown) => {
        connection.logger.warn({ err: error }, 'tasks could not be settled');
        if (connection.live) this.#awaitStatus(connection);
      });
    }, this.#deps.config.statusWaitMs);
    timer.unref();
  }

  /** Closes a connection whose device has a newer one. */
  replace(older: DaemonConnection | undefined): void {
    if (older?.open && this.#takeovers.take()) older.logger.info('a newer connection took over');
    older?.close('replaced');
  }

  #end(connection: DaemonConnection, socket: Socket, code: number, reason: string): void {
    const done = (connection.beginning ?? Promise.resolve())
      .then(() => this.#release(connection, socket, code, reason))
      .catch((error: unknown) => connection.logger.warn({ err: error }, 'the end of a connection could not be noted'))
      .finally(() => this.#ending.delete(done));
    this.#ending.add(done);
  }

  async #release(connection: DaemonConnection, socket: Socket, code: number, reason: string): Promise<void> {
    const { backplane, presence, contests, hub, metrics } = this.#deps;
    this.#deps.history.abandon(connection);
    connection.ended();
    this.#bySocket.delete(socket);
    hub.remove(connection);
    metrics.connections.set(hub.size);
    metrics.closes.inc({ code: String(code) });
    // Never claimed.
    if (connection.fence === 0) return;
    // A lease that we fail to release expires by itself. Record the last-seen time in any case.
    await backplane
      .release(connection.deviceId, connection.fence)
      .catch((error: unknown) => connection.logger.warn({ err: error }, 'a lease could not be released'));
    await presence.closed(connection, code, reason);
    if (socket.answered && code === closeCodes.replaced.code) await contests.replaced(connection);
  }

  refuseNew(): void {
    this.#draining = true;
  }

  /**
   * Closes all connections with 1001, spread over `overMs`, including those outside the hub. Later connections are
   * closed on arrival.
   */
  async drain(overMs: number): Promise<void> {
    this.refuseNew();
    await spreadOver([...this.#bySocket.values()], overMs, (connection) => connection.close('goingAway'));
  }

  /**
   * Closes `count` live connections with 1001, spread over `overMs`, idle connections first, and calls `onLetGo` before
   * each close.
   * Stops if the gateway closes all connections anyway.
   */
  async letGo(count: number, overMs: number, onLetGo: (deviceId: string) => void): Promise<void> {
    const working = ({ tasks }: DaemonConnection) => Math.sign(tasks.size);
    const idleFirst = this.#deps.hub.all().sort((a, b) => working(a) - working(b));
    await spreadOver(idleFirst.slice(0, count), overMs, (connection) => {
      if (!connection.live || this.#draining) return;
      onLetGo(connection.deviceId);
      this.#deps.metrics.letGo.inc();
      connection.close('goingAway');
    });
  }

  /** Closes all connections immediately. Resolves when every disconnect is recorded. */
  async close(): Promise<void> {
    this.refuseNew();
    for (const connection of this.#bySocket.values()) connection.close('goingAway');
    while (this.#bySocket.size + this.#ending.size > 0)
      await Promise.allSettled([...this.#ending, new Promise((resolve) => setTimeout(resolve, 10))]);
  }
}
