import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { type FaultProxy, startFaultProxy } from '../src/index.ts';

describe('a faulty wire', () => {
  let server: Server;
  let proxy: FaultProxy;
  let far: Promise<Socket>;
  const opened: Socket[] = [];

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    far = once(server, 'connection').then(([socket]) => {
      opened.push(socket as Socket);
      return socket as Socket;
    });
    await once(server, 'listening');
    proxy = await startFaultProxy({ port: (server.address() as AddressInfo).port });
  });
  afterEach(async () => {
    await proxy.close();
    for (const socket of opened.splice(0)) socket.destroy();
    server.close();
  });

  const dial = async () => {
    const socket = connect(proxy.port, '127.0.0.1');
    socket.on('error', () => undefined);
    opened.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));
  /** Reads until this much has arrived, with one listener: a socket drops the chunks that it has between two. */
  const receive = (socket: Socket, length: number) =>
    new Promise<Buffer>((resolve) => {
      let got = Buffer.alloc(0);
      const add = (chunk: Buffer) => {
        got = Buffer.concat([got, chunk]);
        if (got.length < length) return;
        socket.off('data', add);
        resolve(got);
      };
      socket.on('data', add);
    });

  it('carries megabytes both ways, unchanged and in order', async () => {
    const near = await dial();
    const other = await far;
    const there = Buffer.alloc(3_000_000, 'abcdefg');
    const back = Buffer.alloc(2_000_000, 'hijklmn');
    near.write(there);
    other.write(back);
    expect((await receive(other, there.length)).equals(there)).toBe(true);
    expect((await receive(near, back.length)).equals(back)).toBe(true);
  });

  it('keeps the order while the latency changes', async () => {
    const near = await dial();
    const other = await far;
    proxy.set('pass', { latencyMs: 50 });
    near.write('first ');
    const all = receive(other, 12);
    setTimeout(() => {
      proxy.set('pass');
      near.write('second');
    }, 10);
    expect((await all).toString()).toBe('first second');
  });

  it('delivers bytes written during a stall', async () => {
    const near = await dial();
    const other = await far;
    proxy.set('stall');
    near.write('patience');
    const late = receive(other, 8);
    proxy.set('pass');
    expect((await late).toString()).toBe('patience');
  });

  it('swallows silently', async () => {
    const near = await dial();
    const other = await far;
    proxy.set('swallow');
    near.write('lost');
    near.destroy();
    await closed(near);
    proxy.set('pass');
    other.write('are you there?');
    // The other side learns of it by nothing but its own means.
    expect(other.readableEnded || other.destroyed).toBe(false);
  });

  it('forwards no byte after swallowed ones', async () => {
    const near = await dial();
    const other = await far;
    const heard: Buffer[] = [];
    other.on('data', (data: Buffer) => heard.push(data));
    proxy.set('swallow');
    near.write('a question');
    // The wire accepts this connection after it has read all earlier bytes.
    far = once(server, 'connection').then(([socket]) => socket as Socket);
    await dial();
    await far;
    proxy.set('pass');
    near.write('another');
    far = once(server, 'connection').then(([socket]) => socket as Socket);
    (await dial()).write('hello');
    expect((await receive(await far, 5)).toString()).toBe('hello');
    expect(heard).toEqual([]);
  });

  it('breaks existing connections and accepts new ones', async () => {
    const near = await dial();
    const other = await far;
    other.on('error', () => undefined);
    const gone = [closed(near), closed(other)];
    proxy.reset();
    await Promise.all(gone);
    far = once(server, 'connection').then(([socket]) => socket as Socket);
    const again = await dial();
    again.write('hello');
    expect((await receive(await far, 5)).toString()).toBe('hello');
  });

  it('refuses as if no process listened', async () => {
    proxy.set('refuse');
    const socket = connect(proxy.port, '127.0.0.1');
    opened.push(socket);
    socket.on('error', () => undefined);
    await closed(socket);
  });
});
