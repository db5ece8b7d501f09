import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { freePort, twoFreePorts } from '../src/programs.ts';

it('a free port is outside the range that the system assigns', async () => {
  // Such as ports of connections, and of listeners on port 0.
  const given = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      server.close();
      return port;
    }),
  );
  const free = await Promise.all(Array.from({ length: 50 }, (_, n) => (n % 2 ? freePort() : twoFreePorts())));
  expect(Math.max(...free) + 1).toBeLessThan(Math.min(...given));
});
