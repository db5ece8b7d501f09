import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { until } from './conversation.ts';

describe('ping and pong', () => {
  let relay: TestRelay;

  beforeAll(async () => {
    // The daemon runs in this process: when that is stuck for two seconds, both are silent for as long.
    relay = await startRelay({ config: { pingIntervalMs: 400, silenceTimeoutMs: 2500 } });
  });
  afterAll(() => relay.stop());

  it('a daemon gets regular pings, and stays while it answers', async () => {
    const daemon = await connectDaemon(relay);
    // Longer than the silence that is allowed, as in the next tests.
    for (let count = 0; count < 8; count += 1) expect(await daemon.next('ping')).toEqual({ type: 'ping' });
    expect(daemon.socket.readyState).toBe(daemon.socket.OPEN);
    await daemon.close();
  });

  it('any byte is a sign of life: a WebSocket ping will do, and is answered', async () => {
    const daemon = await connectDaemon(relay, { pong: false });
    for (let count = 0; count < 8; count += 1) {
      await daemon.next('ping');
      const answered = once(daemon.socket, 'pong');
      daemon.socket.ping('still here');
      expect(String((await answered)[0])).toBe('still here');
    }
    await daemon.close();
  });

  it('any frame is a sign of life, even an ignored one', async () => {
    const daemon = await connectDaemon(relay, { pong: false });
    for (let count = 0; count < 8; count += 1) {
      await daemon.next('ping');
      daemon.send({ type: 'something new' });
    }
    await daemon.close();
  });

  it('a daemon that is silent for too long is closed 4408', async () => {
    const daemon = await connectDaemon(relay, { pong: false });
    expect(await daemon.closed).toEqual({ code: 4408, reason: 'heartbeat timeout' });
    await until(async () => {
      const { body } = await relay.call('listConnections', { params: { id: daemon.deviceId } });
      return body.connections[0]!.closeCode === 4408;
    });
  });
});
