import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import {
  type DoorOptions,
  type Door,
  readUntil,
  until,
  createEar,
  handshake,
  openDoor,
  createGate,
  clientFrame,
  patient,
} from './door.ts';

describe('inbound frames', () => {
  let door: Door;
  const open = async (options?: DoorOptions) => (door = await openDoor(options));
  afterEach(() => door.close());

  it('run one at a time, in the order of arrival', async () => {
    const log: string[] = [];
    await open({
      handlers: {
        onFrame: async (text) => {
          log.push(`begin ${text}`);
          // The earlier a frame, the longer it takes.
          for (let turns = 20 - Number(text); turns > 0; turns--) await new Promise(setImmediate);
          log.push(`end ${text}`);
        },
      },
    });
    const { client } = await door.connect();
    const texts = Array.from({ length: 20 }, (_, n) => `${n}`);
    texts.forEach((text) => client.send(text));
    await until('all are handled', () => log.length === 40);
    expect(log).toEqual(texts.flatMap((text) => [`begin ${text}`, `end ${text}`]));
  });

  it('can overtake a slow one in order, and a pong waits for all earlier frames', async () => {
    const gates = new Map(['slow', 'pass 1', 'waits'].map((text) => [text, createGate()]));
    const log: string[] = [];
    await open({
      receipts: true,
      handlers: {
        onFrame: async (text) => {
          log.push(text);
          await gates.get(text)?.opened;
        },
        passes: (head, current) => current === 'slow' && head.startsWith('pass'),
      },
    });
    const { client } = await door.connect();
    client.on('pong', () => log.push('pong'));
    for (const text of ['slow', 'pass 1']) client.send(text);
    client.ping();
    for (const text of ['pass 2', 'waits', 'pass 3']) client.send(text);
    await until('one passes', () => log.includes('pass 1'));
    expect(log).toEqual(['slow', 'pass 1']);
    gates.get('pass 1')!.open();
    await until('the next one passes', () => log.includes('pass 2'));
    gates.get('slow')!.open();
    await until('the one that waited begins', () => log.includes('waits'));
    gates.get('waits')!.open();
    await until('all are handled', () => log.includes('pass 3') && log.includes('pong'));
    expect(log.filter((text) => text !== 'pong')).toEqual(['slow', 'pass 1', 'pass 2', 'waits', 'pass 3']);
    expect(log.indexOf('pong')).toBeGreaterThan(log.indexOf('pass 2'));
  });

  it('in the packet of the handshake run once the socket is accepted', async () => {
    const order: string[] = [];
    await open({ handlers: { onFrame: (text) => void order.push(text) } });
    const accepted = door.accepted.next().then(() => order.push('accepted'));
    await door.dial(Buffer.concat([Buffer.from(handshake()), clientFrame(1, 'first')]));
    await accepted;
    await until('the frame is handled', () => order.length === 2);
    expect(order).toEqual(['accepted', 'first']);
  });

  it('can be empty, fragmented, and in any language', async () => {
    await open();
    const line = await door.dial();
    line.write(clientFrame(1, ''));
    line.write(clientFrame(1, 'Grüße '.slice(0, 3), false));
    line.write(clientFrame(9, 'a ping in between'));
    line.write(clientFrame(0, 'ße 🐢'));
    expect(await door.frames.next()).toBe('');
    expect(await door.frames.next()).toBe('Grüße 🐢');
  });

  it('wait unread while too many are queued, without loss', async () => {
    const gate = createGate();
    const count = 2_000;
    const frameBytes = 16 * 1024;
    await open({
      limits: { maxFrameBytes: 2 ** 20, maxQueuedFrames: 8 },
      handlers: { onFrame: (text) => gate.opened.then(() => door.frames.add(text)) },
    });
    const { client, duplex } = await door.connect();
    for (let n = 0; n < count; n++) client.send(`${n} `.padEnd(frameBytes, '.'));
    await until('reading pauses', () => duplex.isPaused());
    const readBytes = duplex.bytesRead;
    // Eight waiting, one in progress, and the result of one read.
    expect(readBytes).toBeLessThan(20 * frameBytes);
    const other = await door.connect();
    other.client.ping();
    await once(other.client, 'pong');
    expect(duplex.bytesRead).toBe(readBytes);
    gate.open();
    for (let n = 0; n < count; n++) expect(parseInt(await door.frames.next())).toBe(n);
  });

  it('are bounded by their bytes as well', async () => {
    const gate = createGate();
    await open({
      limits: { maxFrameBytes: 2 ** 20, maxQueuedFrames: 1_000, maxQueuedBytes: 2 ** 17 },
      handlers: { onFrame: (text) => gate.opened.then(() => door.frames.add(text)) },
    });
    const { client, duplex } = await door.connect();
    const count = 400;
    for (let n = 0; n < count; n++) client.send(`${n} `.padEnd(2 ** 16, '.'));
    await until('reading pauses', () => duplex.isPaused());
    expect(duplex.bytesRead).toBeLessThan(2 ** 19);
    gate.open();
    for (let n = 0; n < count; n++) expect(parseInt(await door.frames.next())).toBe(n);
  });

  it('do not delay a ping, which gets its pong immediately', async () => {
    const gate = createGate();
    await open({ handlers: { onFrame: () => gate.opened } });
    const { client } = await door.connect();
    client.send('one');
    client.ping('1');
    await once(client, 'pong');
    gate.open();
  });

  it.each([false, true])(
    'are heard of a peer that pings and does not read, and its pongs are bounded; receipts: %s',
    async (receipts) => {
      const maxUnsentBytes = 2 ** 18;
      await open({ receipts, limits: { maxFrameBytes: 2 ** 20, maxUnsentBytes, controlBurstBytes: 2 ** 30 } });
      const line = await door.dial();
      const { duplex } = await door.accepted.next();
      const pings = Buffer.concat(Array.from({ length: 4_000 }, () => clientFrame(9, 'p'.repeat(125))));
      for (let round = 0; round < 50; round += 1) if (!line.write(pings)) await once(line, 'drain');
      line.write(clientFrame(1, 'still here'));
      expect(await door.frames.next()).toBe('still here');
      expect(duplex.writableLength).toBeLessThan(2 * maxUnsentBytes);
    },
  );

  it.each([9, 10])(
    'R11: of a peer that sends too many control frames are not read on: 1008; opcode %s',
    async (opcode) => {
      await open();
      const line = await door.dial();
      await door.accepted.next();
      line.resume();
      const many = Buffer.concat(Array.from({ length: 1_000 }, () => clientFrame(opcode, 'p'.repeat(125))));
      for (let round = 0; round < 9; round += 1) line.write(many);
      expect(await door.ends.next()).toMatchObject({ code: 1008, reason: 'too many control frames' });
    },
  );

  it('R11: that come byte by byte wait in a bounded number of pieces: 1008', async () => {
    await open();
    const line = await door.dial();
    const { duplex } = await door.accepted.next();
    line.setNoDelay(true);
    // One frame of 65,535 bytes of a door that takes a mebibyte.
    line.write(Buffer.from([0x81, 0xfe, 0xff, 0xff, 0, 0, 0, 0]));
    await once(duplex, 'data');
    await readUntil(line, '\r\n\r\n');
    let refused = false;
    const refusal = once(line, 'readable').then(() => (refused = true));
    let pieces = 0;
    while (!refused) {
      const read = once(duplex, 'data');
      line.write('x');
      // A door that has refused reads for one second: a pause of the machine can keep it from reading the last piece.
      await Promise.race([read, refusal]);
      expect((pieces += 1)).toBeLessThan(3_000);
    }
    expect(pieces).toBeGreaterThan(2_000);
    line.resume();
    expect(await door.ends.next()).toMatchObject({ code: 1008 });
  });

  it('keep their place before a ping where a pong is a receipt', async () => {
    const gates = { one: createGate(), two: createGate() };
    const log: string[] = [];
    await open({
      receipts: true,
      handlers: { onFrame: (text) => gates[text as 'one' | 'two'].opened.then(() => void log.push(text)) },
    });
    const { client } = await door.connect();
    client.on('pong', (payload: Buffer) => log.push(`pong ${payload.toString()}`));
    client.send('one');
    client.ping('1');
    client.send('two');
    client.ping('2');
    gates.one.open();
    await until('the first ping is answered', () => log.length === 2);
    gates.two.open();
    await until('the second, too', () => log.length === 4);
    expect(log).toEqual(['one', 'pong 1', 'two', 'pong 2']);
  });

  it('without handling get no receipt', async () => {
    const gate = createGate();
    await open({
      receipts: true,
      handlers: {
        onFrame: async () => {
          await gate.opened;
          throw new Error('not written down');
        },
      },
    });
    const { client } = await door.connect();
    const pongs = createEar<Buffer>();
    client.on('pong', pongs.add);
    client.send('one');
    client.ping('1');
    gate.open();
    await once(client, 'close');
    expect(pongs.heard).toEqual([]);
    expect(door.errors.heard).toHaveLength(1);
  });

  it('in binary reach the door in order, and the door closes', async () => {
    await open({ limits: patient });
    const { client } = await door.connect();
    client.send('before');
    client.send(Buffer.from('bytes'));
    client.send('after');
    const [code, reason] = (await once(client, 'close')) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1003, 'binary frame']);
    expect(await door.ends.next()).toEqual({ code: 1003, reason: 'binary frame', clean: true });
    expect(door.frames.heard).toEqual(['before']);
  });

  it('that are not valid UTF-8 close the socket with 1007', async () => {
    await open();
    const { client } = await door.connect();
    client.send('before');
    client.send(Buffer.from([0x61, 0xff, 0x62]), { binary: false });
    const [code] = (await once(client, 'close')) as [number];
    expect(code).toBe(1007);
    expect(await door.ends.next()).toMatchObject({ code: 1007, clean: false });
    expect(door.frames.heard).toEqual(['before']);
  });

  it('that are too long close the socket with 1009, and the longest allowed one does not', async () => {
    await open({ limits: { maxFrameBytes: 1_000 } });
    const { client } = await door.connect();
    client.send('.'.repeat(1_000));
    client.send('.'.repeat(1_001));
    const [code] = (await once(client, 'close')) as [number];
    expect(code).toBe(1009);
    const end = await door.ends.next();
    expect(end).toMatchObject({ code: 1009, clean: false });
    expect(end.cause).toBeInstanceOf(Error);
    expect(door.frames.heard.map((text) => text.length)).toEqual([1_000]);
  });

  it('that break the protocol close the socket with 1002', async () => {
    await open();
    const line = await door.dial();
    line.write(Buffer.from([0x81, 0x01, 0x61]));
    expect(await door.ends.next()).toMatchObject({ code: 1002, clean: false });
  });

  it('whose handler throws or rejects close the socket with the code for internal errors', async () => {
    const broken = new Error('broken');
    await open({
      limits: patient,
      handlers: {
        onFrame: (text) => {
          if (text === 'throw') throw broken;
          return Promise.reject(broken);
        },
      },
    });
    for (const text of ['throw', 'reject']) {
      const { client } = await door.connect();
      client.send(text);
      const [code, reason] = (await once(client, 'close')) as [number, Buffer];
      expect([code, reason.toString()]).toEqual([1011, 'internal error']);
      expect(await door.errors.next()).toBe(broken);
      expect(await door.ends.next()).toMatchObject({ code: 1011, clean: true });
    }
  });

  it('from before the peer left are all handled, and then the close is reported, once', async () => {
    const gate = createGate();
    const log: string[] = [];
    await open({
      handlers: {
        onFrame: async (text) => {
          await gate.opened;
          log.push(text);
        },
        onClose: ({ code }) => {
          log.push(`end ${code}`);
        },
      },
    });
    const { client, socket } = await door.connect();
    ['one', 'two', 'three'].forEach((text) => client.send(text));
    client.close(1000, 'bye');
    await until('the connection is gone', () => socket.state === 'closed');
    expect(log).toEqual([]);
    gate.open();
    await until('the end is told', () => log.length === 4);
    socket.close(1001, 'too late');
    socket.terminate();
    expect(log).toEqual(['one', 'two', 'three', 'end 1000']);
  });

  it('still waiting when this side closes are dropped, after the one in progress', async () => {
    const gate = createGate();
    const log: string[] = [];
    await open({
      handlers: {
        onFrame: async (text) => {
          log.push(`begin ${text}`);
          await gate.opened;
          log.push(`end ${text}`);
        },
        onClose: ({ code }) => {
          log.push(`closed ${code}`);
        },
      },
    });
    const { client, socket } = await door.connect();
    client.send('one');
    client.send('two');
    await until('the first is in progress', () => log.length === 1);
    socket.close(4409, 'replaced');
    client.send('three');
    await until('the connection is gone', () => socket.state === 'closed');
    expect(log).toEqual(['begin one']);
    gate.open();
    await until('the end is told', () => log.length === 3);
    expect(log).toEqual(['begin one', 'end one', 'closed 4409']);
  });
});
