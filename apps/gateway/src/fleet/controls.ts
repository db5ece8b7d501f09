/** The work of a gateway when a control message arrives. */
import { decodeControl } from '@relay/protocol';
import type { Logger } from '@relay/telemetry';
import type { Connections } from '../door/connections.ts';
import type { Contests } from '../door/contests.ts';
import type { GatewayDeps } from '../door/deps.ts';
import type { Hub } from '../connection/hub.ts';

interface ControlsDeps extends Pick<GatewayDeps, 'readiness'> {
  /** The name of this gateway in the backplane. */
  instance: string;
  hub: Hub;
  connections: Pick<Connections, 'drain'>;
  contests: Pick<Contests, 'learn'>;
  logger: Logger;
  /** Drops the cached credential of a device because it is invalid. */
  forget: (deviceId: string) => void;
  isClosing: () => boolean;
}

/** All daemons of an instance connect again within this time. */
const reconnectWithinMs = 60_000;

/** Handles the text of a control message. Ignores kinds that this release does not know. */
export function createControls(deps: ControlsDeps): (body: string) => void {
  const { hub, connections, contests, logger, forget } = deps;

  /**
   * Tasks, reports and fences might differ from the memory of this instance: every daemon reconnects, spread over a
   * minute.
   */
  const reconnectAll = async (): Promise<void> => {
    const all = hub.all();
    const pauseMs = Math.min(20, reconnectWithinMs / all.length);
    // At once, so that no session is published from memory that the database has lost.
    for (const { sessions } of all) sessions.forgetRecords();
    for (const connection of all) {
      if (deps.isClosing()) return;
      connection.close('goingAway');
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };

  return (body) => {
    const control = decodeControl(body);
    switch (control?.kind) {
      case 'database_set_back':
        void reconnectAll();
        return;
      case 'device_contested':
        contests.learn(control.deviceId, control);
        return;
      case 'gateway_drained': {
        const { instance, overMs } = control;
        if (instance !== deps.instance) return;
        logger.info(
          { daemons: hub.size, overMs },
          'an operator drains this gateway: it takes no daemons until it is restarted',
        );
        // The edge would keep choosing this gateway, which has the fewest sockets, and the attempts of a daemon are limited.
        deps.readiness.drain();
        void connections.drain(overMs);
        return;
      }
      case 'device_closed':
        forget(control.deviceId);
        hub.get(control.deviceId)?.close(control.why === 'deleted' ? 'deviceDeleted' : 'credential');
    }
  };
}
