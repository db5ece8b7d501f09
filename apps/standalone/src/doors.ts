/** Both doors behind one port: requests go to the api, upgrades to the part that the path names. Knows no environment. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Api } from '@relay/api';
import type { Gateway } from '@relay/gateway';
import { RelayError } from '@relay/protocol';
import { refuseUpgrade } from '@relay/socket';

/** One door from two: forwards every call to both. */
export function bothDoors(api: Api, gateway: Gateway) {
  return {
    handler: (request: IncomingMessage, response: ServerResponse) => api.handler(request, response),
    upgrade: (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
      const path = (request.url ?? '').split('?', 1)[0];
      if (path === '/ws/daemon') gateway.upgrade(request, duplex, head);
      else if (path === '/ws/attention' || path?.startsWith('/acp/')) api.upgrade(request, duplex, head);
      else {
        const { status, body } = new RelayError(
          'NOT_FOUND',
          'WebSockets are at /ws/attention (apps), /acp/<deviceId> (ACP clients) and /ws/daemon (daemons).',
        );
        refuseUpgrade(duplex, status, { 'Content-Type': 'application/json' }, JSON.stringify(body));
      }
    },
    drain: (overMs: number) => Promise.all([api.drain(overMs), gateway.drain(overMs)]),
    close: async () => {
      await api.close();
      await gateway.close();
    },
  };
}
