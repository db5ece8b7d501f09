/**
 * B7: the only route out of this network is a proxy with a password. Only the proxy can resolve the name of the relay.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createApi, createDaemon, parseScript, scriptedAgent } from '@relay/daemon-kit';
import { exchange } from '@relay/machine';
import { startRelayDouble } from '@relay/daemon-kit/conformance';
import { proxyAgentFor } from '@relay/protocol/proxy';

let folder: string;
let closing: (() => Promise<unknown>)[] = [];
let tunnels: string[] = [];
let url: string;
let via: string;
let relay: Awaited<ReturnType<typeof startRelayDouble>>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'relay-proxy-'));
  for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) delete process.env[name];
  relay = await startRelayDouble({ waitMs: 30_000 });
  const { port } = new URL(relay.url);
  url = `http://relay.test:${port}`;
  tunnels = [];
  const proxy = createServer((_request, response) => response.writeHead(400).end());
  proxy.on('connect', (request, near) => {
    near.on('error', () => undefined);
    const sent = Buffer.from((request.headers['proxy-authorization'] ?? '').slice(6), 'base64').toString();
    if (sent !== 'ada:s@fe') return void near.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    tunnels.push(request.url ?? '');
    const far = connect(Number(port), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 OK\r\n\r\n');
      far.pipe(near).pipe(far);
    });
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  via = `http://ada:s%40fe@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  closing = [() => relay.close(), () => new Promise((resolve) => proxy.close(resolve))];
});
afterEach(async () => {
  for (const close of closing) await close();
  rmSync(folder, { recursive: true });
});

const asked = { method: 'GET', headers: {}, timeoutMs: 10_000 };

describe('B7: through a proxy', () => {
  it.each(['HTTP_PROXY', 'http_proxy', 'ALL_PROXY'])('a daemon registers and connects through %s', async (name) => {
    process.env[name] = via;
    // The double refuses REST itself.
    await expect(createApi(url).pollToken('x')).rejects.toThrow('answered 404');
    const daemon = createDaemon({
      server: url,
      deviceId: 'device-1',
      refreshToken: 'rly_drt_secret',
      agentType: 'scripted',
      daemonVersion: '1.0.0',
      agent: scriptedAgent(parseScript({ turns: [{ steps: [{ type: 'complete', text: 'done' }] }] })),
      storeDir: folder,
    });
    closing.unshift(() => daemon.stop());
    daemon.start();
    await (await relay.connection()).frame('status');
    expect(tunnels).toEqual([url.slice(7), url.slice(7)]);
  });

  it('names the proxy when it refuses the password or is down', async () => {
    process.env.HTTP_PROXY = via.replace('ada', 'eve');
    await expect(exchange(url, asked)).rejects.toThrow(/the proxy 127\.0\.0\.1:\d+ refuses the connection \(407/);
    process.env.HTTP_PROXY = '127.0.0.1:9';
    await expect(exchange(url, asked)).rejects.toThrow('the proxy 127.0.0.1:9 cannot be reached');
    process.env.HTTP_PROXY = 'socks5://127.0.0.1:9';
    await expect(exchange(url, asked)).rejects.toThrow('HTTP_PROXY must be the address');
  });

  it.each([
    ['relay.test', true],
    ['.test', true],
    ['*.test', true],
    ['*', true],
    ['other.test, relay.test:4000', true],
    ['relay.test:4001', false],
    ['lay.test', false],
  ])('NO_PROXY=%s reaches http://relay.test:4000 directly: %s', (noProxy, isDirect) => {
    for (const name of ['NO_PROXY', 'no_proxy']) {
      const agent = proxyAgentFor('ws://relay.test:4000/ws/daemon', { HTTP_PROXY: via, [name]: noProxy });
      expect(agent === undefined).toBe(isDirect);
    }
  });

  it('reads the variable of the scheme, and bypasses the proxy for localhost and the networks of NO_PROXY', () => {
    const env = { HTTPS_PROXY: via, NO_PROXY: '10.0.0.0/8,fd00::/8' };
    const isProxied = (address: string) => proxyAgentFor(address, env) !== undefined;
    expect(['https://a.test', 'wss://a.test', 'https://11.1.2.3'].map(isProxied)).toEqual([true, true, true]);
    expect(['http://a.test', 'https://10.1.2.3', 'https://[fd00::1]'].map(isProxied)).toEqual([false, false, false]);
    expect(['https://localhost:1', 'https://127.0.0.1', 'https://[::1]'].map(isProxied)).toEqual([false, false, false]);
    expect(proxyAgentFor('https://a.test', { ALL_PROXY: 'socks5://a.test' })).toBeUndefined();
  });
});
