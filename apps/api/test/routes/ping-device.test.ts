import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';

describe('POST /api/devices/:id/ping', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  beforeAll(async () => {
    relay = await startRelay({ apis: 2, gateways: 2, config: { daemonReplyTimeoutMs: 3000 } });
    daemon = await connectDaemon(relay, { gateway: 1, pong: false });
  });
  afterAll(() => relay.stop());

  itAsksForCredentials(() => relay, 'pingDevice');
  const ping = (id: string, user?: string) =>
    relay.call('pingDevice', { params: { id }, ...(user === undefined ? {} : { user }) });

  it('gets an answer from any daemon that supports ping, once for all simultaneous requests', async () => {
    // Answers each of them: the gateway sends pings, too.
    const answerPings = (data: Buffer) => {
      if ((JSON.parse(data.toString()) as { type: string }).type === 'ping') daemon.send({ type: 'pong' });
    };
    daemon.socket.on('message', answerPings);
    const answers = await Promise.all([ping(daemon.deviceId), ping(daemon.deviceId)]);
    daemon.socket.off('message', answerPings);
    for (const answer of answers) expect(expectSuccess('pingDevice', 200, answer)).toEqual({ ms: expect.any(Number) });
  });

  it("reports a silent daemon, an offline one, and another user's device", async () => {
    expectRefusal(await ping(daemon.deviceId), 'DEVICE_TIMEOUT');
    expectRefusal(await ping(daemon.deviceId, 'bob'), 'DEVICE_NOT_FOUND');
    await daemon.close();
    expectRefusal(await ping(daemon.deviceId), 'DEVICE_OFFLINE');
  });
});
