import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Registration, type TestRelay, connectDaemon, registerDevice, startRelay } from '@relay/testing';
import { readTask } from './conversation.ts';
import { knock } from './knock.ts';
import { type OutageDatabase, openOutageDatabase } from './outage-database.ts';

describe('the upgrade to /ws/daemon', () => {
  let database: OutageDatabase;
  let relay: TestRelay;
  let device: Registration;

  const headersOf = (registration: Registration, more: Record<string, string | undefined> = {}) => ({
    Authorization: `Bearer ${registration.refreshToken}`,
    'X-Device-ID': registration.deviceId,
    'X-Agent-Type': registration.agentType,
    'X-Daemon-Version': '1.0.0',
    ...more,
  });
  const refusedWith = (status: number, code: string) => ({
    status,
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: { status, code, error: expect.stringMatching(/\w/) },
  });

  beforeAll(async () => {
    database = await openOutageDatabase();
    relay = await startRelay({ database, gateways: 2 });
    device = await registerDevice(relay);
  });
  afterAll(async () => {
    await relay.stop();
    await database.close();
  });

  it('lets a daemon in with the four headers of the specification', async () => {
    expect(await knock(relay, headersOf(device))).toMatchObject({ status: 101 });
  });

  it('lets it in without X-Agent-Type and X-Daemon-Version: the record knows the type', async () => {
    const headers = headersOf(device, { 'X-Agent-Type': undefined, 'X-Daemon-Version': undefined });
    expect(await knock(relay, headers)).toMatchObject({ status: 101 });
    expect(await knock(relay, headersOf(device, { 'X-Agent-Type': '' }))).toMatchObject({ status: 101 });
  });

  it('lets it in with headers of other releases', async () => {
    const headers = headersOf(device, { 'X-Daemon-Capabilities': 'auto-update', 'X-Something': 'new' });
    expect(await knock(relay, headers)).toMatchObject({ status: 101 });
  });

  it('K2: answers 404 for an upgrade at any path but /ws/daemon', async () => {
    for (const path of ['/', '/ws', '/ws/attention', '/ws/daemon/', '/ws/daemons', '//ws/daemon'])
      expect(await knock(relay, headersOf(device), { path })).toMatchObject(refusedWith(404, 'NOT_FOUND'));
    expect(await knock(relay, headersOf(device), { path: '/ws/daemon?from=field' })).toMatchObject({ status: 101 });
  });

  it('takes the type from the record for the sessions of a daemon without a declared type', async () => {
    const daemon = await connectDaemon(relay, { agentType: 'quiet_agent', headers: { 'X-Agent-Type': '' } });
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'go' } });
    expect(created.body.agentType).toBe('quiet_agent');
    await daemon.next('task_start');
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ['no credential', { Authorization: undefined }, 'UNAUTHORIZED'],
    ['another scheme', { Authorization: 'Basic YWxpY2U6c2VjcmV0' }, 'UNAUTHORIZED'],
    ['an empty token', { Authorization: 'Bearer ' }, 'UNAUTHORIZED'],
    ['no X-Device-ID', { 'X-Device-ID': undefined }, 'UNAUTHORIZED'],
    ['an empty X-Device-ID', { 'X-Device-ID': ' ' }, 'UNAUTHORIZED'],
    ['garbage', { Authorization: 'Bearer garbage' }, 'INVALID_TOKEN'],
    ['a token with a typing error', { Authorization: `Bearer rly_drt_${'A'.repeat(43)}000000` }, 'INVALID_TOKEN'],
    ['an unknown device', { 'X-Device-ID': '01J00000000000000000000000' }, 'INVALID_TOKEN'],
    ['a device id that cannot be one', { 'X-Device-ID': "x' OR 1=1:--" }, 'INVALID_TOKEN'],
  ])('refuses %s with 401', async (_, headers, code) => {
    expect(await knock(relay, headersOf(device, headers))).toMatchObject(refusedWith(401, code));
  });

  it('refuses the token of another device with 401, of the same user too', async () => {
    for (const user of ['alice', 'bob']) {
      const other = await registerDevice(relay, { user });
      const headers = headersOf(other, { 'X-Device-ID': device.deviceId });
      expect(await knock(relay, headers)).toMatchObject(refusedWith(401, 'INVALID_TOKEN'));
    }
  });

  it("refuses a user's access token with 401", async () => {
    const headers = headersOf(device, { Authorization: `Bearer ${relay.token('alice')}` });
    expect(await knock(relay, headers)).toMatchObject(refusedWith(401, 'INVALID_TOKEN'));
  });

  it('refuses a removed device with 401, at once and on every instance', async () => {
    const removed = await registerDevice(relay);
    // Both have looked it up a moment ago.
    for (const gateway of [0, 1]) await knock(relay, headersOf(removed), { gateway });
    await relay.call('deleteDevice', { params: { id: removed.deviceId } });
    for (const gateway of [0, 1])
      expect(await knock(relay, headersOf(removed), { gateway })).toMatchObject(refusedWith(401, 'TOKEN_REVOKED'));
  });

  it('refuses an agent type that contradicts the record with 403', async () => {
    expect(await knock(relay, headersOf(device, { 'X-Agent-Type': 'another' }))).toMatchObject(
      refusedWith(403, 'FORBIDDEN'),
    );
    expect(await knock(relay, headersOf(device, { 'X-Agent-Type': 'SCRIPTED' }))).toMatchObject(
      refusedWith(403, 'FORBIDDEN'),
    );
  });

  it('does not reveal the type of a device without a credential', async () => {
    const headers = headersOf(device, { Authorization: 'Bearer garbage', 'X-Agent-Type': 'another' });
    expect(await knock(relay, headers)).toMatchObject(refusedWith(401, 'INVALID_TOKEN'));
  });

  it('refuses an invalid WebSocket handshake, also in JSON', async () => {
    expect(await knock(relay, headersOf(device, { 'Sec-WebSocket-Key': 'short' }))).toMatchObject(
      refusedWith(400, 'INVALID_REQUEST'),
    );
    expect(await knock(relay, headersOf(device, { 'Sec-WebSocket-Version': '7' }))).toMatchObject(
      refusedWith(400, 'INVALID_REQUEST'),
    );
    expect(await knock(relay, headersOf(device), { method: 'POST' })).toMatchObject(
      refusedWith(405, 'METHOD_NOT_ALLOWED'),
    );
  });

  it('answers 503 and never 401 when a credential lookup fails', async () => {
    const fresh = await registerDevice(relay);
    database.setDown(true);
    try {
      const answer = await knock(relay, headersOf(fresh));
      expect(answer).toMatchObject(refusedWith(503, 'SERVICE_UNAVAILABLE'));
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    } finally {
      database.setDown(false);
    }
    expect(await knock(relay, headersOf(fresh))).toMatchObject({ status: 101 });
  });

  it('answers 503 with Retry-After while it drains, and the other instance takes the daemon', async () => {
    const other = await startRelay({ gateways: 2 });
    try {
      const daemon = await connectDaemon(other);
      await other.gateways[0]!.gateway.drain(0);
      expect(await daemon.closed).toEqual({ code: 1001, reason: 'going away' });
      const answer = await knock(other, headersOf(daemon.registration));
      expect(answer).toMatchObject(refusedWith(503, 'SERVICE_UNAVAILABLE'));
      expect(answer.headers['retry-after']).toBe('1');
      const again = await connectDaemon(other, { registration: daemon.registration, gateway: 1 });
      const created = await other.call('createSession', { body: { deviceId: daemon.deviceId, message: 'go' } });
      await again.next('task_start');
      expect(await readTask(other, created.body.taskId)).toMatchObject({ state: 'sent' });
    } finally {
      await other.stop();
    }
  });

  it('slows down a device that connects again and again: the newest attempt wins, the others get 503', async () => {
    const flapping = await registerDevice(relay);
    const connect = () => connectDaemon(relay, { registration: flapping });
    for (let count = 0; count < 10; count += 1) await connect();
    // The eleventh waits for its turn; each newer attempt replaces it.
    const attempts = [connect(), connect(), connect(), connect()];
    const results = await Promise.allSettled(attempts);
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(3);
    for (const { reason } of refused) {
      expect(reason).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
      expect(Number((reason as { headers: Record<string, string> }).headers['retry-after'])).toBeGreaterThan(0);
    }
    // Other devices do not feel it.
    expect(await knock(relay, headersOf(await registerDevice(relay)))).toMatchObject({ status: 101 });
  });
});
