import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PushReceiver, startPushReceiver } from '@relay/testing';
import { AddressRefused, createGuard } from '../../src/push/guard.ts';
import { createPoster } from '../../src/push/post.ts';

/** Rules, 14.9. */
describe('an attempt', () => {
  let receiver: PushReceiver;
  beforeAll(async () => {
    receiver = await startPushReceiver();
  });
  afterAll(() => receiver.close());

  const request = (path: string) => ({ url: new URL(path, receiver.url), headers: {}, body: '{}' });

  it('fails without an answer when the service is silent or closes the connection', async () => {
    const poster = createPoster(undefined, { withinMs: 50 });
    receiver.answer = () => undefined;
    await expect(poster.post(request('/silent'))).rejects.toThrow('no answer in 50 ms');
    receiver.answer = (response) => response.destroy();
    await expect(poster.post(request('/cut'))).rejects.toThrow();
    poster.close();
  });

  it('reads at most 64 KiB of an answer that it needs, and does not wait for the rest', async () => {
    const poster = createPoster(undefined);
    receiver.answer = (response) => {
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
      };
      response.on('drain', pour);
      pour();
    };
    const { status, body } = await poster.post({ ...request('/pours'), readAnswer: true });
    expect({ status, length: body!.length }).toEqual({ status: 200, length: 64 * 1024 });
    // The receiver is in this process: the status has to arrive within the limit, however busy the machine is.
    const hasty = createPoster(undefined, { withinMs: 3000 });
    receiver.answer = (response) => void response.writeHead(200).write('x');
    expect(await hasty.post({ ...request('/drips'), readAnswer: true })).toEqual({ status: 200 });
    for (const one of [poster, hasty]) one.close();
  });

  it.each([
    ['12', 12_000],
    ['0', 0],
    ['Wed, 25 Nov 2026 00:00:10 GMT', 10_000],
    ['Tue, 24 Nov 2026 00:00:00 GMT', 0],
    ['999999999', 86_400_000],
    ['soon', undefined],
  ])('with Retry-After %j waits %s ms', async (value, retryAfterMs) => {
    const poster = createPoster(undefined, { now: () => Date.UTC(2026, 10, 25) });
    receiver.answer = (response) => void response.writeHead(503, { 'Retry-After': value }).end();
    expect((await poster.post(request('/later'))).retryAfterMs).toBe(retryAfterMs);
    poster.close();
  });

  it('resolves a name for each connection, so that a name that moved to an internal address is refused', async () => {
    const { hostname, port } = new URL(receiver.url);
    const asked: string[] = [];
    // The name leads to a public address at the check, and to an internal one when the socket connects.
    const answers = ['93.184.216.34', hostname];
    const guard = createGuard([], (host, then) => {
      asked.push(host);
      then(null, [{ address: answers[asked.length - 1] ?? hostname, family: 4 }]);
    });
    const url = new URL(`http://rebinds.example.com:${port}/inside`);
    const look = () =>
      new Promise<unknown>((resolve) => guard.lookupFor(url)(url.hostname, { all: true }, (error) => resolve(error)));
    expect(await look()).toBeNull();
    receiver.received.length = 0;
    const poster = createPoster(guard);
    await expect(poster.post({ url, headers: {}, body: '{}' })).rejects.toBeInstanceOf(AddressRefused);
    expect(asked).toEqual(['rebinds.example.com', 'rebinds.example.com']);
    expect(receiver.received).toEqual([]);
    poster.close();
  });
});
