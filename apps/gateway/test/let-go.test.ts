import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { windowMs } from '../src/door/balance.ts';
import { knock } from './knock.ts';

const held = 60;
let relay: TestRelay;
const daemons: TestDaemon[] = [];

beforeAll(async () => {
  relay = await startRelay();
  while (daemons.length < held) daemons.push(...(await Promise.all([1, 2, 3, 4, 5].map(() => connectDaemon(relay)))));
}, 60_000);
afterAll(() => relay.stop());

it('lets daemons go that are more than the share of a gateway, and sends each on once', async () => {
  const [{ backplane }] = relay.gateways as [TestRelay['gateways'][number]];
  // Thirty gateways that hold nothing count themselves in, for as long as it takes.
  const others = setInterval(() => {
    const window = Math.floor(Date.now() / windowMs);
    void backplane.once('test', [String(window)], 60_000).then((first) => {
      if (first) void backplane.count(`balance ${window}`, 30, 4 * windowMs);
    });
  }, 100);
  try {
    const gone = await Promise.race(
      daemons.map(async (daemon) => {
        expect(await daemon.closed).toMatchObject({ code: 1001 });
        return daemon;
      }),
    );
    const { refreshToken, deviceId } = gone.registration;
    const headers = { Authorization: `Bearer ${refreshToken}`, 'X-Device-ID': deviceId };
    expect(await knock(relay, headers)).toMatchObject({ status: 503, body: { code: 'GATEWAY_FULL' } });
    expect(await knock(relay, headers)).toMatchObject({ status: 101 });
  } finally {
    clearInterval(others);
  }
}, 60_000);
