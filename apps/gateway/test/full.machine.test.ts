import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Registration,
  type TestRelay,
  connectDaemon,
  freePort,
  registerDevice,
  startHaProxy,
  startRelay,
} from '@relay/testing';
import { wantsPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import { windowMs } from '../src/door/balance.ts';
import { knock } from './knock.ts';

const most = 4;

const headersOf = ({ refreshToken, deviceId }: Registration) => ({
  Authorization: `Bearer ${refreshToken}`,
  'X-Device-ID': deviceId,
});

/** Two gateways, the first of them full. */
async function openFull(): Promise<TestRelay> {
  const relay = await startRelay({ gateways: 2, config: { maxConnections: most } });
  for (let n = 0; n < most; n += 1) await connectDaemon(relay, { gateway: 0 });
  return relay;
}

describe('a gateway that is full', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await openFull();
  });
  afterAll(() => relay.stop());

  it('refuses one more with when to try again, before it looks at a credential, and another gateway takes it', async () => {
    const refused = await knock(relay, {});
    expect(refused).toMatchObject({ status: 503, body: { code: 'GATEWAY_FULL', status: 503 } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(await knock(relay, headersOf(await registerDevice(relay)), { gateway: 1 })).toMatchObject({ status: 101 });
  });
});

it('a released daemon is redirected once, which does not count as a refusal', async () => {
  const relay = await startRelay({ config: { sweepIntervalMs: 100 } });
  try {
    const [{ backplane, metrics }] = relay.gateways as [(typeof relay.gateways)[number]];
    const daemons = [];
    while (daemons.length < 60) daemons.push(await connectDaemon(relay));
    // Ten gateways without a daemon, in this window and the next ones.
    const now = Math.floor(Date.now() / windowMs);
    for (const window of [-1, 0, 1, 2]) await backplane.count(`balance ${now + window}`, 10, 10 * windowMs);
    const gone = await Promise.race(daemons.map((daemon) => daemon.closed.then(() => daemon)));
    expect((await gone.closed).code).toBe(1001);
    expect(await knock(relay, headersOf(gone.registration))).toMatchObject({
      status: 503,
      body: { code: 'GATEWAY_FULL' },
    });
    expect(await knock(relay, headersOf(gone.registration))).toMatchObject({ status: 101 });
    const text = await metrics.text();
    expect(text).toMatch(/^relay_daemon_let_go_total\{.*\} [1-9]/m);
    expect(text).not.toMatch(/^relay_daemon_refusals_total\{/m);
  } finally {
    await relay.stop();
  }
});

// The embedded database has one connection, and a credential check would wait for it.
if (wantsPostgres())
  it('a gateway is full only at its limit, however many arrive at once', async () => {
    const relay = await startRelay({ config: { maxConnections: most } });
    try {
      const devices = await Promise.all(Array.from({ length: most + 1 }, () => registerDevice(relay)));
      await relay.database.models.$transaction(
        async (tx) => {
          // No connection becomes the owner of its device until this commits.
          await tx.$queryRaw`SELECT 1 FROM devices FOR UPDATE`;
          const statuses = [];
          for (const device of devices) statuses.push((await knock(relay, headersOf(device))).status);
          expect(statuses).toEqual([...Array<number>(most).fill(101), 503]);
        },
        { timeout: 60_000 },
      );
    } finally {
      await relay.stop();
    }
  });

describeWith(['haproxy', 'openssl'], 'HAProxy before a gateway that is full', () => {
  it('answers JSON with a code by itself when no instance does, and to strangers who ask for /ready', async () => {
    const port = await freePort();
    const haproxy = await startHaProxy({ apis: [port], gateways: [port], plain: true });
    try {
      for (const path of ['/api/me', '/ws/daemon']) {
        const response = await fetch(`${haproxy.url}${path}`);
        expect(response.headers.get('Content-Type')).toBe('application/json');
        expect([response.status, await response.json()]).toEqual([
          503,
          { error: expect.any(String), code: 'SERVICE_UNAVAILABLE', status: 503 },
        ]);
      }
      const hidden = await fetch(`${haproxy.url}/ready`);
      expect(hidden.headers.get('Content-Type')).toBe('application/json');
      expect([hidden.status, await hidden.json()]).toEqual([
        404,
        { error: 'Not found.', code: 'NOT_FOUND', status: 404 },
      ]);
    } finally {
      await haproxy.stop();
    }
  });

  it('brings every daemon to the other one', async () => {
    const relay = await openFull();
    const ports = relay.gateways.map(({ url }) => Number(new URL(url).port));
    const haproxy = await startHaProxy({ apis: ports, gateways: ports, plain: true });
    try {
      const edge = { gateways: [{ url: haproxy.url }] } as unknown as TestRelay;
      const statuses = [];
      for (let n = 0; n < 8; n += 1) statuses.push((await knock(edge, headersOf(await registerDevice(relay)))).status);
      expect(statuses).toEqual(Array(8).fill(101));
    } finally {
      await haproxy.stop();
      await relay.stop();
    }
  });
});
