/** B7: the only route out of this network is a proxy with a password. */
import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, expect, it } from '@jest/globals';
import { nodeSocket } from '../src/node-socket.ts';

const proxy = createServer();
afterEach(() => {
  delete process.env.HTTP_PROXY;
  proxy.close();
});

it('B7: the socket of Node uses the proxy of HTTP_PROXY', async () => {
  const asked = once(proxy, 'connect') as Promise<[IncomingMessage, Duplex]>;
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  process.env.HTTP_PROXY = `http://ada:s%40fe@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const ended = new Promise<Error>((onEnd) => {
    const events = { onOpen: () => undefined, onText: () => undefined, onEnd };
    nodeSocket({ url: 'ws://relay.test:4000/ws/attention', token: 't', ticket: () => Promise.resolve('') }, events);
  });
  const [{ url, headers }, tunnel] = await asked;
  expect(url).toBe('relay.test:4000');
  expect(headers['proxy-authorization']).toBe(`Basic ${Buffer.from('ada:s@fe').toString('base64')}`);
  tunnel.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  expect((await ended).message).toBe('The relay cannot be reached.');
});
