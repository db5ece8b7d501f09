/**
 * The gateway: `/ws/daemon`. `createGateway` wires its modules and keeps all state; two gateways can live in one process.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { closeCodes, limits } from '@relay/protocol';
import { createSessionTurns, readSessions } from '@relay/database';
import { createSocketServer } from '@relay/socket';
import { createPublisher } from '@relay/attention';
import { Admission } from './door/admission.ts';
import { Balance } from './door/balance.ts';
import { createCancels } from './tasks/cancels.ts';
import { connectionDeps } from './connection/connection.ts';
import { Connections } from './door/connections.ts';
import { createContests } from './door/contests.ts';
import { createControls } from './fleet/controls.ts';
import type { GatewayDeps } from './door/deps.ts';
import { createDoor } from './door/door.ts';
import { createFairShare } from './frames/fair-share.ts';
import { createFrameHandler } from './frames/frame-handler.ts';
import { createHistory } from './history/history.ts';
import { Hub } from './connection/hub.ts';
import { createMeaning } from './frames/meaning.ts';
import { gatewayMetrics } from './connection/metrics.ts';
import { createOutbound } from './fleet/outbound.ts';
import { createNotify, createOwners } from './fleet/to-instances.ts';
import { Presence } from './door/presence.ts';
import { ProgressBoard } from './sessions/progress.ts';
import { startSweeps } from './fleet/sweep.ts';
import { createTaskWriter } from './tasks/tasks-out.ts';
import { createWatching } from './sessions/watching.ts';

export type { GatewayDeps } from './door/deps.ts';

export interface Gateway {
  /** Takes over an upgrade to `/ws/daemon`: a socket, or an HTTP refusal. Never throws. */
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void;
  /** Connections of this instance. */
  readonly size: number;
  /** Refuses new connections and closes the live ones with 1001, spread over `overMs`. */
  drain(overMs: number): Promise<void>;
  /** Closes remaining connections and stops every timer. */
  close(): Promise<void>;
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { config, database, backplane, deviceVerifier, logger } = deps;
  const metrics = gatewayMetrics(deps.metrics);
  const hub = new Hub();
  const admission = new Admission();
  const publisher = createPublisher({
    channel: backplane,
    // Redis outlives an instance; the memory of the only process does not.
    turns: config.redisUrl === undefined ? createSessionTurns(database) : undefined,
    windowMs: config.dedupeWindowMs,
    readSessions: (keys) => readSessions(database, keys),
    onError: (error) => logger.warn({ err: error }, 'a frame for apps could not be published'),
  });
  const presence = new Presence(database, backplane, publisher, logger, config.offlineGraceMs);
  const progress = new ProgressBoard(database, logger, {
    intervalMs: config.progressIntervalMs,
    flushMs: config.progressFlushMs,
  });
  const notify = createNotify(backplane, logger);
  const { requestSearch, wake } = createOwners(backplane, logger, config.commandTimeoutMs);
  const forget = (deviceId: string) => deviceVerifier.forget(deviceId);
  let closing = false;

  const cancels = createCancels(database, progress);
  const writer = createTaskWriter({ config, database, publisher, metrics, cancels, notify, wakeOwner: wake });
  const watching = createWatching(database, backplane, config.openSessionMs);
  const history = createHistory(backplane, metrics, config.daemonReplyTimeoutMs);
  const balance = new Balance(backplane);
  const contests = createContests({ database, backplane, metrics, notify });
  const servesOthers = (ownerId: string) => hub.servesOthers(ownerId);
  const share = createFairShare(servesOthers);
  // A separate share, so that the long rest after a large frame does not delay writes.
  const shareOfLarge = createFairShare(servesOthers);
  const { inbound, status, unnamed } = createMeaning({
    config,
    database,
    publisher,
    progress,
    writer,
    watching,
    history,
    metrics,
    share,
    notify,
    requestSearch,
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
    wakeOwner: wake,
    forget,
    balance,
    letGo: (count, overMs) => void connections.letGo(count, overMs, (deviceId) => balance.letGo(deviceId)),
    isLeaving: () => closing || connections.draining,
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
  const connections = new Connections({
    config,
    database,
    backplane,
    metrics,
    sockets,
    shared: connectionDeps(config, metrics, logger),
    hub,
    presence,
    contests,
    history,
    inbound,
    status,
    handleFrame: createFrameHandler({
      inbound,
      share: shareOfLarge,
      tracer: deps.tracer,
      metrics,
      isClosing: () => closing,
    }),
    forget,
  });

  backplane.onCommand(createOutbound({ hub, history, writer, watching, unnamed, cancels, metrics }));
  backplane.onEvict((lease) => {
    metrics.evictions.inc();
    connections.replace(hub.get(lease.device, lease.fence));
  });
  backplane.onRestored(() => sweeps.catchUp());
  backplane.onControl(
    createControls({
      instance: backplane.instance,
      hub,
      connections,
      contests,
      readiness: deps.readiness,
      logger,
      forget,
      isClosing: () => closing,
    }),
  );

  return {
    upgrade: createDoor({
      config,
      deviceVerifier,
      logger,
      metrics,
      sockets,
      admission,
      contests,
      connections,
      balance,
    }),
    get size() {
      return hub.size;
    },
    drain: (overMs) => connections.drain(overMs),
    close: async () => {
      closing = true;
      for (const one of [share, shareOfLarge]) one.endRests();
      admission.stop();
      connections.refuseNew();
      await sweeps.stop();
      await connections.close();
      presence.stop();
      await progress.flush();
      progress.stop();
    },
  };
}
