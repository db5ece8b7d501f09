/** A raw upgrade request: sends exactly the test's request, and reads the whole answer. */
import { request } from 'node:http';
import type { TestRelay } from '@relay/testing';

export interface Answered {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The parsed body; undefined for a 101. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  body: any;
}

const handshake = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Knocks on `/ws/daemon`, or another path, and leaves at once if it is opened. A header that is undefined is not sent. */
export function knock(
  relay: TestRelay,
  headers: Record<string, string | string[] | undefined>,
  { gateway = 0, method = 'GET', path = '/ws/daemon' } = {},
): Promise<Answered> {
  const all = Object.entries({ ...handshake, ...headers }).filter(([, value]) => value !== undefined);
  return new Promise((resolve, reject) => {
    const sent = request(`${relay.gateways[gateway]!.url}${path}`, {
      method,
      agent: false,
      headers: Object.fromEntries(all),
    });
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: undefined });
    });
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
