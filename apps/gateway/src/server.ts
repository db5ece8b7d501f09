/**
 * The daemons' door: `/ws/daemon`. `createGateway` wires the rooms and keeps all state; two gateways can live in one process.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { RelayError, capabilities, closeCodes, decodeControl, limits } from '@relay/protocol';
import { closedAmong, newUlid, readSessions } from '@relay/database';
import {
  HandshakeError,
  type Socket,
  type SocketHandlers,
  createSocketServer,
  createTokenBucket,
  guardUpgrade,
  refuseUpgrade,
} from '@relay/socket';
import { createPublisher } from '@relay/attention';
import { Admission } from './admission.ts';
import { createCancels } from './cancels.ts';
import { createContests, waitYourTurn } from './contests.ts';
import { DaemonConnection, type Peer, connectionDeps } from './connection.ts';
import type { GatewayDeps } from './deps.ts';
import { createFairShare } from './fair-share.ts';
import { createFrameHandler } from './frame-handler.ts';
import { createHistory } from './history.ts';
import { Hub } from './hub.ts';
import { createInbound } from './inbound.ts';
import { gatewayMetrics } from './metrics.ts';
import { createOutbound } from './outbound.ts';
import { createOutcomes } from './outcomes.ts';
import { Presence } from './presence.ts';
import { ProgressBoard } from './progress.ts';
import { startSweeps } from './sweep.ts';
import { createTaskWriter } from './tasks-out.ts';
import { createUnnamed } from './unnamed.ts';
import { createUnsupported } from './unsupported.ts';
import { UpdateRequired, authenticateDaemon } from './upgrade.ts';
import { versionStatus } from './version.ts';
import { createWatching } from './watching.ts';

export type { GatewayDeps } from './deps.ts';

export interface Gateway {
  /** Takes over an upgrade to `/ws/daemon`: a socket, or an HTTP refusal. Never throws. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void;
  /** Connections of this instance. */
  readonly size: number;
  /** Refuses new connections and closes the live ones with 1001, spread over `overMs`. */
  drain(overMs: number): Promise<void>;
  /** Closes what is left and stops every timer. */
  close(): Promise<void>;
}

/** All daemons of an instance connect again within this time. */
const reconnectWithinMs = 60_000;

/** The device that somebody claims to be. */
const namedIn = (request: IncomingMessage): string => String(request.headers['x-device-id'] ?? '').slice(0, 64);

export function createGateway(deps: GatewayDeps): Gateway {
  const { config, database, backplane, deviceVerifier, logger } = deps;
  const metrics = gatewayMetrics(deps.metrics);
  const hub = new Hub();
  const admission = new Admission();
  const publisher = createPublisher({
    channel: backplane,
    windowMs: config.dedupeWindowMs,
    readSessions: (keys) => readSessions(database.prisma, keys),
    onError: (error) => logger.warn({ err: error }, 'a frame for apps could not be published'),
  });
  const presence = new Presence(database, backplane, publisher, logger, config.offlineGraceMs);
  const progress = new ProgressBoard(database, logger, {
    intervalMs: config.progressIntervalMs,
    flushMs: config.progressFlushMs,
  });
  const notify = () => {
    backplane
      .publishControl(JSON.stringify({ v: 1, kind: 'outbox' }))
      .catch((error: unknown) => logger.warn({ err: error }, 'outbox not announced'));
  };
  const unsupported = createUnsupported({ config, database, publisher, metrics, notify });
  const cancels = createCancels(database, progress);
  const writer = createTaskWriter({ database, publisher, metrics, cancels, unsupported });
  const watching = createWatching(database, backplane, config.openSessionMs);
  const history = createHistory(backplane, metrics, config.daemonReplyTimeoutMs);
  const outcomes = createOutcomes({ config, database, publisher, history, metrics, progress, writer, notify });
  const contests = createContests({ database, backplane, metrics, notify });
  const share = createFairShare();
  const inbound = createInbound({
    config,
    database,
    publisher,
    progress,
    writer,
    watching,
    history,
    outcomes,
    unnamed: createUnnamed({ database, publisher, watching, history, outcomes }),
    metrics,
    share,
    notify,
  });
  const sweeps = startSweeps({
    config,
    database,
    backplane,
    hub,
    presence,
    publisher,
    writer,
    cancels,
    watching,
    logger,
    metrics,
    notify,
    forget: (deviceId) => deviceVerifier.forget(deviceId),
  });
  const sockets = createSocketServer({
    limits: {
      maxFrameBytes: limits.daemonFrameBytes,
      maxUnsentBytes: 2 * limits.daemonFrameBytes,
      stallMs: config.slowReaderStallMs,
      maxQueuedFrames: 256,
    },
    closes: { tooSlow: closeCodes.overloaded, internal: closeCodes.internal },
  });
  /** Every open socket, in its place in the hub or not yet. */
  const connections = new Map<Socket, DaemonConnection>();
  const ending = new Set<Promise<void>>();
  let draining = false;
  let closing = false;
  const isClosing = () => closing;
  const handle = createFrameHandler({ inbound, share, tracer: deps.tracer, isClosing });
  const shared = connectionDeps(config, metrics, logger);
  /** Lines about single daemons: enough to see who it is, too few to fill a disk. The counters have all. */
  const lines = { ratePerSecond: 1, burst: 20 };
  const [refusals, takeovers] = [createTokenBucket(lines), createTokenBucket(lines)];

  const replace = (older: DaemonConnection | undefined): void => {
    if (older?.open && takeovers.take()) older.logger.info('a newer connection took over');
    older?.close('replaced');
  };

  backplane.onCommand(createOutbound({ hub, history, writer, watching, cancels, metrics }));
  backplane.onEvict((lease) => {
    metrics.evictions.inc();
    replace(hub.get(lease.device, lease.fence));
  });
  backplane.onRestored(() => sweeps.catchUp());
  backplane.onControl((body) => {
    const control = decodeControl(body);
    if (control?.kind === 'database_set_back') void reconnectAll();
    if (control?.kind === 'device_contested') contests.learn(control.deviceId, control);
    if (control?.kind !== 'device_closed') return;
    deviceVerifier.forget(control.deviceId);
    hub.get(control.deviceId)?.close(control.why === 'deleted' ? 'deviceDeleted' : 'credential');
  });

  /** Own the device, listen for its commands, mark it online; then its frames count, and it is told what it must know. */
  const begin = async (connection: DaemonConnection): Promise<void> => {
    const { fence } = await backplane.claim(connection.deviceId, connection.id);
    connection.fence = fence;
    replace(hub.put(connection));
    metrics.connections.set(hub.size);
    const connected = await presence.online(connection);
    if (!connected) {
      const [closed] = await closedAmong(database.prisma, [connection.deviceId]);
      if (closed) deviceVerifier.forget(connection.deviceId);
      connection.close(!closed ? 'replaced' : closed.removed ? 'deviceDeleted' : 'credential');
      return;
    }
    if (connected.hold) contests.learn(connection.deviceId, connected.hold);
    connection.live = connection.open;
    connection.startKeepalive();
    metrics.accepts.inc();
    const policy = config.daemonVersions?.[connection.agentType];
    if (policy) connection.send(versionStatus(connection.daemonVersion, policy));
    await inbound.begin(connection, connected.reportHash);
    awaitStatus(connection);
  };

  const awaitStatus = (connection: DaemonConnection): void => {
    const timer = setTimeout(() => {
      inbound.statusOverdue(connection).catch((error: unknown) => {
        connection.logger.warn({ err: error }, 'tasks could not be settled');
        if (connection.live) awaitStatus(connection);
      });
    }, config.statusWaitMs);
    timer.unref();
  };

  const end = async (connection: DaemonConnection, socket: Socket, code: number, reason: string): Promise<void> => {
    connection.ended();
    connections.delete(socket);
    hub.remove(connection);
    metrics.connections.set(hub.size);
    metrics.closes.inc({ code: String(code) });
    history.abandon(connection);
    connection.memory.clear();
    if (connection.fence === 0) return;
    // A lease that cannot be given back ends by itself; when the device was last here is noted in any case.
    await backplane
      .release(connection.deviceId, connection.fence)
      .catch((error: unknown) => connection.logger.warn({ err: error }, 'a lease could not be released'));
    await presence.closed(connection, code, reason);
    if (socket.answered && code === closeCodes.replaced.code) await contests.replaced(connection);
  };

  /** The handlers of all sockets; each finds its connection. */
  const handlers: SocketHandlers = {
    onFrame: (text, socket) => {
      const connection = connections.get(socket)!;
      // Frames that come before the device is ours wait; the socket keeps their order.
      if (connection.beginning) return connection.beginning.then(() => handle(connection, text));
      return handle(connection, text);
    },
    onBinary: (socket) => connections.get(socket)!.close('binary'),
    onClose: ({ code, reason }, socket) => {
      const connection = connections.get(socket)!;
      const done = (connection.beginning ?? Promise.resolve())
        .then(() => end(connection, socket, code, reason))
        .catch((error: unknown) => connection.logger.warn({ err: error }, 'the end of a connection could not be noted'))
        .finally(() => ending.delete(done));
      ending.add(done);
    },
    onError: (error, socket) => connections.get(socket)!.logger.error({ err: error }, 'a frame could not be handled'),
  };

  const open = async (request: IncomingMessage, duplex: Duplex, head: Buffer, peer: Peer): Promise<void> => {
    // The handlers run in a later turn.
    const socket = await sockets.accept(request, duplex, head, handlers, {
      receipts: peer.capabilities.includes(capabilities.receipts),
    });
    const connection = new DaemonConnection(newUlid(), peer, socket, shared);
    connections.set(socket, connection);
    // The draining may have begun while this one was on its way.
    if (draining) connection.close('goingAway');
    connection.beginning = begin(connection)
      .then(
        () => void (connection.admitted = connection.heard),
        (error: unknown) => {
          connection.logger.error({ err: error }, 'the connection could not begin');
          connection.close('overloaded');
        },
      )
      .finally(() => (connection.beginning = undefined));
    await connection.beginning;
  };

  /** A socket only to say what to update to: nothing it says counts, and it never owns its device. */
  const turnAway = async (request: IncomingMessage, duplex: Duplex, head: Buffer, { status }: UpdateRequired) => {
    metrics.refusals.inc({ code: 'UPDATE_REQUIRED' });
    const deaf: SocketHandlers = {
      onFrame: () => undefined,
      onBinary: () => undefined,
      onClose: () => undefined,
      onError: () => undefined,
    };
    const socket = await sockets.accept(request, duplex, head, deaf);
    socket.send(JSON.stringify(status));
    socket.close(closeCodes.updateRequired.code, closeCodes.updateRequired.reason);
  };

  const refuseWhenDraining = (): void => {
    if (draining)
      throw new RelayError('SERVICE_UNAVAILABLE', 'This instance is leaving. Connect again.', { retryAfter: 1 });
  };

  /** Those on their way in, until their device is theirs or not. */
  let arriving = 0;
  const refuseCrowd = (): void => {
    if (arriving < config.connectingLimit) return;
    // Not all of them at the same second again.
    const retryAfter = 1 + Math.floor(Math.random() * 5);
    throw new RelayError('SERVICE_UNAVAILABLE', 'Too many daemons connect at this moment. Connect again.', {
      retryAfter,
    });
  };

  const refuse = (request: IncomingMessage, duplex: Duplex, head: Buffer, error: unknown): void => {
    if (error instanceof HandshakeError) {
      if (error.status === 0) return;
      refuse(
        request,
        duplex,
        head,
        new RelayError(error.status === 405 ? 'METHOD_NOT_ALLOWED' : 'INVALID_REQUEST', error.message),
      );
      return;
    }
    if (error instanceof UpdateRequired) {
      if (!error.asksFor426) {
        turnAway(request, duplex, head, error).catch((cause: unknown) => refuse(request, duplex, head, cause));
        return;
      }
      metrics.refusals.inc({ code: 'UPDATE_REQUIRED' });
      refuseUpgrade(duplex, 426, { 'Content-Type': 'application/json' }, JSON.stringify(error.status));
      return;
    }
    const known =
      error instanceof RelayError
        ? error
        : new RelayError('INTERNAL_ERROR', 'The relay failed. Try again.', { cause: error });
    // A refusal that is part of the contract has no cause.
    if (known.cause !== undefined) logger.error({ err: error }, 'a daemon could not be let in');
    else if (refusals.take())
      logger.info({ code: known.code, deviceId: namedIn(request) }, `a daemon was refused: ${known.message}`);
    metrics.refusals.inc({ code: known.code });
    const retry: Record<string, string> =
      known.retryAfter === undefined ? {} : { 'Retry-After': String(known.retryAfter) };
    refuseUpgrade(duplex, known.status, { 'Content-Type': 'application/json', ...retry }, JSON.stringify(known.body));
  };

  /** Tasks, reports and fences may differ from what this instance remembers: every daemon reconnects, spread over a minute. */
  const reconnectAll = async (): Promise<void> => {
    const all = hub.all();
    const pauseMs = Math.min(20, reconnectWithinMs / all.length);
    // At once, so that no session is published from memory that the database has lost.
    for (const { memory } of all) memory.forgetRecords();
    for (const connection of all) {
      if (closing) return;
      connection.close('goingAway');
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };

  return {
    upgrade: (request, duplex, head) => {
      guardUpgrade(duplex);
      const arrive = async () => {
        const peer = await authenticateDaemon(request, deps);
        await contests.refuse(peer);
        if (!(await admission.admit(peer.deviceId)))
          throw waitYourTurn(peer, 'This device connects too often: is its credential used on two machines?', 5);
        // It may have waited for its turn meanwhile.
        refuseWhenDraining();
        await open(request, duplex, head, peer);
      };
      try {
        // Before anything of it is looked at: a crowd that is sent away must cost nothing.
        refuseWhenDraining();
        refuseCrowd();
      } catch (error) {
        refuse(request, duplex, head, error);
        return;
      }
      arriving += 1;
      arrive()
        .catch((error: unknown) => refuse(request, duplex, head, error))
        .finally(() => (arriving -= 1));
    },
    get size() {
      return hub.size;
    },
    drain: async (overMs) => {
      draining = true;
      // Those too that are not in the hub yet.
      const all = [...connections.values()];
      for (const [index, connection] of all.entries()) {
        connection.close('goingAway');
        if (index + 1 < all.length) await new Promise((resolve) => setTimeout(resolve, overMs / all.length));
      }
    },
    close: async () => {
      draining = true;
      closing = true;
      admission.stop();
      await sweeps.stop();
      for (const connection of connections.values()) connection.close('goingAway');
      while (connections.size + ending.size > 0)
        await Promise.allSettled([...ending, new Promise((resolve) => setTimeout(resolve, 10))]);
      presence.stop();
      await progress.flush();
      progress.stop();
    },
  };
}
