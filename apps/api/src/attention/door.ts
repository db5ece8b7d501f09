/** The apps' WebSocket door: its path, its credential, and its frames. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Control, RelayError, limits } from '@relay/protocol';
import { publishReload } from '@relay/attention';
import { promiseBuckets } from '@relay/telemetry';
import type { ApiDeps } from '../deps.ts';
import { verifyUserToken } from '../http/authenticate.ts';
import type { LateRefusals } from '../http/late-refusals.ts';
import { AppConnection } from './connection.ts';
import { createDeliveries } from './delivery.ts';
import { keepFocus } from './focus.ts';
import { createRoom } from './room.ts';
import { authenticateApp } from './upgrade.ts';

interface AttentionDoor {
  upgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void;
  /** Closes connections whose credential has been revoked, for revocations that this instance missed. */
  recheck(): void;
  control(control: Control): void;
  readonly size: number;
  drain(overMs: number): Promise<void>;
  close(): Promise<void>;
}

const path = '/ws/attention';

export function createAttentionDoor(deps: ApiDeps, late: LateRefusals): AttentionDoor {
  const { config, logger, backplane } = deps;
  const prepare = createDeliveries();
  const frameRate = { ratePerSecond: config.appFramesPerSecond, burst: 60 * config.appFramesPerSecond };
  const resumes = deps.metrics.counter(
    'relay_app_resumes_total',
    'Apps that connected: fresh, with everything they missed (full), or asked to reload (none)',
    ['outcome'],
  );
  const shown = deps.metrics.histogram(
    'relay_app_frame_seconds',
    'A frame that is kept, from its publication until it was written to the socket of an app',
    [],
    promiseBuckets,
  );
  const room = createRoom<AppConnection>(deps, late, {
    name: 'app',
    title: 'app',
    limits: {
      maxFrameBytes: limits.attentionFrameBytes,
      // A client that comes back is sent all of its history at once, and needs time to take it.
      maxUnsentBytes: Math.max(1024 * 1024, config.resumeHistoryBytes),
    },
    admit: async (request) => {
      if ((request.url ?? '').split('?', 1)[0] !== path)
        throw new RelayError('NOT_FOUND', `WebSockets are at ${path}, and for ACP clients at /acp/<deviceId>.`);
      const { protocol, ...peer } = await authenticateApp(request, deps);
      const guest = new AppConnection({
        ...{ ...peer, prepare, backplane, frameRate, expiryToleranceMs: config.expiryToleranceMs },
        showing: (sessionId) => {
          keepFocus(backplane, peer.principal.userId, sessionId).catch((error: unknown) =>
            logger.debug({ err: error }, 'the session that an app shows was not kept'),
          );
        },
        delivered: (appendedAtMs) => shown.observe(Math.max(0, Date.now() - appendedAtMs) / 1000),
        resumed: (outcome) => resumes.inc({ outcome }),
        verify: (token) => verifyUserToken(token, deps.jwtVerifier),
      });
      return { guest, protocol };
    },
  });
  return {
    ...room,
    control: (control) => {
      if (control.kind === 'database_set_back')
        for (const user of room.users())
          publishReload(backplane, user, control.cause).catch((error: unknown) =>
            logger.warn({ err: error }, 'apps could not be asked to reload'),
          );
      room.control(control);
    },
    get size() {
      return room.guests.size;
    },
  };
}
