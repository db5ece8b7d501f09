/** B7: a network whose only route out is a proxy with a password. */
import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, expect, it } from '@jest/globals';
import { fetchWithin } from '../src/http.ts';

const proxy = createServer();
afterEach(() => {
  delete process.env.HTTP_PROXY;
  proxy.close();
});

it('B7: a request uses the proxy of HTTP_PROXY', async () => {
  const asked = once(proxy, 'connect') as Promise<[IncomingMessage, Duplex]>;
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  process.env.HTTP_PROXY = `http://ada:s%40fe@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const answer = fetchWithin()('http://relay.test:4000/health');
  const [{ url, headers }, tunnel] = await asked;
  expect(url).toBe('relay.test:4000');
  expect(headers['proxy-authorization']).toBe(`Basic ${Buffer.from('ada:s@fe').toString('base64')}`);
  tunnel.write('HTTP/1.1 200 OK\r\n\r\n');
  await once(tunnel, 'data');
  tunnel.end('HTTP/1.1 204 No Content\r\n\r\n');
  expect((await answer).status).toBe(204);
});
