/**
 * Usage figures of a machine by day: the api asks the daemon, wherever it is connected, and forwards its answer to the
 * app.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { expectRefusal } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';

describe('§2: GET /api/devices/:id/usage', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  beforeAll(async () => {
    relay = await startRelay({ apis: 2, gateways: 2 });
    daemon = await connectDaemon(relay, { gateway: 1, headers: { 'X-Daemon-Capabilities': 'spending' } });
  });
  afterAll(() => relay.stop());

  itAsksForCredentials(() => relay, 'readUsage');

  const march = { from: '2026-03-01', to: '2026-03-30', zone: 'Europe/Paris' };
  const read = (query: Record<string, string> = march, options: { user?: string; id?: string } = {}) =>
    relay.call('readUsage', { params: { id: options.id ?? daemon.deviceId }, query, ...(options.user ? { user: options.user } : {}) }); // prettier-ignore
  const answer = async (fields: object) => {
    const request = await daemon.next('spending_request');
    daemon.send({ type: 'spending_response', request_id: request.request_id, ...fields });
    return request;
  };
  const since = '2026-01-02T08:00:00.000Z';
  const figures = { day: '2026-03-14', turns: 3, cost: { amount: 1.42, currency: 'USD' }, tokens: 41_200 };

  it("returns the daemon's figures, from any instance", async () => {
    const asked = read();
    const odd = { day: '2026-03-15', agent_type: 'codex', turns: 1, cost: { amount: 1e9, currency: 'USD' } };
    const request = await answer({ days: [{ ...figures, agent_type: 'claude_code' }, odd], since });
    expect(request).toMatchObject(march);
    const { status, body } = await asked;
    expect([status, body]).toEqual([
      200,
      {
        deviceId: daemon.deviceId,
        // The relay omits an impossible cost.
        days: [
          { ...figures, agentType: 'claude_code' },
          { day: '2026-03-15', agentType: 'codex', turns: 1 },
        ],
        since,
      },
    ]);
  });

  it('never mixes two simultaneous ranges', async () => {
    const [march1, march2] = [
      read({ ...march, to: '2026-03-01' }),
      read({ ...march, from: '2026-03-02', to: '2026-03-02' }),
    ];
    for (let n = 0; n < 2; n++) {
      const { request_id: requestId, from } = await daemon.next('spending_request');
      daemon.send({ type: 'spending_response', request_id: requestId, days: [{ ...figures, day: from, agent_type: 'codex' }], since }); // prettier-ignore
    }
    expect([(await march1).body, (await march2).body]).toMatchObject([
      { days: [{ day: '2026-03-01' }] },
      { days: [{ day: '2026-03-02' }] },
    ]);
  });

  it('refuses a range of other than 1 to 92 days, and an unknown time zone', async () => {
    for (const query of [
      { ...march, to: '2026-02-28' },
      { ...march, to: '2026-06-01' },
      { ...march, from: '2026-02-31x' },
      { ...march, from: 'Mar 1 2026' },
      { ...march, from: '2026-13-01' },
      { ...march, zone: 'Mars/Olympus' },
    ])
      expectRefusal(await read(query), 'INVALID_REQUEST');
    const longest = read({ ...march, to: '2026-05-31' });
    await answer({ days: [], since });
    expect((await longest).body).toMatchObject({ days: [] });
  });

  it("refuses a daemon without figures, another user's device, an invalid answer, and an offline device", async () => {
    const plain = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'usage' } });
    expectRefusal(await read(march, { id: plain.deviceId }), 'NOT_SUPPORTED_BY_DEVICE');
    expectRefusal(await read(march, { user: 'bob' }), 'DEVICE_NOT_FOUND');
    const broken = read();
    await answer({ error: 'the disk is on fire' });
    expectRefusal(await broken, 'DEVICE_ERROR');
    await daemon.close();
    expectRefusal(await read(), 'DEVICE_OFFLINE');
    expect(plain.inbox.count('spending_request')).toBe(0);
  });
});
