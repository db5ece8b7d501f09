/** A start waits for PostgreSQL and Redis (rules, 15.24): with growing pauses, while a door of its own answers the probes. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { BackplaneError } from '@relay/backplane';
import type { RelayConfig } from '@relay/config';
import { DatabaseError } from '@relay/database';
import type { Logger } from '@relay/telemetry';

const firstPauseMs = 250;
const longestPauseMs = 5000;

/** Whether another attempt can succeed without a change of the configuration. A certificate that is not trusted needs one. */
const isAway = (error: unknown): boolean =>
  ((error instanceof DatabaseError && error.code === 'DATABASE_UNREACHABLE') ||
    (error instanceof BackplaneError && error.code === 'UNAVAILABLE')) &&
  !/certificate/i.test(error.message);

interface Patience {
  /** Opens a dependency, again and again while it is away. Rejects with its last error when the time of the start is over. */
  wait<T>(dependency: 'database' | 'backplane', open: () => Promise<T>): Promise<T>;
  /** Closes the door of the probes: the port is free for the door of the instance. */
  end(): Promise<void>;
}

export function createPatience(
  { host, port, startupTimeoutSeconds }: Pick<RelayConfig, 'host' | 'port' | 'startupTimeoutSeconds'>,
  { version, logger }: { version: string; logger: Logger },
): Patience {
  const until = performance.now() + startupTimeoutSeconds * 1000;
  let missing = '';
  let door: Server | undefined;

  const answer = ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    const send = (status: number, body: object) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', 'Retry-After': '5' })
        .end(JSON.stringify(body));
    const path = url.split('?', 1)[0];
    if (path === '/health') send(200, { status: 'ok', version, capabilities: [] });
    else if (path === '/ready') send(503, { status: 'unavailable', checks: { [missing]: 'failed' } });
    else
      send(503, {
        error: 'This instance is starting. Try again in a few seconds.',
        code: 'SERVICE_UNAVAILABLE',
        status: 503,
      });
  };
  const openDoor = async () => {
    if (door) return;
    door = createServer(answer);
    // A port that is taken stops the start once the dependencies are here.
    door.on('error', (error) => logger.warn({ err: error }, 'no probe is answered during the start'));
    door.listen(port, host);
    await new Promise((resolve) => door?.once('listening', resolve).once('error', resolve));
  };

  return {
    wait: async (dependency, open) => {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
        try {
          return await open();
        } catch (error) {
          if (!isAway(error) || performance.now() + pauseMs > until) throw error;
          missing = dependency;
          logger.warn({ dependency, reason: (error as Error).message, pauseMs }, 'the start waits for a dependency');
        }
        await openDoor();
        await delay(pauseMs * (0.75 + Math.random() / 2));
      }
    },
    end: async () => {
      const open = door;
      door = undefined;
      if (!open?.listening) return;
      open.closeAllConnections();
      await new Promise((resolve) => open.close(resolve));
    },
  };
}
