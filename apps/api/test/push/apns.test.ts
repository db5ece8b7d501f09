import { generateKeyPairSync } from 'node:crypto';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ApnsDouble, openPushKeys, startApnsDouble } from '@relay/testing';
import jwt from 'jsonwebtoken';
import { type Apns, createApns } from '../../src/push/apns.ts';
import { createHttp2Poster } from '../../src/push/http2-post.ts';
import { outcomeOf } from '../../src/push/outcome.ts';
import type { AppTarget } from '../../src/push/targets.ts';
import { deliveryOf, message } from './delivery.ts';

const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const registeredAt = 1_790_000_000_000;

/** Rules, 14.10. */
describe('Apple', () => {
  it('times out even if no connection opens', async () => {
    const sockets: Socket[] = [];
    // Accepts the connection and never answers the TLS handshake.
    const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume()));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const poster = createHttp2Poster(`https://127.0.0.1:${port}`, Date.now, 50);
    const both = [poster.post('/3/device/a', {}, '{}'), poster.post('/3/device/b', {}, '{}')];
    for (const { status } of await Promise.allSettled(both)) expect(status).toBe('rejected');
    poster.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  let apple: ApnsDouble;
  let apns: Apns;
  let now: number;
  const target: AppTarget = { kind: 'apns', token: 'ab'.repeat(32), registeredAt };

  beforeAll(async () => {
    apple = await startApnsDouble();
  });
  beforeEach(() => {
    now = Date.now();
    apple.received.length = 0;
    apns = createApns(
      { key, keyId: 'KEY4567890', teamId: 'TEAM567890', topic: 'com.example.relay' },
      apple.url,
      () => now,
    );
  });
  afterEach(() => apns.close());
  afterAll(() => apple.close());

  const answers = (status: number, body: object = {}, headers: Record<string, string> = {}) => {
    apple.answer = (stream) => {
      stream.respond({ ':status': status, ...headers });
      stream.end(JSON.stringify(body));
    };
  };
  const tokenOf = (n: number) => String(apple.received[n]!.headers.authorization).replace(/^bearer /, '');

  it('gets the promised headers, over one connection, with a token of the team', async () => {
    answers(200);
    const before = apple.connections;
    await Promise.all(Array.from({ length: 10 }, () => apns.send(target, message, deliveryOf())));
    await apns.send(target, { ...message, urgent: false }, deliveryOf());
    expect(apple.connections).toBe(before + 1);
    expect(apple.received[0]).toMatchObject({
      path: `/3/device/${target.token}`,
      headers: {
        ...{ 'apns-topic': 'com.example.relay', 'apns-push-type': 'alert', 'apns-priority': '10' },
        'apns-collapse-id': expect.stringMatching(/^[\w-]{32}$/),
      },
      body: {
        aps: { alert: { title: 'An agent needs you', body: 'plant a hedge' }, 'mutable-content': 1 },
        link: message.link,
      },
    });
    expect(apple.received.at(-1)!.headers['apns-priority']).toBe('5');
    const { header, payload } = jwt.verify(tokenOf(0), publicKey, { algorithms: ['ES256'], complete: true });
    expect(header).toMatchObject({ alg: 'ES256', kid: 'KEY4567890' });
    expect(payload).toMatchObject({ iss: 'TEAM567890' });
  });

  it('gets a new token after 40 minutes, and not before', async () => {
    answers(200);
    await apns.send(target, message, deliveryOf());
    now += 39 * 60_000;
    await apns.send(target, message, deliveryOf());
    now += 2 * 60_000;
    await apns.send(target, message, deliveryOf());
    expect(tokenOf(1)).toBe(tokenOf(0));
    expect(tokenOf(2)).not.toBe(tokenOf(0));
  });

  it('gets an unreadable payload for an app with keys, within its 4 KiB', async () => {
    answers(200);
    const app = openPushKeys();
    const sealed = { ...target, keys: app.keys };
    await apns.send(sealed, message, deliveryOf());
    await apns.send(sealed, { ...message, body: '"\\🌱'.repeat(3000) }, deliveryOf());
    const { body } = apple.received[0]!;
    expect(body).toMatchObject({ aps: { alert: { body: 'Open Relay to see more.' } } });
    expect(JSON.stringify(body)).not.toMatch(/hedge|sessions/);
    expect(app.read(Buffer.from(String(body.sealed), 'base64url'))).toMatchObject({
      notification: { body: 'plant a hedge' },
    });
    expect(JSON.stringify(apple.received[1]!.body).length).toBeLessThan(4096);
  });

  it.each([
    [200, {}, { state: 'accepted' }],
    [410, { reason: 'Unregistered', timestamp: registeredAt + 1 }, { state: 'gone' }],
    [410, { reason: 'Unregistered', timestamp: registeredAt - 1 }, { state: 'pending' }],
    [410, {}, { state: 'gone' }],
    [400, { reason: 'BadDeviceToken' }, { state: 'failed', pause: expect.any(String) }],
    [403, { reason: 'InvalidProviderToken' }, { state: 'pending', reason: expect.stringMatching(/operator/) }],
    [404, { reason: 'BadPath' }, { state: 'gone' }],
    [500, { reason: 'InternalServerError' }, { state: 'pending' }],
    [503, { reason: 'Shutdown' }, { state: 'pending' }],
  ])('%d with %j is %j', async (status, body, outcome) => {
    answers(status, body);
    const given = deliveryOf({ kind: 'apns' });
    expect(outcomeOf(await apns.send(target, message, given), given)).toMatchObject({ httpStatus: status, ...outcome });
  });

  it('returns the time to wait', async () => {
    answers(429, { reason: 'TooManyRequests' }, { 'retry-after': '9' });
    expect(await apns.send(target, message, deliveryOf())).toMatchObject({ status: 429, retryAfterMs: 9000 });
  });

  it('reconnects after a lost connection, and the pending message stays unanswered', async () => {
    apple.answer = () => apple.cut();
    await expect(apns.send(target, message, deliveryOf())).rejects.toBeInstanceOf(Error);
    answers(200);
    expect(await apns.send(target, message, deliveryOf())).toMatchObject({ status: 200 });
  });

  it('can send an endless answer: the api reads 64 KiB of it', async () => {
    apple.answer = (stream) => {
      stream.respond({ ':status': 200 });
      const pour = () => {
        while (!stream.destroyed && stream.write('x'.repeat(16_384)));
      };
      stream.on('drain', pour);
      pour();
    };
    expect(await apns.send(target, message, deliveryOf())).toMatchObject({ status: 200 });
  });
});
