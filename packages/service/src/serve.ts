/** An HTTP server from listening to its last answer. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { boundCrowd } from './crowd.ts';
import { openFilesLimit } from './open-files.ts';

export interface Served {
  /** Where it listens. */
  readonly port: number;
  /** Takes no new connections and waits until every request is answered and every socket closed, at most `withinMs`. */
  finish(withinMs: number): Promise<void>;
  /** Cuts the remaining connections. */
  cut(): Promise<void>;
}

/**
 * The time that an idle connection is kept. Longer than an edge keeps it: it is the edge that knows whether it is about to use it.
 * A connection that is closed under a request is an error for its caller.
 */
export const idleConnectionMs = 75_000;
/** The interval between two checks for connections that are idle after their answer. */
const idleCheckMs = 50;

interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** Sockets that have not asked for anything yet. */
  readonly connectingLimit: number;
}

/** Resolves when it listens; rejects with the error of the system (EADDRINUSE, EACCES, …). */
export async function serve(server: Server, { host, port, connectingLimit }: ServeOptions): Promise<Served> {
  server.keepAliveTimeout = idleConnectionMs;
  const crowd = boundCrowd(server, { silentLimit: connectingLimit, openFiles: openFilesLimit() });
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  let closed: Promise<unknown> | undefined;
  const close = () => {
    if (closed === undefined) {
      closed = once(server, 'close');
      server.close();
    }
    return closed;
  };
  return {
    port: address.port,
    finish: async (withinMs) => {
      const done = close();
      const idle = setInterval(() => server.closeIdleConnections(), idleCheckMs);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      await Promise.race([done, late]);
      clearInterval(idle);
      clearTimeout(timer);
    },
    cut: async () => {
      const done = close();
      server.closeAllConnections();
      crowd.cut();
      await done;
    },
  };
}
