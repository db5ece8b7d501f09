/** Both doors behind one port: requests go to the api, upgrades to whom the path says. Knows no environment. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Api } from '@relay/api';
import type { Gateway } from '@relay/gateway';
import { RelayError } from '@relay/protocol';
import { refuseUpgrade } from '@relay/socket';

/** An HTTP server that is not listening yet. */
export function createDoors(api: Pick<Api, 'handler' | 'upgrade'>, gateway: Pick<Gateway, 'upgrade'>): Server {
  const server = createServer((request, response) => api.handler(request, response));
  server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (path === '/ws/daemon') gateway.upgrade(request, duplex, head);
    else if (path === '/ws/attention') api.upgrade(request, duplex, head);
    else {
      const { status, body } = new RelayError(
        'NOT_FOUND',
        'WebSockets are at /ws/attention (apps) and /ws/daemon (daemons).',
      );
      refuseUpgrade(duplex, status, { 'Content-Type': 'application/json' }, JSON.stringify(body));
    }
  });
  return server;
}
