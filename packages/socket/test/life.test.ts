import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Heartbeats } from '../src/index.ts';
import { type Door, readUntil, until, openDoor, createGate, clientFrame } from './door.ts';

describe('signs of life', () => {
  let door: Door;
  let nowMs = 0;
  const open = async (...[options]: Parameters<typeof openDoor>) => {
    nowMs = 1;
    door = await openDoor({ ...options, now: () => nowMs });
  };
  afterEach(() => door.close());

  it('is being accepted', async () => {
    await open();
    expect((await door.connect()).socket.lastInboundAt).toBe(1);
  });

  it('is a ping of the peer, which gets its pong', async () => {
    await open();
    const { client, socket } = await door.connect();
    nowMs = 2;
    client.ping('hello');
    const [payload] = (await once(client, 'pong')) as [Buffer];
    expect(payload.toString()).toBe('hello');
    expect(socket.lastInboundAt).toBe(2);
  });

  it('is the answer to our ping', async () => {
    await open();
    const { socket } = await door.connect();
    nowMs = 2;
    socket.ping();
    await until('the pong is heard', () => socket.lastInboundAt === 2);
  });

  it('is a frame, and a part of one', async () => {
    await open();
    const line = await door.dial();
    const { socket } = await door.accepted.next();
    const frame = clientFrame(1, 'hello');
    nowMs = 2;
    line.write(frame.subarray(0, 3));
    await until('a part is heard', () => socket.lastInboundAt === 2);
    nowMs = 3;
    line.write(frame.subarray(3));
    expect(await door.frames.next()).toBe('hello');
    expect(socket.lastInboundAt).toBe(3);
  });

  it('is not asked of a peer that is not read', async () => {
    const gate = createGate();
    await open({
      limits: { maxFrameBytes: 1_000, maxQueuedFrames: 1 },
      handlers: {
        onFrame: async (text) => {
          await gate.opened;
          door.frames.add(text);
        },
      },
    });
    const { client, socket, duplex } = await door.connect();
    ['one', 'two', 'three'].forEach((text) => client.send(text));
    await until('reading pauses', () => duplex.isPaused());
    nowMs = 100;
    expect(socket.lastInboundAt).toBe(100);
    gate.open();
    for (const text of ['one', 'two', 'three']) expect(await door.frames.next()).toBe(text);
    nowMs = 200;
    expect(socket.lastInboundAt).toBe(100);
  });

  it('is missing from a silent peer, and a heartbeat closes the connection', async () => {
    door = await openDoor({ limits: { maxFrameBytes: 1_000, closeTimeoutMs: 50 } });
    const line = await door.dial();
    const { socket } = await door.accepted.next();
    const heartbeat = new Heartbeats({ intervalMs: 20, timeoutMs: 200, firstDelayMs: 0 }).start({
      ping: () => socket.ping(),
      get lastInboundAt() {
        return socket.lastInboundAt;
      },
      onSilence: () => socket.close(4408, 'heartbeat timeout'),
    });
    // The socket sent a ping: without payload it is the byte 0x89 and a zero.
    await readUntil(line, '\x89\0');
    expect(await door.ends.next()).toEqual({ code: 4408, reason: 'heartbeat timeout', clean: false });
    heartbeat.stop();
  });
});
