/**
 * B7: a network that reaches a relay with https only through a proxy with a password. Only the proxy can resolve the
 * relay's name.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { RelayDouble } from '@relay/daemon-kit/conformance';
import { type TestAuthority, makeAuthority } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import { readConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { runProgram, startProgram } from './program.ts';
import { registered, token } from './registered.ts';

const home = house();
afterEach(() => home.clear());

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
const pipe = (near: Socket, port: number, first = '') => {
  const far = connect(port, '127.0.0.1', () => {
    near.write(first);
    far.pipe(near).pipe(far);
  });
  far.on('error', () => near.destroy());
  near.on('error', () => far.destroy());
  near.on('close', () => far.destroy());
};

describeWith('openssl', 'B7: https through a proxy with a password', () => {
  let authority: TestAuthority;
  let relay: RelayDouble;
  let url: string;
  let tunnels: string[];
  let env: Record<string, string>;

  beforeAll(() => {
    authority = makeAuthority('relay.test');
  });
  afterAll(() => authority.remove());
  beforeEach(async () => {
    relay = await home.relay();
    const inner = Number(new URL(relay.url).port);
    const { certificate, key } = authority.server;
    const front = createTlsServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (socket) =>
      pipe(socket, inner),
    );
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    url = `https://relay.test:${portOf(front)}`;
    tunnels = [];
    const proxy = createServer((_request, response) => response.writeHead(400).end());
    proxy.on('connect', (request, near: Socket) => {
      const sent = Buffer.from((request.headers['proxy-authorization'] ?? '').slice(6), 'base64').toString();
      if (sent !== 'ada:s@fe') return void near.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      tunnels.push(request.url ?? '');
      pipe(near, portOf(front), 'HTTP/1.1 200 OK\r\n\r\n');
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const sockets = new Set<Socket>();
    for (const server of [front, proxy]) server.on('connection', (socket: Socket) => void sockets.add(socket));
    home.later(async () => {
      for (const socket of sockets) socket.destroy();
      for (const server of [front, proxy]) await new Promise((resolve) => server.close(resolve));
    });
    const via = `http://ada:s%40fe@127.0.0.1:${portOf(proxy)}`;
    env = { HTTPS_PROXY: via, HTTP_PROXY: '', NO_PROXY: '', NODE_EXTRA_CA_CERTS: authority.file };
  });

  it('B7: registers a machine (https), and connects it (wss)', async () => {
    const code = {
      device_code: 'dc',
      user_code: 'BCDF-GHJK',
      verification_uri_complete: `${url}/device?user_code=BCDF-GHJK`,
      expires_in: 900,
      interval: 0,
    };
    relay.answers.set('POST /api/devices/code', [{ status: 200, body: code }]);
    relay.answers.set('POST /api/devices/token', [{ status: 200, body: { device_id: 'd1', refresh_token: token } }]);
    const folder = home.folder();
    const args = ['register', '--server', url, '--home', folder, '--agent-type', 'claude_code'];
    const { code: exitCode, err } = await runProgram(args, env);
    expect([exitCode, err]).toEqual([0, expect.any(String)]);
    const asked = tunnels.splice(0);
    expect(asked.length).toBeGreaterThanOrEqual(2);

    const up = startProgram(['run', '--home', folder], env);
    home.later(async () => {
      up.child.kill('SIGKILL');
      await up.exit;
    });
    await (await relay.connection()).frame('status');
    expect(new Set([...asked, ...tunnels])).toEqual(new Set([url.slice('https://'.length)]));
  });

  it('B7: names the proxy that refuses the password', async () => {
    const folder = registered(home, relay);
    const place = homeOf({ home: folder, env: {} });
    writeConfig(place, { ...readConfig(place)!, server: url });
    const { out, err } = await runProgram(['doctor', '--home', folder], {
      ...env,
      HTTPS_PROXY: env.HTTPS_PROXY!.replace('ada', 'eve'),
    });
    expect(out + err).toMatch(/the proxy 127\.0\.0\.1:\d+ refuses the connection \(407/);
    expect(tunnels).toEqual([]);
  });
});
