/** Any server can listen at the address of the relay: each kind leads to a clear error, and no call waits forever. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { createApi } from '../src/api.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

async function peer(behave: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  home.later(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
/** Acts after the first request. */
const asked = (then: (socket: Socket) => void) => (socket: Socket) => void socket.once('data', () => then(socket));
/** Peers that hang up cause an immediate error; only the others need the timeout. */
const late = /no answer within 0.2 s/;
const patienceOf = (why: RegExp) => (why === late ? 200 : 30_000);
const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

const peers: [string, (socket: Socket) => void, RegExp][] = [
  ['closes at once', (socket) => socket.destroy(), /ECONNRESET|socket hang up/],
  ['says goodbye at once', (socket) => socket.end(), /ECONNRESET|EPIPE|socket hang up/],
  ['closes when it is asked', asked((socket) => socket.destroy()), /ECONNRESET|socket hang up/],
  [
    'closes in the middle of its answer',
    asked((socket) => socket.end(`${head}Content-Length: 100\r\n\r\n{"device`)),
    /ECONNRESET|aborted/,
  ],
  ['never answers', () => undefined, late],
  [
    'stalls in the middle of its answer',
    asked((socket) => void socket.write(`${head}Content-Length: 100\r\n\r\n{"device`)),
    late,
  ],
  ['speaks something else', (socket) => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'), /HPE_|Parse Error/],
  [
    'answers without an end',
    asked((socket) => {
      const more = () => {
        while (socket.writable && socket.write('x'.repeat(16_384)));
        socket.once('drain', more);
      };
      socket.write(`${head}\r\n`);
      more();
    }),
    /exceeds 65536 bytes/,
  ],
];

describe('a server that', () => {
  it.each(peers)('%s cannot be reached, with a reason', async (_name, behave, why) => {
    const api = createApi(await peer(behave), { timeoutMs: patienceOf(why) });
    await expect(api.deleteDevice('d1', 'rly_drt_x')).rejects.toMatchObject({
      code: 'UNREACHABLE',
      exitCode: 69,
      message: expect.stringMatching(why),
    });
  });

  it.each(peers)('%s costs a registration one poll, and the next poll can succeed', async (_name, behave, why) => {
    const api = createApi(await peer(behave), { timeoutMs: patienceOf(why) });
    expect(await api.pollToken('dc')).toMatchObject({ kind: 'later', why: expect.stringMatching(why) });
  });
});
