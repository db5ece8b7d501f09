/**
 * Promise: the ACP endpoint fulfils the duties of the transport, checked from outside, and the checks fail for an
 * endpoint that does not.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type TestRelay, registerDevice, startRelay } from '@relay/testing';
import { WebSocketServer } from 'ws';
import { acpToken, checkEndpoint } from './acp-scene.ts';

describe('the ACP conformance checks', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  it('pass for our endpoint', async () => {
    const { deviceId } = await registerDevice(relay, { user: 'alice' });
    const { token } = await acpToken(relay, deviceId);
    const { code, passed, failures } = await checkEndpoint(`${relay.url}/acp/${deviceId}`, token);
    expect({ code, failures }).toEqual({ code: 0, failures: [] });
    expect(passed).toHaveLength(11);
  });

  it('fail for an endpoint that accepts everything', async () => {
    const server = new WebSocketServer({ port: 0 });
    await once(server, 'listening');
    server.on('connection', (socket) =>
      socket.on('message', (data: Buffer) => {
        const id = /"id":("?[^,"]+"?)/.exec(data.toString())?.[1] ?? 'null';
        socket.send(
          `{"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`,
        );
      }),
    );
    try {
      const { port } = server.address() as AddressInfo;
      const { code, failures } = await checkEndpoint(`http://127.0.0.1:${port}/acp`, 'any');
      expect(code).toBe(1);
      // Two checks wait for a reply that never comes.
      expect(failures.length).toBeGreaterThan(7);
    } finally {
      for (const client of server.clients) client.terminate();
      server.close();
    }
  });
});
