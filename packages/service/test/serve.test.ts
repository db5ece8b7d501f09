import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type ServerResponse, createServer, get } from 'node:http';
import { type Socket, connect } from 'node:net';
import { idleConnectionMs, serve } from '../src/index.ts';

const patientMs = 20_000;

describe('a served server', () => {
  const open: Socket[] = [];
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  it('answers pending requests before it finishes, and accepts nothing new', async () => {
    let asked: (response: ServerResponse) => void = () => undefined;
    const question = new Promise<ServerResponse>((resolve) => (asked = resolve));
    const served = await serve(
      createServer((_request, response) => asked(response)),
      { host: '127.0.0.1', port: 0, connectingLimit: 500 },
    );
    const answer = new Promise<string>((resolve, reject) => {
      get({ port: served.port, host: '127.0.0.1' }, (response) => {
        response.setEncoding('utf8');
        response.once('data', resolve);
      }).once('error', reject);
    });
    const response = await question;
    const finished = served.finish(patientMs);
    const late = connect(served.port, '127.0.0.1');
    open.push(late);
    await expect(once(late, 'connect')).rejects.toThrow('ECONNREFUSED');
    response.end('in time');
    expect(await answer).toBe('in time');
    await finished;
    await served.cut();
  });

  it('keeps an idle connection for longer than an edge does', async () => {
    const server = createServer();
    const served = await serve(server, { host: '127.0.0.1', port: 0, connectingLimit: 500 });
    expect(server.keepAliveTimeout).toBe(idleConnectionMs);
    expect(idleConnectionMs).toBeGreaterThan(60_000);
    await served.cut();
  });

  it('does not wait for an idle connection', async () => {
    const served = await serve(
      createServer((_request, response) => response.end('hello')),
      { host: '127.0.0.1', port: 0, connectingLimit: 500 },
    );
    const idle = connect(served.port, '127.0.0.1');
    open.push(idle);
    idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const gone = once(idle, 'close');
    await served.finish(patientMs);
    await gone;
    await served.cut();
  });

  it('cuts connections that never close', async () => {
    let asked: () => void = () => undefined;
    const question = new Promise<void>((resolve) => (asked = resolve));
    const served = await serve(
      createServer(() => asked()),
      { host: '127.0.0.1', port: 0, connectingLimit: 500 },
    );
    const hanging = connect(served.port, '127.0.0.1');
    open.push(hanging);
    hanging.on('error', () => undefined);
    await once(hanging, 'connect');
    hanging.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    // A cut before the server has read the request would be a reset, which is an error at the client.
    await question;
    const gone = once(hanging, 'close');
    await served.finish(10);
    await served.cut();
    await gone;
  });

  it('names a port in use', async () => {
    const first = await serve(createServer(), { host: '127.0.0.1', port: 0, connectingLimit: 500 });
    await expect(
      serve(createServer(), { host: '127.0.0.1', port: first.port, connectingLimit: 500 }),
    ).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await first.cut();
  });
});
