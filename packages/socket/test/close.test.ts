import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import {
  type DoorOptions,
  type Door,
  readUntil,
  until,
  createEar,
  openDoor,
  createGate,
  clientFrame,
  patient,
} from './door.ts';

describe('closing a socket', () => {
  let door: Door;
  const open = async (options?: DoorOptions) => (door = await openDoor(options));
  afterEach(() => door.close());

  it('from this side reaches the peer with code and reason, after everything sent before', async () => {
    await open({ limits: patient });
    const { client, socket } = await door.connect();
    const received: string[] = [];
    client.on('message', (data: Buffer) => received.push(data.toString().slice(0, 4)));
    socket.send('last');
    socket.send('long'.repeat(100_000));
    socket.send('word');
    socket.close(1001, 'going away');
    const [code, reason] = (await once(client, 'close')) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1001, 'going away']);
    expect(received).toEqual(['last', 'long', 'word']);
    expect(await door.ends.next()).toEqual({ code: 1001, reason: 'going away', clean: true });
  });

  it('from the peer passes its code and reason to the handler', async () => {
    await open();
    const { client, socket } = await door.connect();
    client.close(4001, 'I am tired');
    expect(await door.ends.next()).toEqual({ code: 4001, reason: 'I am tired', clean: true });
    expect(socket.state).toBe('closed');
  });

  it("by leaving still handles the peer's frames until it answers", async () => {
    const gate = createGate();
    const heard: string[] = [];
    await open({
      // This peer leaves its line open, so the timeout closes the socket.
      limits: { ...patient, closeTimeoutMs: 3_000 },
      handlers: {
        onFrame: async (text) => {
          await gate.opened;
          heard.push(text);
        },
      },
    });
    const line = await door.dial();
    const { socket } = await door.accepted.next();
    line.write(Buffer.concat([clientFrame(1, 'in progress'), clientFrame(1, 'waiting')]));
    socket.leave(1001, 'going away');
    expect(socket.send('too late')).toBe(false);
    await readUntil(line, 'going away');
    line.write(Buffer.concat([clientFrame(1, 'on its way'), clientFrame(8, Buffer.from([0x03, 0xe9]))]));
    await until('it has ended', () => socket.state === 'closed');
    socket.close(4409, 'replaced');
    gate.open();
    expect(await door.ends.next()).toEqual({ code: 1001, reason: 'going away', clean: true });
    expect(heard).toEqual(['in progress', 'waiting', 'on its way']);
  });

  it('by leaving also settles a later close, without waiting for a silent peer', async () => {
    const gate = createGate();
    const heard = createEar<string>();
    await open({
      limits: { maxFrameBytes: 1_000, closeTimeoutMs: 50 },
      handlers: {
        onFrame: (text) => {
          heard.add(text);
          return gate.opened;
        },
      },
    });
    const line = await door.dial();
    const { socket } = await door.accepted.next();
    line.write(Buffer.concat([clientFrame(1, 'in progress'), clientFrame(1, 'waiting')]));
    await heard.next();
    socket.leave(1001, 'going away');
    socket.close(4409, 'replaced');
    gate.open();
    expect(await door.ends.next()).toEqual({ code: 1001, reason: 'going away', clean: false });
    expect(heard.heard).toEqual(['in progress']);
  });

  it('does not wait for a peer that never answers', async () => {
    await open({ limits: { maxFrameBytes: 1_000, closeTimeoutMs: 50 } });
    const line = await door.dial();
    const { socket } = await door.accepted.next();
    socket.close(4409, 'replaced');
    const read = await readUntil(line, 'replaced');
    expect(read).toContain('\x11\x39replaced');
    expect(await door.ends.next()).toEqual({ code: 4409, reason: 'replaced', clean: false });
  });

  it('does not wait for a peer that does not even read', async () => {
    await open({ limits: { maxFrameBytes: 1_000, closeTimeoutMs: 50, unsentGraceMs: 60_000, stallMs: 60_000 } });
    await door.dial();
    const { socket } = await door.accepted.next();
    while (socket.unsentBytes < 2 ** 17) {
      socket.send('.'.repeat(2 ** 16));
      await new Promise(setImmediate);
    }
    socket.close(1001, 'going away');
    expect(await door.ends.next()).toEqual({ code: 1001, reason: 'going away', clean: false });
  });

  it('does not wait for a peer that keeps its half open after its goodbye', async () => {
    await open({ limits: { maxFrameBytes: 1_000, closeTimeoutMs: 50 } });
    const line = await door.dial();
    await door.accepted.next();
    line.write(clientFrame(8, Buffer.from([0x03, 0xe8])));
    expect(await door.ends.next()).toEqual({ code: 1000, reason: '', clean: true });
  });

  it('is 1006 when the connection is lost without a word', async () => {
    await open();
    const reset = await door.dial();
    await door.accepted.next();
    reset.resetAndDestroy();
    const end = await door.ends.next();
    expect(end).toMatchObject({ code: 1006, clean: false });
    expect(end.cause).toMatchObject({ code: 'ECONNRESET' });
    const ended = await door.dial();
    await door.accepted.next();
    ended.end();
    expect(await door.ends.next()).toEqual({ code: 1006, reason: '', clean: false });
  });

  it('comes immediately after terminate', async () => {
    await open();
    const { client, socket } = await door.connect();
    socket.terminate();
    expect(socket.state).toBe('closing');
    expect(await door.ends.next()).toEqual({ code: 1006, reason: '', clean: false });
    socket.terminate();
    if (client.readyState !== client.CLOSED) await once(client, 'close');
    expect(door.ends.heard).toHaveLength(1);
  });

  it('has the code of the first who closed', async () => {
    await open({ limits: patient });
    const { client, socket } = await door.connect();
    socket.close(4409, 'replaced');
    socket.close(1001, 'going away');
    const [code] = (await once(client, 'close')) as [number];
    expect(code).toBe(4409);
    expect(await door.ends.next()).toEqual({ code: 4409, reason: 'replaced', clean: true });
  });

  it('keeps its code after a later terminate', async () => {
    await open();
    await door.dial();
    const { socket } = await door.accepted.next();
    socket.close(4409, 'replaced');
    socket.terminate();
    expect(await door.ends.next()).toEqual({ code: 4409, reason: 'replaced', clean: false });
  });

  it('cuts a reason that does not fit, between two characters', async () => {
    await open();
    const { client, socket } = await door.connect();
    socket.close(4000, `a${'🐢'.repeat(40)}`);
    const [, reason] = (await once(client, 'close')) as [number, Buffer];
    expect(reason.toString()).toBe(`a${'🐢'.repeat(30)}`);
  });

  it('survives a handler that throws', async () => {
    const broken = new Error('broken');
    await open({
      handlers: {
        onClose: () => {
          throw broken;
        },
      },
    });
    const { client } = await door.connect();
    client.close();
    expect(await door.errors.next()).toBe(broken);
  });
});
