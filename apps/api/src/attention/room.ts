/**
 * A WebSocket door of the api: upgrade → guest → heartbeat, and everything that closes a connection from outside. Bounds, drain
 * and refusals are the same for every such door; the guest owns the frames.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Control, RelayError, closeCodes } from '@relay/protocol';
import {
  type Heartbeat,
  HandshakeError,
  type SocketLimits,
  createSocketServer,
  Heartbeats,
  doorHeartbeat,
  guardUpgrade,
  refuseUpgrade,
  spreadOver,
} from '@relay/socket';
import type { ApiDeps } from '../deps.ts';
import { toRelayError } from '../http/errors.ts';
import type { LateRefusals } from '../http/late-refusals.ts';
import { type Guest, Pulse } from './guest.ts';

interface Arrival<G extends Guest> {
  guest: G;
  /** The subprotocol to answer with, if the client offered any. */
  protocol: string | undefined;
  /** Sent with the 101. */
  headers?: Readonly<Record<string, string>>;
}

interface RoomOptions<G extends Guest> {
  /** The middle of the names of its metrics. */
  name: 'app' | 'acp';
  /** The display name: "app". */
  title: string;
  limits: Pick<SocketLimits, 'maxFrameBytes' | 'maxUnsentBytes'>;
  /** Lets a client in. @throws RelayError, AuthError: the refusal */
  admit(request: IncomingMessage): Promise<Arrival<G>>;
}

export interface Room<G extends Guest> {
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void;
  /** Closes connections whose credential has been revoked, for revocations that this instance missed. */
  recheck(): void;
  control(control: Control): void;
  /** The live ones. */
  readonly guests: ReadonlySet<G>;
  /** The user of every connection, including connections being accepted. */
  users(): Iterable<string>;
  drain(overMs: number): Promise<void>;
  close(): Promise<void>;
}

export function createRoom<G extends Guest>(deps: ApiDeps, late: LateRefusals, options: RoomOptions<G>): Room<G> {
  const { config, logger } = deps;
  const { name, title } = options;
  const heartbeats = new Heartbeats(doorHeartbeat(config.pingIntervalMs, config.silenceTimeoutMs));
  const guests = new Set<G>();
  /** Keyed by user; includes connections being accepted. */
  const people = new Map<string, Set<G>>();
  const leaving = new Set<Promise<void>>();
  const gauge = deps.metrics.gauge(`relay_${name}_connections`, `Connections of ${title}s to this instance`);
  const closes = deps.metrics.counter(`relay_${name}_closes_total`, `Connections of ${title}s ended, by close code`, [
    'code',
  ]);
  const refusals = deps.metrics.counter(`relay_${name}_refusals_total`, `Upgrades of ${title}s refused, by code`, [
    'code',
  ]);
  const sockets = createSocketServer({
    limits: { ...options.limits, stallMs: config.slowReaderStallMs },
    closes: { tooSlow: closeCodes.overloaded, internal: closeCodes.internal },
  });
  let draining = false;

  /** @throws RelayError TOO_MANY_CONNECTIONS */
  const enter = (guest: G) => {
    const { userId } = guest.principal;
    const own = people.get(userId) ?? new Set();
    if (own.size >= config.socketsPerUser)
      throw new RelayError(
        'TOO_MANY_CONNECTIONS',
        `${config.socketsPerUser} of your ${title}s are connected here, which is the limit. Close some.`,
        { retryAfter: 30 },
      );
    people.set(userId, own.add(guest));
  };

  const leave = (guest: G) => {
    guests.delete(guest);
    const { userId } = guest.principal;
    const own = people.get(userId);
    if (own?.delete(guest) && own.size === 0) people.delete(userId);
    gauge.set(guests.size);
    const left = guest
      .ended()
      .catch((error: unknown) => logger.warn({ err: error }, 'a subscription could not be ended'))
      .finally(() => leaving.delete(left));
    leaving.add(left);
  };

  const open = async (request: IncomingMessage, duplex: Duplex, head: Buffer): Promise<void> => {
    if (draining) throw new RelayError('SERVICE_UNAVAILABLE', { retryAfter: 1 });
    const { guest, protocol, headers } = await options.admit(request);
    try {
      enter(guest);
    } catch (error) {
      await late.pause(`user:${guest.principal.userId}`);
      throw error;
    }
    let heartbeat: Heartbeat | undefined;
    try {
      await guest.subscribe();
      const socket = await sockets.accept(
        request,
        duplex,
        head,
        {
          onFrame: (text) => guest.frame(text),
          onBinary: () => guest.binary(),
          onClose: ({ code }) => {
            heartbeat?.stop();
            closes.inc({ code: String(code) });
            leave(guest);
          },
          onError: (error) => logger.error({ err: error }, `a frame of an ${title} could not be handled`),
        },
        { ...(protocol === undefined ? {} : { protocol }), ...(headers ? { headers } : {}) },
      );
      guests.add(guest);
      gauge.set(guests.size);
      // Ordinary clients know three frame types: the ping is the WebSocket's own.
      const started = guest.start(socket);
      heartbeat = heartbeats.start(new Pulse(guest, socket));
      // A revocation or the drain might have happened while this connection was being accepted and was not in the list.
      if (deps.jwtVerifier.isRevoked(guest.principal)) guest.close('credential');
      else if (draining) guest.close('goingAway');
      await started;
    } catch (error) {
      if (!guests.has(guest)) leave(guest);
      throw error;
    }
  };

  return {
    guests,
    users: () => people.keys(),
    upgrade: (request, duplex, head) => {
      guardUpgrade(duplex);
      open(request, duplex, head).catch((error: unknown) => {
        if (error instanceof HandshakeError && error.status === 0) return;
        const relayError = toRelayError(error);
        // An edge sends apps for a few seconds to an instance that leaves.
        if (relayError.status >= 500 && !draining) logger.error({ err: error }, `an ${title} could not be let in`);
        refusals.inc({ code: relayError.code });
        const retry: Record<string, string> =
          relayError.retryAfter === undefined ? {} : { 'Retry-After': String(relayError.retryAfter) };
        refuseUpgrade(
          duplex,
          relayError.status,
          { 'Content-Type': 'application/json', ...relayError.headers, ...retry },
          JSON.stringify(relayError.body),
        );
      });
    },
    control: (control) => {
      if (control.kind !== 'user_revoked') return;
      for (const guest of guests) {
        const { userId, sessionId, chainId, clientId } = guest.principal;
        const person = userId === control.subject && (control.client === undefined || control.client === clientId);
        const ended = control.login !== undefined && [sessionId, chainId].includes(control.login);
        if (person || ended) guest.close('credential');
      }
    },
    recheck: () => {
      for (const guest of guests) if (deps.jwtVerifier.isRevoked(guest.principal)) guest.close('credential');
    },
    drain: async (overMs) => {
      draining = true;
      await spreadOver([...guests], overMs, (guest) => guest.close('goingAway'));
    },
    close: async () => {
      draining = true;
      for (const guest of guests) guest.close('goingAway');
      while (guests.size + leaving.size > 0)
        await Promise.allSettled([...leaving, new Promise((resolve) => setTimeout(resolve, 10))]);
    },
  };
}
