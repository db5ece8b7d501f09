import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { sharedCharacters } from '../src/text-frames.ts';
import { type DoorOptions, type Door, readUntil, openDoor, until } from './door.ts';

const chunk = '.'.repeat(2 ** 16);

describe('outbound frames', () => {
  let door: Door;
  const open = async (options?: DoorOptions) => (door = await openDoor(options));
  afterEach(() => door.close());

  /** A peer that shook hands and reads nothing more. */
  async function dialDeaf() {
    const line = await door.dial();
    const { socket, duplex } = await door.accepted.next();
    await readUntil(line, '\r\n\r\n');
    return { line, socket, duplex };
  }

  it('leave in the order of the calls', async () => {
    await open();
    const { client, socket } = await door.connect();
    const texts = Array.from({ length: 500 }, (_, n) => `${n} 🐢`);
    const received: string[] = [];
    client.on('message', (data: Buffer) => received.push(data.toString()));
    for (const text of texts) expect(socket.send(text)).toBe(true);
    await until('all are received', () => received.length === texts.length);
    expect(received).toEqual(texts);
    expect(socket.unsentBytes).toBe(0);
  });

  it('of any length and language come whole to each socket, between pings', async () => {
    await open();
    const [first, second] = [await door.connect(), await door.connect()];
    const lengths = [0, 1, 125, 126, sharedCharacters, sharedCharacters + 1, 2 ** 16];
    const texts = lengths.flatMap((length) => ['.', 'ß', '漢'].map((letter) => letter.repeat(length)));
    const received = [first, second].map(({ client }) => {
      const all: string[] = [];
      client.on('message', (data: Buffer) => all.push(data.toString()));
      return all;
    });
    for (const text of texts) {
      for (const { socket } of [first, second]) {
        expect(socket.send(text)).toBe(true);
        socket.ping();
      }
    }
    await until('all are received', () => received.every((all) => all.length === texts.length));
    expect(received).toEqual([texts, texts]);
  });

  it('of five MiB in one turn reach a healthy reader, who is not closed', async () => {
    await open();
    const { client, socket } = await door.connect();
    let received = 0;
    client.on('message', (data: Buffer) => (received += data.length));
    for (let n = 0; n < 80; n++) expect(socket.send(chunk)).toBe(true);
    await until('all is received', () => received === 80 * chunk.length);
    client.send('still here');
    expect(await door.frames.next()).toBe('still here');
    expect(socket.state).toBe('live');
  });

  it('wait for a reader that pauses and reads on in time', async () => {
    await open({
      limits: { maxFrameBytes: 1_000, maxUnsentBytes: 2 ** 16, maxBurstBytes: 2 ** 26, unsentGraceMs: 60_000 },
    });
    const { line, socket } = await dialDeaf();
    let sent = 0;
    // Past everything the operating system holds for the two, and past the bound.
    for (; socket.unsentBytes < 2 ** 20; sent++) {
      expect(socket.send(chunk)).toBe(true);
      await new Promise(setImmediate);
    }
    let received = 0;
    line.on('data', (bytes: Buffer) => (received += bytes.length));
    await socket.drained();
    await until('all is received', () => received >= sent * chunk.length);
    expect(socket.state).toBe('live');
    expect(socket.send('one more')).toBe(true);
  });

  it('close a reader that has had the time and did not take them, with the code for slow readers', async () => {
    await open({
      limits: { maxFrameBytes: 1_000, maxUnsentBytes: 2 ** 18, maxBurstBytes: 2 ** 30, unsentGraceMs: 50 },
    });
    const { socket } = await dialDeaf();
    while (socket.state === 'live') {
      socket.send(chunk);
      await new Promise(setImmediate);
    }
    expect(await door.ends.next()).toEqual({ code: 1013, reason: 'too slow', clean: false });
    expect(socket.state).toBe('closed');
    expect(socket.unsentBytes).toBe(0);
  });

  it('close a reader that takes nothing for too long, however little waits', async () => {
    await open({ limits: { maxFrameBytes: 1_000, maxUnsentBytes: 2 ** 30, maxBurstBytes: 2 ** 30, stallMs: 100 } });
    const { socket } = await dialDeaf();
    // A busy machine can close it before so much waits; a closed socket has nothing unsent.
    while (socket.state === 'live' && socket.unsentBytes < 2 ** 17) {
      socket.send(chunk);
      await new Promise(setImmediate);
    }
    expect(await door.ends.next()).toMatchObject({ code: 1013, clean: false });
  });

  it('close a reader immediately when its backlog exceeds the limit', async () => {
    await open({ limits: { maxFrameBytes: 1_000, maxBurstBytes: 2 ** 20, unsentGraceMs: 60_000, stallMs: 60_000 } });
    const { socket } = await dialDeaf();
    while (socket.send(chunk)) {
      expect(socket.unsentBytes).toBeLessThanOrEqual(2 ** 20 + 100);
      await new Promise(setImmediate);
    }
    expect(socket.state).toBe('closing');
    expect(await door.ends.next()).toMatchObject({ code: 1013, clean: false });
  });

  it('are dropped first if permitted, when the reader is behind', async () => {
    await open({ limits: { maxFrameBytes: 1_000, unsentGraceMs: 60_000, stallMs: 60_000 } });
    const { line, socket } = await dialDeaf();
    expect(socket.send('hot', { droppable: true })).toBe(true);
    while (socket.unsentBytes <= 2 ** 16) {
      socket.send(chunk);
      await new Promise(setImmediate);
    }
    expect(socket.send('hot and dropped', { droppable: true })).toBe(false);
    expect(socket.send('kept')).toBe(true);
    const read = await readUntil(line, 'kept');
    expect(read).toContain('hot');
    expect(read).not.toContain('hot and dropped');
    expect(socket.send('hot again', { droppable: true })).toBe(true);
    await readUntil(line, 'hot again');
  });

  it('are refused after the socket has closed, without an error', async () => {
    await open();
    const { client, socket } = await door.connect();
    socket.close(1000, 'normal');
    expect(socket.state).toBe('closing');
    expect(socket.send('too late')).toBe(false);
    socket.ping();
    await once(client, 'close');
    await door.ends.next();
    expect(socket.state).toBe('closed');
    expect(socket.send('much too late')).toBe(false);
    expect(socket.unsentBytes).toBe(0);
    await socket.drained();
  });

  it('keep no caller waiting for them when the socket closes', async () => {
    await open({ limits: { maxFrameBytes: 1_000, unsentGraceMs: 60_000, stallMs: 60_000 } });
    const { socket } = await dialDeaf();
    while (socket.unsentBytes <= 2 ** 16) {
      socket.send(chunk);
      await new Promise(setImmediate);
    }
    const waiting = Promise.all([socket.drained(), socket.drained()]);
    socket.terminate();
    await waiting;
    expect((await door.ends.next()).code).toBe(1006);
  });
});
