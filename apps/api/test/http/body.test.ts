/** The api cuts a body past its limit (K7), and a body that stalls (R4). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { type Server, createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { RelayError, limits } from '@relay/protocol';
import { type TestRelay, startRelay } from '@relay/testing';
import { bodyReader } from '../../src/http/body.ts';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function dial(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  sockets.push(socket);
  let text = '';
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { socket, closed: new Promise((resolve) => socket.once('close', resolve)), heard: () => text };
}

/** Writes chunks until the other side closes the connection. */
async function pour(socket: Socket, chunk: Buffer): Promise<void> {
  const framed = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
  while (!socket.closed && !socket.destroyed) {
    if (!socket.write(framed))
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    else await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('K7: an endless body', () => {
  let relay: TestRelay;
  const head = (more: string, person = 'alice') =>
    `POST /api/sessions HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${relay.token(person)}\r\nContent-Type: application/json\r\n${more}\r\n`;

  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  it.each([
    ['uncompressed', '', Buffer.alloc(64 * 1024, 0x20)],
    ['compressed', 'Content-Encoding: gzip\r\n', gzipSync(Buffer.alloc(16 * 1024 * 1024, 0x20))],
  ])('K7: gets a 413 and is cut past the limit, %s', async (_how, more, chunk) => {
    const { socket, closed, heard } = dial(relay.apis[0]!.url);
    socket.write(head(`${more}Transfer-Encoding: chunked\r\n`));
    await Promise.all([pour(socket, chunk), closed]);
    expect(heard()).toMatch(/^HTTP\/1\.1 413 [^]*PAYLOAD_TOO_LARGE/);
  });

  it('K7: with a Content-Length gets its answer before the api reads any of it', async () => {
    const { socket, closed, heard } = dial(relay.apis[0]!.url);
    socket.write(head(`Content-Length: ${2 ** 40}\r\n`));
    await closed;
    expect(heard()).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('S3: is also cut on a request that the api refuses unread', async () => {
    const { socket, closed, heard } = dial(relay.apis[0]!.url);
    socket.write('POST /api/sessions HTTP/1.1\r\nHost: relay\r\nTransfer-Encoding: chunked\r\n\r\n');
    await Promise.all([pour(socket, Buffer.alloc(64 * 1024, 0x20)), closed]);
    expect(heard()).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('K7: keeps the connection for the next request if it completes soon', async () => {
    const { socket, heard } = dial(relay.apis[0]!.url);
    // Just over the limit of a route without images: the rest of a refused body has only a second to arrive.
    const body = ' '.repeat(limits.requestBodyBytes + 1);
    // A user with a full burst.
    const start = head(`Content-Length: ${body.length}\r\n`, 'bob').replace('/api/sessions', '/api/watched-sessions');
    socket.write(`${start}${body}`);
    socket.write('GET /health HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    expect(heard()).toMatch(/413 [^]*HTTP\/1\.1 200 /);
  });
});

describe('R4: a body that stalls', () => {
  let server: Server;
  afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())));

  it('R4: times out with an answer, and the connection closes', async () => {
    const read = bodyReader(1024, 50);
    server = createServer((request, response) => {
      read(request as Request, response as Response, 'alice').then(
        () => response.end('read'),
        (error: unknown) => response.writeHead(error instanceof RelayError ? error.status : 500).end('refused'),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { socket, closed, heard } = dial(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    socket.write('POST / HTTP/1.1\r\nHost: relay\r\nContent-Length: 10\r\n\r\n12345');
    await closed;
    expect(heard()).toMatch(/^HTTP\/1\.1 408 /);
  });
});
