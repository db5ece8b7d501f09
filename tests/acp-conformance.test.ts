/** Promise: the door of ACP clients keeps the duties of the transport, checked from outside; and the checks notice an endpoint that does not. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type TestRelay, registerDevice, startRelay } from '@relay/testing';
import { WebSocketServer } from 'ws';
import { acpToken } from './acp-scene.ts';

const program = fileURLToPath(new URL('../packages/acp/conformance/websocket.mjs', import.meta.url));

const run = (...args: string[]): Promise<{ code: number; out: string }> =>
  new Promise((resolve) =>
    execFile(process.execPath, [program, ...args], (error, out) =>
      resolve({ code: error ? Number(error.code) : 0, out }),
    ),
  );

describe('the conformance of an ACP endpoint', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  it('is that of ours', async () => {
    const { deviceId } = await registerDevice(relay, { user: 'alice' });
    const { token } = await acpToken(relay, deviceId);
    const { code, out } = await run('--url', `${relay.url.replace('http', 'ws')}/acp/${deviceId}`, '--token', token);
    expect({ code, failures: out.split('\n').filter((line) => line.startsWith('FAIL')) }).toEqual({
      code: 0,
      failures: [],
    });
    expect(out.split('\n').filter((line) => line.startsWith('ok'))).toHaveLength(11);
  });

  it('is not that of one which says yes to everything', async () => {
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
      const { code, out } = await run('--url', `ws://127.0.0.1:${port}/acp`, '--token', 'any');
      expect(code).toBe(1);
      // Two checks wait for an answer in vain.
      expect(out.split('\n').filter((line) => line.startsWith('FAIL')).length).toBeGreaterThan(7);
    } finally {
      for (const client of server.clients) client.terminate();
      server.close();
    }
  });
});
