/** A user's limits hold for concurrent requests, on several instances and for several devices. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { watchSession } from '@relay/database';
import { Authenticator, Browser, type TestRelay, connectDaemon, registerDevice, startRelay } from '@relay/testing';
import { until } from './until.ts';

const many = 24;
const atOnce = <T>(work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: many }, (_, index) => work(index)));

describe('concurrently', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    const rates = {
      rateLimitPerMinute: 10_000,
      sessionCreatePerMinute: 10_000,
      signInPerMinute: 10_000,
      agentTurnsPerHour: 1000,
    };
    relay = await startRelay({
      apis: 2,
      identity: true,
      config: { ...rates, invitationsPerUser: 5, devicesPerUser: 6 },
    });
  });
  afterAll(() => relay.stop());

  const tool = async (api: number, name: string, given: object) => {
    const token = relay.token('ann', { scopes: ['agents:drive'] });
    const headers = { Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}` };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const answer = await relay.call('POST', '/mcp', { api, user: null, headers, body });
    return (answer.body as { result: { structuredContent: Record<string, unknown> } }).result.structuredContent;
  };

  it('S10: agents start eight turns, on any device and instance, and cannot continue in them', async () => {
    const devices: { deviceId: string }[] = [];
    for (let n = 0; n < 4; n += 1) devices.push(await registerDevice(relay, { user: 'ann' }));
    const started = await atOnce((n) =>
      tool(n % 2, 'start_session', { deviceId: devices[n % 4]!.deviceId, message: 'go' }),
    );
    const ids = started.flatMap(({ sessionId }) => (typeof sessionId === 'string' ? [sessionId] : []));
    expect(ids).toHaveLength(8);
    expect(new Set(started.map(({ code }) => code))).toEqual(new Set([undefined, 'TOO_MANY_AGENT_TURNS']));
    const sent = await atOnce((n) => tool(n % 2, 'send_message', { sessionId: ids[n % 8], content: 'more' }));
    expect(new Set(sent.map(({ code }) => code))).toEqual(new Set(['TOO_MANY_AGENT_TURNS']));
    // A cancelled turn makes room for another.
    await relay.database.sql
      .execute`UPDATE tasks SET state = 'cancelled', finished_at = now() WHERE id = ${String(started.find(({ taskId }) => taskId)!['taskId'])}`;
    const again = await atOnce((n) =>
      tool(n % 2, 'start_session', { deviceId: devices[n % 4]!.deviceId, message: 'go' }),
    );
    expect(again.filter(({ sessionId }) => sessionId)).toHaveLength(1);
  });

  it('S10: a user creates invitations up to the limit', async () => {
    const browser = new Browser(relay);
    await browser.signUp('inviting@example.com');
    const answers = await atOnce(() => browser.send('POST', '/auth/relay/invitations', { body: {} }));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(new Set(answers.map(({ body }) => (body as { code?: string }).code))).toEqual(
      new Set([undefined, 'TOO_MANY_INVITATIONS']),
    );
  });

  it('S10: a user adds at most 20 passkeys', async () => {
    const browser = new Browser(relay);
    const id = await browser.signUp('keys@example.com');
    expect((await new Authenticator().register(browser)).status).toBe(200);
    await relay.database.sql.execute`
      INSERT INTO passkeys (id, public_key, user_id, credential_id, counter, device_type, backed_up)
      SELECT id || n, public_key, user_id, credential_id || n, counter, device_type, backed_up
      FROM passkeys, generate_series(1, 17) n WHERE user_id = ${id}`;
    const browsers = Array.from({ length: 6 }, () => new Browser(relay));
    for (const one of browsers) await one.signIn('keys@example.com');
    await Promise.all(browsers.map((one) => new Authenticator().register(one)));
    expect(await relay.database.models.passkey.count({ where: { userId: id } })).toBeLessThanOrEqual(20);
  });

  it('S10: a user watches sessions up to the limit', async () => {
    const daemon = await connectDaemon(relay, { user: 'wes' });
    daemon.send({
      type: 'report_sessions',
      sessions: Array.from({ length: many }, (_, n) => ({
        session_id: `w-${n}`,
        title: 't',
        project_path: '',
        message_count: 1,
        status: 'idle',
      })),
    });
    const [owner] = await relay.database.sql.query<{
      owner_id: string;
    }>`SELECT owner_id FROM devices WHERE id = ${daemon.deviceId}`;
    const userId = owner!.owner_id;
    const keys = async () =>
      relay.database.sql.query<{ key: string }>`SELECT key FROM sessions WHERE owner_id = ${userId}`;
    await until('all are reported', async () => (await keys()).length >= many);
    const all = await keys();
    const results = await atOnce((n) =>
      relay.database.sql.transaction((tx) => watchSession(tx, userId, all[n]!.key, 7)),
    );
    expect(results.filter((one) => one === 'first')).toHaveLength(7);
    expect(results.filter((one) => one === 'full')).toHaveLength(many - 7);
  });

  it('S10: a user approves machines up to the limit', async () => {
    const codes = [];
    for (let n = 0; n < 12; n += 1)
      codes.push(
        (await relay.call('requestCode', { user: null, body: { hostname: `h${n}`, agent_type: 'a' } })).body.user_code,
      );
    const answers = await Promise.all(
      codes.map((userCode, n) => relay.call('approveCode', { api: n % 2, user: 'dan', params: { userCode } })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(6);
  });
});
