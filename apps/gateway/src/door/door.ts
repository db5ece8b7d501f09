/** The door of the daemons: an upgrade to `/ws/daemon` becomes a connection, or a refusal before a socket exists (rules, 9.1). */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { RelayError, closeCodes } from '@relay/protocol';
import {
  HandshakeError,
  type SocketHandlers,
  type SocketServer,
  createTokenBucket,
  guardUpgrade,
  refuseUpgrade,
} from '@relay/socket';
import type { Admission } from './admission.ts';
import type { Balance } from './balance.ts';
import { type Connections, lineRate } from './connections.ts';
import { type Contests, waitYourTurn } from './contests.ts';
import type { GatewayDeps } from './deps.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { UpdateRequired, authenticateDaemon } from './upgrade.ts';

interface DoorDeps extends Pick<GatewayDeps, 'config' | 'deviceVerifier' | 'logger'> {
  metrics: GatewayMetrics;
  sockets: SocketServer;
  admission: Admission;
  contests: Contests;
  connections: Connections;
  balance: Pick<Balance, 'sendsOn'>;
}

/** Takes over an upgrade: a socket, or an HTTP refusal. Never throws. */
type Upgrade = (request: IncomingMessage, duplex: Duplex, head: Buffer) => void;

/** Handlers that ignore every frame of such a socket. */
const deaf: SocketHandlers = {
  onFrame: () => undefined,
  onBinary: () => undefined,
  onClose: () => undefined,
  onError: () => undefined,
};

const json = { 'Content-Type': 'application/json' };

/** For a released daemon that came back: it already counts as released, and a redirect does not count as a refusal. */
class SentOn extends RelayError {}

/** The device that the request claims to be. */
const namedIn = (request: IncomingMessage): string => String(request.headers['x-device-id'] ?? '').slice(0, 64);

/** Converts an error to the form that the daemon receives. */
function refusalOf(error: unknown): RelayError {
  if (error instanceof RelayError) return error;
  if (error instanceof HandshakeError)
    return new RelayError(error.status === 405 ? 'METHOD_NOT_ALLOWED' : 'INVALID_REQUEST', error.message);
  return new RelayError('INTERNAL_ERROR', { cause: error });
}

export function createDoor(deps: DoorDeps): Upgrade {
  const { config, logger, metrics, sockets, admission, contests, connections, balance } = deps;
  const refusals = createTokenBucket(lineRate);
  metrics.connectionsLimit.set(config.maxConnections);
  /** Upgrades in progress, until the claim succeeds or fails. */
  let arriving = 0;

  const refuseWhenDraining = (): void => {
    if (connections.draining) throw new RelayError('SERVICE_UNAVAILABLE', { retryAfter: 1 });
  };

  /** Not all of them at the same second again. */
  const soon = () => 1 + Math.floor(Math.random() * 5);

  const refuseWhenFull = (): void => {
    // An arrival that has its socket already counts once.
    if (connections.size + arriving - connections.beginning >= config.maxConnections)
      throw new RelayError('GATEWAY_FULL', { retryAfter: soon() });
  };

  const refuseCrowd = (): void => {
    if (arriving < config.connectingLimit) return;
    throw new RelayError('SERVICE_UNAVAILABLE', { retryAfter: soon() });
  };

  const admit: (...upgrade: Parameters<Upgrade>) => Promise<void> = async (request, duplex, head) => {
    const peer = await authenticateDaemon(request, deps);
    if (balance.sendsOn(peer.deviceId)) throw new SentOn('GATEWAY_FULL', { retryAfter: soon() });
    await contests.refuse(peer);
    if (!(await admission.admit(peer.deviceId)))
      throw waitYourTurn(peer, 'This device connects too often: is its credential used on two machines?', 5);
    // The drain might have begun while it waited for its turn.
    refuseWhenDraining();
    await connections.open(request, duplex, head, peer);
  };

  /** Accepts a socket only to send the required update: it never owns its device. */
  const turnAway = async (request: IncomingMessage, duplex: Duplex, head: Buffer, { status }: UpdateRequired) => {
    metrics.refusals.inc({ code: 'UPDATE_REQUIRED' });
    const socket = await sockets.accept(request, duplex, head, deaf);
    socket.send(JSON.stringify(status));
    socket.close(closeCodes.updateRequired.code, closeCodes.updateRequired.reason);
  };

  const refuse = (request: IncomingMessage, duplex: Duplex, head: Buffer, error: unknown): void => {
    // The peer is gone: there is nothing to answer.
    if (error instanceof HandshakeError && error.status === 0) return;
    if (error instanceof UpdateRequired) {
      if (!error.asksFor426) {
        turnAway(request, duplex, head, error).catch((cause: unknown) => refuse(request, duplex, head, cause));
        return;
      }
      metrics.refusals.inc({ code: 'UPDATE_REQUIRED' });
      refuseUpgrade(duplex, 426, json, JSON.stringify(error.status));
      return;
    }
    const refusal = refusalOf(error);
    // A refusal from the catalogue carries no cause.
    if (refusal.cause !== undefined) logger.error({ err: error }, 'a daemon could not be let in');
    else if (!(refusal instanceof SentOn) && refusals.take())
      logger.info({ code: refusal.code, deviceId: namedIn(request) }, `a daemon was refused: ${refusal.message}`);
    if (!(refusal instanceof SentOn)) metrics.refusals.inc({ code: refusal.code });
    const retry: Record<string, string> =
      refusal.retryAfter === undefined ? {} : { 'Retry-After': String(refusal.retryAfter) };
    refuseUpgrade(duplex, refusal.status, { ...json, ...retry }, JSON.stringify(refusal.body));
  };

  return (request, duplex, head) => {
    guardUpgrade(duplex);
    try {
      // Before the request is looked at: a crowd that is refused must cost nothing.
      refuseWhenDraining();
      refuseWhenFull();
      refuseCrowd();
    } catch (error) {
      refuse(request, duplex, head, error);
      return;
    }
    arriving += 1;
    admit(request, duplex, head)
      .catch((error: unknown) => refuse(request, duplex, head, error))
      .finally(() => (arriving -= 1));
  };
}
