/** The apps' WebSocket door: upgrade → connection → hub, and everything that ends a connection from outside. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Control, RelayError, closeCodes, limits } from '@relay/protocol';
import {
  type Heartbeat,
  HandshakeError,
  createSocketServer,
  doorHeartbeat,
  guardUpgrade,
  refuseUpgrade,
  spreadOver,
  startHeartbeat,
} from '@relay/socket';
import { tellToReload } from '@relay/attention';
import type { ApiDeps } from '../deps.ts';
import { verifyUserToken } from '../http/authenticate.ts';
import { toRelayError } from '../http/errors.ts';
import type { LateRefusals } from '../http/late-refusals.ts';
import { AppConnection } from './connection.ts';
import { createDeliveries } from './delivery.ts';
import { keepFocus } from './focus.ts';
import { authenticateApp } from './upgrade.ts';

export interface AttentionDoor {
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void;
  /** Closes connections whose credential is revoked by now: for revocations that this instance missed. */
  recheck(): void;
  control(control: Control): void;
  readonly size: number;
  drain(overMs: number): Promise<void>;
  close(): Promise<void>;
}

const path = '/ws/attention';

export function createAttentionDoor(deps: ApiDeps, late: LateRefusals): AttentionDoor {
  const { config, logger } = deps;
  const prepare = createDeliveries();
  const keepalive = doorHeartbeat(config.pingIntervalMs, config.silenceTimeoutMs);
  const connections = new Set<AppConnection>();
  /** By user, including connections that are still being accepted. */
  const people = new Map<string, Set<AppConnection>>();
  const frameRate = { ratePerSecond: config.appFramesPerSecond, burst: 60 * config.appFramesPerSecond };
  const leaving = new Set<Promise<void>>();
  const gauge = deps.metrics.gauge('relay_app_connections', 'Apps connected to this instance');
  const closes = deps.metrics.counter('relay_app_closes_total', 'App connections ended, by close code', ['code']);
  const refusals = deps.metrics.counter('relay_app_refusals_total', 'App upgrades refused, by error code', ['code']);
  const resumes = deps.metrics.counter(
    'relay_app_resumes_total',
    'Apps that connected: fresh, with everything they missed (full), or told to reload (none)',
    ['outcome'],
  );
  const sockets = createSocketServer({
    limits: {
      maxFrameBytes: limits.attentionFrameBytes,
      // A client that comes back is sent all of its history at once, and needs time to take it.
      maxUnsentBytes: Math.max(1024 * 1024, config.resumeHistoryBytes),
      stallMs: config.slowReaderStallMs,
    },
    closes: { tooSlow: closeCodes.overloaded, internal: closeCodes.internal },
  });
  let draining = false;

  /** @throws RelayError TOO_MANY_CONNECTIONS */
  const enter = (connection: AppConnection) => {
    const { userId } = connection.principal;
    const own = people.get(userId) ?? new Set();
    if (own.size >= config.socketsPerUser)
      throw new RelayError(
        'TOO_MANY_CONNECTIONS',
        `${config.socketsPerUser} of your apps are connected here, which is all. Close some.`,
        { retryAfter: 30 },
      );
    people.set(userId, own.add(connection));
  };

  const leave = (connection: AppConnection) => {
    connections.delete(connection);
    const { userId } = connection.principal;
    const own = people.get(userId);
    if (own?.delete(connection) && own.size === 0) people.delete(userId);
    gauge.set(connections.size);
    const left = connection
      .ended()
      .catch((error: unknown) => logger.warn({ err: error }, 'a subscription could not be ended'))
      .finally(() => leaving.delete(left));
    leaving.add(left);
  };

  const open = async (request: IncomingMessage, duplex: Duplex, head: Buffer): Promise<void> => {
    if ((request.url ?? '').split('?', 1)[0] !== path) throw new RelayError('NOT_FOUND', `WebSockets are at ${path}.`);
    if (draining)
      throw new RelayError('SERVICE_UNAVAILABLE', 'This instance is leaving. Connect again.', { retryAfter: 1 });
    const peer = await authenticateApp(request, deps);
    const connection = new AppConnection({
      ...peer,
      prepare,
      expiryToleranceMs: config.expiryToleranceMs,
      frameRate,
      showing: (sessionId) => {
        keepFocus(deps.backplane, peer.principal.userId, sessionId).catch((error: unknown) =>
          logger.debug({ err: error }, 'the session that an app shows was not kept'),
        );
      },
      verify: (token) => verifyUserToken(token, deps.jwtVerifier),
    });
    try {
      enter(connection);
    } catch (error) {
      await late.pause(`user:${connection.principal.userId}`);
      throw error;
    }
    let heartbeat: Heartbeat | undefined;
    try {
      await connection.subscribe(deps.backplane);
      const socket = await sockets.accept(
        request,
        duplex,
        head,
        {
          onFrame: (text) => connection.frame(text),
          onBinary: () => connection.close('binary'),
          onClose: ({ code }) => {
            heartbeat?.stop();
            closes.inc({ code: String(code) });
            leave(connection);
          },
          onError: (error) => logger.error({ err: error }, 'a frame of an app could not be handled'),
        },
        peer.protocol === undefined ? {} : { protocol: peer.protocol },
      );
      connections.add(connection);
      gauge.set(connections.size);
      // Ordinary clients know three frame types: the ping is the WebSocket's own.
      const started = connection.start(socket);
      heartbeat = startHeartbeat(keepalive, connection);
      // Either may have come while this connection was being accepted and could not be found to be closed.
      if (deps.jwtVerifier.isRevoked(connection.principal)) connection.close('credential');
      else if (draining) connection.close('goingAway');
      resumes.inc({ outcome: await started });
    } catch (error) {
      if (!connections.has(connection)) leave(connection);
      throw error;
    }
  };

  return {
    upgrade: (request, duplex, head) => {
      guardUpgrade(duplex);
      open(request, duplex, head).catch((error: unknown) => {
        if (error instanceof HandshakeError && error.status === 0) return;
        const known = toRelayError(error);
        if (known.status >= 500) logger.error({ err: error }, 'an app could not be let in');
        refusals.inc({ code: known.code });
        const retry: Record<string, string> =
          known.retryAfter === undefined ? {} : { 'Retry-After': String(known.retryAfter) };
        refuseUpgrade(
          duplex,
          known.status,
          { 'Content-Type': 'application/json', ...known.headers, ...retry },
          JSON.stringify(known.body),
        );
      });
    },
    control: (control) => {
      if (control.kind === 'database_set_back') {
        for (const user of people.keys())
          tellToReload(deps.backplane, user, control.cause).catch((error: unknown) =>
            logger.warn({ err: error }, 'apps could not be told to reload'),
          );
      }
      if (control.kind !== 'user_revoked') return;
      for (const connection of connections) {
        const { userId, sessionId, clientId } = connection.principal;
        const person = userId === control.subject && (control.client === undefined || control.client === clientId);
        if (person || (sessionId !== undefined && sessionId === control.login)) connection.close('credential');
      }
    },
    recheck: () => {
      for (const connection of connections)
        if (deps.jwtVerifier.isRevoked(connection.principal)) connection.close('credential');
    },
    get size() {
      return connections.size;
    },
    drain: async (overMs) => {
      draining = true;
      await spreadOver([...connections], overMs, (connection) => connection.close('goingAway'));
    },
    close: async () => {
      draining = true;
      for (const connection of connections) connection.close('goingAway');
      while (connections.size + leaving.size > 0)
        await Promise.allSettled([...leaving, new Promise((resolve) => setTimeout(resolve, 10))]);
    },
  };
}
