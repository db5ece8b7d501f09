import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type FieldDaemon,
  type TestRelay,
  type TokenOptions,
  connectDaemon,
  registerDevice,
  startFieldDaemon,
  startRelay,
} from '@relay/testing';
import { expectLimitHeaders } from '../answers.ts';
import { until } from '../until.ts';

const accept = { Accept: 'application/json, text/event-stream' };
const agent: TokenOptions = { scopes: ['agents:drive'] };
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

interface Options {
  api?: number;
  user?: string;
  meta?: object;
}

/** Tool calls by plain POSTs, each to the given api. */
function agentOf(relay: TestRelay) {
  const post = (body: object, { api = 0, token = relay.token('alice', agent) } = {}) =>
    relay.call('POST', '/mcp', { api, user: null, headers: { ...accept, Authorization: `Bearer ${token}` }, body });
  const tool = async (name: string, given: object = {}, { api = 0, user = 'alice', meta }: Options = {}) => {
    const params = { name, arguments: given, ...(meta ? { _meta: meta } : {}) };
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params };
    const { status, body } = await post(call, { api, token: relay.token(user, agent) });
    expect(status).toBe(200);
    return (body as { result: { isError?: boolean; structuredContent: Record<string, unknown> } }).result;
  };
  return { post, tool };
}

describe('POST /mcp', () => {
  let relay: TestRelay;
  let daemon: FieldDaemon;
  beforeAll(async () => {
    relay = await startRelay({ apis: 2 });
    daemon = await startFieldDaemon(relay);
  });
  afterAll(async () => {
    await daemon.stop();
    await relay.stop();
  });

  it('shows a client without a credential where to get one', async () => {
    const answer = await relay.call('POST', '/mcp', { user: null, headers: accept, body: list });
    expect(answer).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer scope="agents:drive", resource_metadata="http://localhost:4000/.well-known/oauth-protected-resource/mcp"',
    );
    expectLimitHeaders(answer);
    const { body } = await relay.call('GET', '/.well-known/oauth-protected-resource/mcp', { user: null });
    expect(body).toMatchObject({ resource: 'http://localhost:4000/mcp', scopes_supported: ['agents:drive'] });
    const bad = await agentOf(relay).post(list, { token: 'garbage' });
    expect(bad.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token", .*resource_metadata=/);
  });

  it("refuses a token without the agents' scope", async () => {
    const answer = await agentOf(relay).post(list, { token: relay.token('alice') });
    expect(answer).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } });
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="insufficient_scope", scope="agents:drive", /);
    // And the reverse.
    const rest = { user: null, headers: { Authorization: `Bearer ${relay.token('alice', agent)}` } };
    expect(await relay.call('GET', '/api/devices', rest)).toMatchObject({ status: 403 });
  });

  it('refuses a device credential', async () => {
    const { refreshToken } = await registerDevice(relay);
    expect(await agentOf(relay).post(list, { token: refreshToken })).toMatchObject({
      status: 403,
      body: { code: 'DEVICE_TOKEN_NOT_ALLOWED' },
    });
  });

  it('S14: refuses every request from a page of another origin', async () => {
    const headersOf = (origin: string) => ({
      ...accept,
      Origin: origin,
      Authorization: `Bearer ${relay.token('alice', agent)}`,
    });
    for (const origin of [
      'https://evil.example',
      'null',
      'http://localhost:4001',
      'http://127.0.0.1:4000',
      'https://localhost:4000',
      'http://localhost:4000.evil.example',
    ])
      for (const method of ['POST', 'GET', 'DELETE'] as const) {
        const answer = await relay.call(method, '/mcp', {
          user: null,
          headers: headersOf(origin),
          ...(method === 'POST' ? { body: list } : {}),
        });
        expect([origin, answer.status, answer.body]).toEqual([
          origin,
          403,
          expect.objectContaining({ code: 'ORIGIN_NOT_ALLOWED' }),
        ]);
      }
    for (const own of [new URL(relay.config.publicUrl).origin])
      expect((await relay.call('POST', '/mcp', { user: null, headers: headersOf(own), body: list })).status).toBe(200);
  });

  it.each(['GET', 'DELETE'] as const)('has neither sessions nor streams: %s is 405', async (method) => {
    const answer = await relay.call(method, '/mcp', { user: null, headers: accept });
    expect(answer).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } });
    expect(answer.headers['allow']).toBe('POST');
  });

  it('has the size limit of a REST request, and accepts only JSON', async () => {
    const large = { ...list, params: { text: 'x'.repeat(1024 * 1024) } };
    expect(await agentOf(relay).post(large)).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
    const headers = { ...accept, Authorization: `Bearer ${relay.token('alice', agent)}`, 'Content-Type': 'text/plain' };
    expect(await relay.call('POST', '/mcp', { user: null, headers, raw: 'tools/list' })).toMatchObject({ status: 415 });
  });

  it('needs no handshake: each request is complete, and any instance serves it', async () => {
    for (const api of [0, 1]) {
      const { status, body } = await agentOf(relay).post(list, { api });
      expect(status).toBe(200);
      expect((body as { result: { tools: unknown[] } }).result.tools).toHaveLength(9);
    }
  });

  it('answers wrong arguments as a tool error, with a code and the field', async () => {
    const { tool } = agentOf(relay);
    expect(await tool('start_session', { deviceId: daemon.deviceId })).toMatchObject({
      isError: true,
      structuredContent: { code: 'INVALID_REQUEST', error: expect.stringContaining('"message" is required') },
    });
    expect(await tool('cancel', { sessionid: 'x' })).toMatchObject({ structuredContent: { code: 'INVALID_REQUEST' } });
    expect(await tool('delete_everything')).toMatchObject({ structuredContent: { code: 'NOT_FOUND' } });
  });

  it('43: passes settings of a new session to the daemon, with the restrictions of agents', async () => {
    const { tool } = agentOf(relay);
    const laptop = await connectDaemon(relay, { capabilities: ['controls'] });
    // The socket opens before the relay stores the capabilities of the daemon.
    await until('the laptop is online', async () =>
      (await relay.call('listDevices')).body.devices.some(
        ({ id, status }) => id === laptop.deviceId && status === 'online',
      ),
    );
    const settings = [{ id: 'mode', value: 'plan' }];
    await tool('start_session', { deviceId: laptop.deviceId, message: 'go', settings });
    const frame = await laptop.next('task_start');
    expect(frame).toMatchObject({ settings, restricted: 'agent' });
    laptop.event(frame.task_id as string, 'TASK_COMPLETE', { session_id: 'planned', result: 'done' });
    await laptop.close();
  });

  it('completes a wait on one instance when the daemon reports to another, and when its own instance drains', async () => {
    const { tool } = agentOf(relay);
    const { structuredContent: started } = await tool('start_session', { deviceId: daemon.deviceId, message: 'go' });
    const task = await daemon.nextTask();
    const turn = { sessionId: started['sessionId'], taskId: started['taskId'] };
    const waits = [tool('wait_for_turn', turn, { api: 1 }), tool('wait_for_turn', turn, { api: 0 })];
    await relay.apis[1]!.api.drain(0);
    expect((await waits[0])!.structuredContent).toMatchObject({ state: expect.stringMatching(/queued|running/) });
    daemon.finish(task, 'done');
    expect((await waits[1])!.structuredContent).toMatchObject({ state: 'completed', result: 'done' });
  });

  it('writes agent actions into the audit of their user', async () => {
    const { tool } = agentOf(relay);
    const { structuredContent: started } = await tool('start_session', { deviceId: daemon.deviceId, message: 'note' });
    daemon.finish(await daemon.nextTask(), 'noted');
    await tool('wait_for_turn', { sessionId: started['sessionId'] });
    // The turn gives the session, and the entry, another id.
    const former = encodeURIComponent(started['sessionId'] as string);
    const { body: session } = await relay.call('GET', `/api/sessions/${former}`);
    const { body } = await relay.call('GET', '/api/me/audit');
    expect((body as { entries: object[] }).entries[0]).toMatchObject({
      action: 'createSession',
      outcome: 'done',
      target: (session as { id: string }).id,
    });
  });

  it('cuts long texts of a page, and returns where to continue', async () => {
    const { tool } = agentOf(relay);
    const { structuredContent: started } = await tool('start_session', { deviceId: daemon.deviceId, message: 'much' });
    const task = await daemon.nextTask();
    daemon.finish(task, ...Array.from({ length: 8 }, (_, n) => `${n}`.repeat(20_000)));
    await tool('wait_for_turn', { sessionId: started['sessionId'] });
    const { structuredContent: page } = await tool('read_messages', { sessionId: started['sessionId'] });
    const messages = page['messages'] as { uuid: string; content: string; truncated?: boolean }[];
    expect(messages.map(({ content }) => content[0])).toEqual(['4', '5', '6', '7']);
    for (const { content, truncated } of messages) expect([content.length, truncated]).toEqual([16 * 1024, true]);
    expect(page).toMatchObject({ hasMore: true, oldestUuid: messages[0]!.uuid });
    const before = { sessionId: started['sessionId'], before: messages[0]!.uuid };
    const { structuredContent: earlier } = await tool('read_messages', before);
    expect((earlier['messages'] as { content: string }[]).at(-1)!.content[0]).toBe('3');
  });
});

describe('agents that start agents', () => {
  let relay: TestRelay;
  let daemon: FieldDaemon;
  beforeAll(async () => {
    relay = await startRelay({ apis: 2, config: { agentTurnsPerHour: 12 } });
  });
  afterAll(() => relay.stop());

  it('are refused below the third level; a user who takes part starts a new chain', async () => {
    daemon = await startFieldDaemon(relay, { user: 'ann' });
    const { tool } = agentOf(relay);
    const start = async (given: object, meta?: object) =>
      tool(
        'start_session',
        { deviceId: daemon.deviceId, message: 'go', ...given },
        { user: 'ann', ...(meta && { meta }) },
      );
    let from: string | undefined;
    const chain: string[] = [];
    for (let depth = 1; depth <= 3; depth += 1) {
      const { structuredContent } = await start(from === undefined ? {} : { fromSession: from });
      from = structuredContent['sessionId'] as string;
      await daemon.nextTask();
      chain.push(from);
    }
    const refused = { isError: true, structuredContent: { code: 'AGENT_CHAIN_TOO_DEEP' } };
    expect(await start({ fromSession: from })).toMatchObject(refused);
    // A client that knows the session sends it in the metadata, which overrides the model's argument.
    expect(await start({ fromSession: chain[0] }, { 'relay/session': from })).toMatchObject(refused);
    expect(await start({ fromSession: chain[0] })).not.toHaveProperty('isError');
    await daemon.nextTask();
    // Another user's session does not exist for this one.
    expect(
      await tool('start_session', { deviceId: 'x', message: 'y', fromSession: from }, { user: 'bob' }),
    ).toMatchObject({
      structuredContent: { code: 'SESSION_NOT_FOUND' },
    });
    await daemon.stop();
  });

  it('can have eight open turns at a time, on all instances together', async () => {
    daemon = await startFieldDaemon(relay, { user: 'eva' });
    const { tool } = agentOf(relay);
    const start = (api: number, more: object = {}) =>
      tool('start_session', { deviceId: daemon.deviceId, message: 'go', ...more }, { user: 'eva', api });
    const key = (open: number) => ({ idempotencyKey: `turn ${open}` });
    const started: object[] = [];
    for (let open = 0; open < 8; open += 1) started.push((await start(open % 2, key(open))).structuredContent);
    expect(started).toEqual(Array.from({ length: 8 }, () => expect.objectContaining({ state: 'queued' })));
    expect(await start(1)).toMatchObject({ isError: true, structuredContent: { code: 'TOO_MANY_AGENT_TURNS' } });
    // A repeated call runs once and counts once; another call under its key conflicts.
    expect((await start(0, key(7))).structuredContent).toEqual(started[7]);
    const other = await start(0, { ...key(7), message: 'something else' });
    expect(other).toMatchObject({ isError: true, structuredContent: { code: 'IDEMPOTENCY_CONFLICT' } });
    const task = await daemon.nextTask();
    daemon.finish(task, 'done');
    const sessionId = `${daemon.deviceId}:field_agent:${task.native}`;
    const waited = await tool('wait_for_turn', { sessionId }, { user: 'eva' });
    expect(waited.structuredContent).toMatchObject({ state: 'completed' });
    expect(await start(0)).not.toHaveProperty('isError');
    await daemon.stop();
  });

  it('leave no audit entry for refusals by the limit of new sessions', async () => {
    const strict = await startRelay({ config: { sessionCreatePerMinute: 2 } });
    const { tool } = agentOf(strict);
    const start = async () =>
      (await tool('start_session', { deviceId: 'none', message: 'go' })).structuredContent['code'];
    expect([await start(), await start(), await start()]).toEqual([
      ...['DEVICE_NOT_FOUND', 'DEVICE_NOT_FOUND'],
      'RATE_LIMITED',
    ]);
    const { entries } = (await strict.call('listAudit')).body;
    expect(entries).toEqual([expect.objectContaining({ outcome: 'DEVICE_NOT_FOUND', times: 2 })]);
    await strict.stop();
  });

  it('stop at the hourly limit of turns, also without a declared session', async () => {
    daemon = await startFieldDaemon(relay, { user: 'ida', work: () => ['done'] });
    const { tool } = agentOf(relay);
    const start = (api: number) =>
      tool('start_session', { deviceId: daemon.deviceId, message: 'go' }, { user: 'ida', api });
    for (let turn = 0; turn < 12; turn += 1) {
      const { structuredContent } = await start(turn % 2);
      const turnOf = { sessionId: structuredContent['sessionId'], taskId: structuredContent['taskId'] };
      expect((await tool('wait_for_turn', turnOf, { user: 'ida' })).structuredContent).toMatchObject({
        state: 'completed',
      });
    }
    expect(await start(0)).toMatchObject({
      isError: true,
      structuredContent: { code: 'TOO_MANY_AGENT_TURNS', retryAfter: expect.any(Number) },
    });
    const { entries } = (await relay.call('listAudit', { user: 'ida' })).body;
    const outcomes = entries.flatMap(({ action, outcome }) => (action === 'createSession' ? outcome : []));
    expect(outcomes).toEqual(Array.from({ length: 12 }, () => 'done'));
    // Their user is not limited.
    const body = { deviceId: daemon.deviceId, message: 'mine' };
    expect(await relay.call('createSession', { user: 'ida', body })).toMatchObject({ status: 201 });
    await daemon.stop();
  });
});
