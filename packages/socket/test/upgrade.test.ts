import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createSocketServer, guardUpgrade, HandshakeError, refuseUpgrade } from '../src/index.ts';
import { type DoorOptions, type Door, readUntil, createEar, handshake, openDoor, closes } from './door.ts';

describe('an upgrade', () => {
  let door: Door;
  const open = async (options?: DoorOptions) => (door = await openDoor(options));
  afterEach(() => {
    jest.useRealTimers();
    return door?.close();
  });

  /** Stops the clock of the second after a refusal: a busy machine can pause for longer, and then the client is cut off. */
  const stopTheSecond = () =>
    jest.useFakeTimers({
      doNotFake: [
        ...(['Date', 'hrtime', 'performance', 'nextTick', 'queueMicrotask'] as const),
        ...(['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'] as const),
      ],
    });

  const refuseWith = (status: number, headers: Record<string, string>, body: string): DoorOptions => ({
    onUpgrade: (_request, duplex) => refuseUpgrade(duplex, status, headers, body),
  });

  async function ask() {
    const asking = request({
      port: door.port,
      host: '127.0.0.1',
      headers: { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
    });
    asking.end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }

  it('is refused with a response that any HTTP client can read', async () => {
    const body = JSON.stringify({ error: 'nicht verfügbar 🐢', code: 'SERVICE_UNAVAILABLE', status: 503 });
    await open(refuseWith(503, { 'Content-Type': 'application/json', 'Retry-After': '5' }, body));
    const answer = await ask();
    expect(answer.status).toBe(503);
    expect(answer.body).toBe(body);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'retry-after': '5',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    });
  });

  it('is refused in one piece, with any headers', async () => {
    const headers = { connection: 'keep-alive', 'CONTENT-LENGTH': '1', 'X-Note': 'a\r\nSet-Cookie: b=c\r\n\r\nhello' };
    await open(refuseWith(401, headers, 'no'));
    const answer = await ask();
    expect(answer.body).toBe('no');
    expect(answer.headers['x-note']).toBe('aSet-Cookie: b=chello');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers.connection).toBe('close');
  });

  it('is refused readably also to a client that keeps on sending', async () => {
    stopTheSecond();
    await open(refuseWith(404, {}, 'not here'));
    const line = await door.dial();
    for (let n = 0; n < 64; n++) line.write(Buffer.alloc(2 ** 14));
    expect(await readUntil(line, 'not here')).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  });

  it('is over when the client leaves, whose last bytes are read', async () => {
    const wasReadToTheEnd = createEar<boolean>();
    stopTheSecond();
    await open({
      onUpgrade: (_request, duplex) => {
        duplex.once('close', () => wasReadToTheEnd.add(duplex.readableEnded));
        refuseUpgrade(duplex, 401, {}, 'no');
      },
    });
    const line = await door.dial();
    await readUntil(line, 'no');
    line.end('an unexpected word');
    expect(await wasReadToTheEnd.next()).toBe(true);
  });

  it('is over a second after its refusal, also for a client that does not leave', async () => {
    const gone = createEar<boolean>();
    await open({
      onUpgrade: (_request, duplex) => {
        duplex.once('close', () => gone.add(true));
        refuseUpgrade(duplex, 401, {}, 'no');
      },
    });
    const line = await door.dial();
    await readUntil(line, 'no');
    expect(await gone.next()).toBe(true);
  });

  it('is refused without an error when the client has gone', () => {
    const gone = new PassThrough();
    gone.destroy();
    const ended = new PassThrough();
    ended.end();
    for (const duplex of [gone, ended]) {
      refuseUpgrade(duplex, 401, {}, 'no');
      expect(duplex.destroyed).toBe(true);
    }
    expect(gone.read()).toBeNull();
  });

  it('survives a client reset while guarded', async () => {
    const duplex = new PassThrough();
    guardUpgrade(duplex);
    const closed = once(duplex, 'close').catch(() => undefined);
    duplex.emit('error', new Error('ECONNRESET'));
    await closed;
    expect(duplex.destroyed).toBe(true);
  });

  it('without a key is not a handshake and can be refused', async () => {
    await open();
    const answer = await ask();
    expect(answer).toMatchObject({ status: 400, body: 'Missing or invalid Sec-WebSocket-Key header' });
    expect(await door.refused.next()).toBeInstanceOf(HandshakeError);
  });

  it('by another method is not a handshake', async () => {
    await open();
    const line = await door.dial(handshake({}, 'POST'));
    expect(await readUntil(line, 'Invalid')).toMatch(/^HTTP\/1\.1 405 /);
  });

  it('of a vanished client is recognised', async () => {
    const duplex = new PassThrough();
    duplex.end();
    const headers = { upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': `${'a'.repeat(22)}==` };
    const gone = { method: 'GET', headers } as unknown as IncomingMessage;
    const handlers = { onFrame: fail, onBinary: fail, onClose: fail, onError: fail };
    const server = createSocketServer({ limits: { maxFrameBytes: 1_000 }, closes });
    const refusal = server.accept(gone, duplex, Buffer.alloc(0), handlers);
    await expect(refusal).rejects.toMatchObject({ code: 'BAD_HANDSHAKE', status: 0 });
  });

  it('names the protocol that the door chose and the client offered, and no other', async () => {
    const offer = { 'Sec-WebSocket-Protocol': 'relay.v1, bearer.secret' };
    const answerTo = async (protocol: string | undefined, headers: Record<string, string>) => {
      await open(protocol === undefined ? {} : { protocol });
      const head = await readUntil(await door.dial(handshake(headers)), '\r\n\r\n');
      await door.close();
      expect(head).toMatch(/^HTTP\/1\.1 101 /);
      return /sec-websocket-protocol: (.*)\r\n/i.exec(head)?.[1];
    };
    expect(await answerTo('relay.v1', offer)).toBe('relay.v1');
    expect(await answerTo(undefined, offer)).toBeUndefined();
    expect(await answerTo('relay.v2', offer)).toBeUndefined();
    expect(await answerTo('relay.v1', {})).toBeUndefined();
    await open();
  });

  it('never agrees to compression', async () => {
    await open();
    const hello = handshake({ 'Sec-WebSocket-Extensions': 'permessage-deflate; client_max_window_bits' });
    const head = await readUntil(await door.dial(hello), '\r\n\r\n');
    expect(head).not.toMatch(/extensions/i);
  });
});

function fail(): never {
  throw new Error('must not be called');
}
