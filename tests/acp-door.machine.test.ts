/**
 * Promise: `/acp/<deviceId>` admits permitted clients, gives a reason to all others, and works with several clients,
 * slow readers and expiring credentials. Two apis and two gateways in one process, real sockets, the client of the SDK.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type TestRelay, UpgradeRefused, registerDevice, startRelay } from '@relay/testing';
import { choose, prompt, words } from './acp-rows.ts';
import { stalledReader } from './acp-stalled-reader.ts';
import { type SocketOptions, acpScene, acpToken, initialize, openAcp } from './acp-scene.ts';
import { add, connectTranscriptDaemon, item, put, set } from './browser/transcript-daemon.ts';

const scene = acpScene();
let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({
    apis: 2,
    gateways: 2,
    config: { slowReaderStallMs: 500, credentialRecheckMs: 200, expiryToleranceMs: 0, socketsPerUser: 12 },
  });
});
afterAll(() => relay.stop());
afterEach(() => scene.clear());

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const refusal = async (device: string, options: SocketOptions & { headers?: Record<string, string> }) => {
  const error = await openAcp(relay, device, options).then(
    () => undefined,
    (refused: unknown) => refused,
  );
  if (!(error instanceof UpgradeRefused)) throw new Error(`not refused: ${String(error)}`);
  return { status: error.status, code: (error.body as { code: string }).code, headers: error.headers };
};
const deviceOf = async (user: string) => (await registerDevice(relay, { user })).deviceId;

describe('permission to connect', () => {
  it('accepts an ACP token in a header or a subprotocol, and gives each connection an id', async () => {
    const device = await deviceOf('ann');
    const { token } = await acpToken(relay, device, { user: 'ann' });
    const ids = new Set<unknown>();
    for (const [options, protocol] of [
      [bearer(token), ''],
      [{ protocols: ['acp.v1', `bearer.${token}`] }, 'acp.v1'],
      [{ protocols: [`bearer.${token}`, 'relay.v1'] }, 'relay.v1'],
    ] as const) {
      const { socket, headers, send, next } = await openAcp(relay, device, options as SocketOptions);
      expect(socket.protocol).toBe(protocol);
      ids.add(headers['acp-connection-id']);
      send(initialize);
      expect(await next(({ id }) => id === 0)).toMatchObject({ result: { protocolVersion: 1 } });
      socket.close();
    }
    expect(ids.size).toBe(3);
    const { tokens } = (await relay.call('listAcpTokens', { user: 'ann' })).body;
    expect(tokens).toMatchObject([{ usedAt: expect.any(String) as unknown }]);
  });

  it('accepts the access token of an app, and a ticket once', async () => {
    const device = await deviceOf('ben');
    const own = await openAcp(relay, device, bearer(relay.token('ben')));
    own.socket.close();
    const { ticket } = (await relay.call('createTicket', { user: 'ben' })).body;
    const once = await openAcp(relay, device, { query: `?ticket=${ticket}` });
    once.socket.close();
    expect(await refusal(device, { query: `?ticket=${ticket}` })).toMatchObject({ status: 401 });
  });

  it('refers a client with a missing or invalid credential to the sign-in', async () => {
    const device = await deviceOf('cai');
    const metadata = `resource_metadata="${relay.config.publicUrl}/.well-known/oauth-protected-resource/acp"`;
    const none = await refusal(device, {});
    expect(none).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect(none.headers['www-authenticate']).toBe(`Bearer ${metadata}`);
    for (const token of [`rly_acp_${'a'.repeat(43)}`, 'no']) {
      const wrong = await refusal(device, bearer(token));
      expect(wrong).toMatchObject({ status: 401, code: 'INVALID_TOKEN' });
      expect(wrong.headers['www-authenticate']).toBe(`Bearer error="invalid_token", ${metadata}`);
    }
    const { status, body } = await relay.call('GET', '/.well-known/oauth-protected-resource/acp', { user: null });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      resource: `${relay.config.publicUrl}/acp`,
      scopes_supported: ['sessions:read', 'sessions:write'],
    });
  });

  it('refuses tokens in the address, two credentials, and pages of other origins', async () => {
    const device = await deviceOf('dee');
    const { token } = await acpToken(relay, device, { user: 'dee' });
    expect(await refusal(device, { query: `?token=${token}` })).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await refusal(device, { query: `?access_token=${token}` })).toMatchObject({ code: 'INVALID_REQUEST' });
    const both = { ...bearer(token), protocols: [`bearer.${token}`] };
    expect(await refusal(device, both)).toMatchObject({ code: 'INVALID_REQUEST' });
    const foreign = { headers: { ...bearer(token).headers, Origin: 'https://evil.example' } };
    expect(await refusal(device, foreign)).toMatchObject({ status: 403, code: 'ORIGIN_NOT_ALLOWED' });
  });

  it('answers 404 for the device of another person, and for any device other than that of the token', async () => {
    const [mine, other, theirs] = [await deviceOf('eli'), await deviceOf('eli'), await deviceOf('foe')];
    const { token } = await acpToken(relay, mine, { user: 'eli' });
    for (const device of [other, theirs, 'no-such-device'])
      expect(await refusal(device, bearer(token))).toMatchObject({ status: 404, code: 'DEVICE_NOT_FOUND' });
    expect(await refusal(theirs, bearer(relay.token('eli')))).toMatchObject({ status: 404, code: 'DEVICE_NOT_FOUND' });
    expect(await refusal(mine, { ...bearer(token), query: '?agent=unknown' })).toMatchObject({
      code: 'AGENT_NOT_OFFERED',
    });
  });

  it('needs the scope to read', async () => {
    const device = await deviceOf('gil');
    const token = relay.token('gil', { scopes: ['sessions:write'] });
    expect(await refusal(device, bearer(token))).toMatchObject({ status: 403, code: 'INSUFFICIENT_SCOPE' });
  });

  it('refuses a client beyond the limit of connections per person', async () => {
    const device = await deviceOf('hal');
    const { token } = await acpToken(relay, device, { user: 'hal' });
    const open = await Promise.all(Array.from({ length: 12 }, () => openAcp(relay, device, bearer(token))));
    expect(await refusal(device, bearer(token))).toMatchObject({ status: 429, code: 'TOO_MANY_CONNECTIONS' });
    for (const { socket } of open) socket.close();
  });
});

describe('a credential that becomes invalid', () => {
  it('closes the connections of a revoked token with 4401, on every api', async () => {
    const device = await deviceOf('ida');
    const { id, token } = await acpToken(relay, device, { user: 'ida' });
    const open = await Promise.all([0, 1].map((api) => openAcp(relay, device, { ...bearer(token), api })));
    expect((await relay.call('revokeAcpToken', { user: 'ida', params: { id } })).status).toBe(204);
    expect(await Promise.all(open.map(({ closed }) => closed))).toEqual([4401, 4401]);
    expect(await refusal(device, bearer(token))).toMatchObject({ status: 401 });
  });

  it('closes the connections of a deleted token without a control message too, and refuses an expired one', async () => {
    const device = await deviceOf('jo');
    const { id, token } = await acpToken(relay, device, { user: 'jo' });
    const open = await openAcp(relay, device, bearer(token));
    await relay.database.models.acpToken.delete({ where: { id } });
    expect(await open.closed).toBe(4401);
    const old = await acpToken(relay, device, { user: 'jo' });
    await relay.database.models.acpToken.update({ where: { id: old.id }, data: { expiresAt: new Date() } });
    expect(await refusal(device, bearer(old.token))).toMatchObject({ status: 401, code: 'INVALID_TOKEN' });
  });

  it('closes the connections to a removed device with 4404', async () => {
    const device = await deviceOf('joy');
    const { token } = await acpToken(relay, device, { user: 'joy' });
    const open = [
      await openAcp(relay, device, bearer(token)),
      await openAcp(relay, device, bearer(relay.token('joy'))),
    ];
    expect((await relay.call('deleteDevice', { user: 'joy', params: { id: device } })).status).toBe(204);
    for (const { closed } of open) expect(await closed).toBe(4404);
    expect(await refusal(device, bearer(token))).toMatchObject({ status: 401 });
  });

  it('closes the connections to a removed device with 4404 without a control message too', async () => {
    const device = await deviceOf('jon');
    const { id, token } = await acpToken(relay, device, { user: 'jon' });
    const open = await openAcp(relay, device, bearer(token));
    await relay.database.sql.execute`
      WITH removed AS (UPDATE devices SET removed_at = now() WHERE id = ${device})
      DELETE FROM acp_tokens WHERE id = ${id}`;
    expect(await open.closed).toBe(4404);
  });

  it('closes the connection of an access token when it expires', async () => {
    const device = await deviceOf('kim');
    const token = relay.token('kim', { expiresInSeconds: 2 });
    expect(await (await openAcp(relay, device, bearer(token))).closed).toBe(4401);
  });
});

describe('messages on the socket', () => {
  const connect = async (user: string) => {
    const device = await deviceOf(user);
    return openAcp(relay, device, bearer((await acpToken(relay, device, { user })).token));
  };

  it('closes the socket when the first message is not initialize', async () => {
    const { send, closed } = await connect('lea');
    send({ jsonrpc: '2.0', id: 1, method: 'session/list', params: {} });
    expect(await closed).toBe(1002);
  });

  it('answers invalid JSON, batches and unknown methods with errors, and ignores binary frames and notifications', async () => {
    const { socket, send, next } = await connect('max');
    send(initialize);
    await next(({ id }) => id === 0);
    socket.send(Buffer.from('{"jsonrpc":"2.0","id":9,"method":"session/list","params":{}}'), { binary: true });
    send({ jsonrpc: '2.0', method: '$/ping' });
    socket.send('{');
    send([{ jsonrpc: '2.0', id: 2, method: 'session/list', params: {} }]);
    send({ jsonrpc: '2.0', id: 3, method: 'session/close', params: { sessionId: 'x' } });
    send({ jsonrpc: '2.0', id: 4, method: 'session/load', params: { sessionId: 'none', cwd: '/', mcpServers: [] } });
    const codeOf = ({ error }: Record<string, unknown>) => (error as { code: number } | undefined)?.code;
    expect((await next((message) => codeOf(message) === -32700)).id).toBeNull();
    expect((await next((message) => codeOf(message) === -32600)).id).toBeNull();
    expect(codeOf(await next(({ id }) => id === 3))).toBe(-32601);
    expect(codeOf(await next(({ id }) => id === 4))).toBe(-32002);
    send({ jsonrpc: '2.0', id: 5, method: 'session/list', params: {} });
    expect(await next(({ id }) => id === 5 || id === 9)).toMatchObject({ id: 5, result: { sessions: [] } });
  });

  it('S5: logs nothing of stray messages, and closes a client that sends dozens of answers without a question', async () => {
    const logged = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const warned = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { send, next, closed } = await connect('noa');
    send(initialize);
    await next(({ id }) => id === 0);
    const forged = '\u001b[2J{"level":"error","msg":"forged"}\n';
    for (const stray of [
      { jsonrpc: '2.0', id: forged, result: {} },
      { jsonrpc: '2.0', id: 0, result: { outcome: { outcome: 'selected', optionId: 'y' } } },
      { jsonrpc: '2.0', id: { [forged]: 1 }, error: { code: 1, message: forged } },
      { jsonrpc: '2.0', id: null, result: forged },
      { jsonrpc: '1.0', id: forged },
      { jsonrpc: '2.0', result: 1, [forged]: 1 },
      { jsonrpc: '2.0', error: 1, [forged]: 1 },
      { [forged]: 1 },
      { jsonrpc: '2.0', method: forged, params: { sessionId: forged } },
      { jsonrpc: '2.0', method: { [forged]: 1 }, id: 1 },
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: { [forged]: 1 } } },
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'x', _meta: forged } },
      { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: forged } },
      { jsonrpc: '2.0', id: true, method: 'session/list', [forged]: 1 },
    ])
      send(stray);
    send({ jsonrpc: '2.0', id: 7, method: 'session/list', params: {} });
    expect(await next(({ id }) => id === 7)).toMatchObject({ result: { sessions: [] } });
    for (let n = 0; n < 40; n += 1) send({ jsonrpc: '2.0', id: `${forged}${n}`, result: {} });
    expect(await closed).toBe(4429);
    expect([...logged.mock.calls, ...warned.mock.calls]).toEqual([]);
    logged.mockRestore();
    warned.mockRestore();
  });

  it('S4: holds 64 MiB of unanswered requests of a person, and one request for each id', async () => {
    const device = await deviceOf('oda');
    const options = { ...bearer((await acpToken(relay, device, { user: 'oda' })).token), query: '?queue=600' };
    const [one, other] = [await openAcp(relay, device, options), await openAcp(relay, device, options)];
    const ids = new Map<unknown, string>();
    for (const { send, next } of [one, other]) {
      send(initialize);
      await next(({ id }) => id === 0);
      send({ jsonrpc: '2.0', id: 1, method: 'session/new', params: { cwd: '/', mcpServers: [] } });
      const { result } = await next(({ id }) => id === 1);
      ids.set(send, (result as { sessionId: string }).sessionId);
    }
    // The machine is away, so the request stays in memory, unread fields included.
    const ask = ({ send }: typeof one, id: number, length: number) => {
      const sessionId = ids.get(send)!;
      const _meta = { padding: 'x'.repeat(length) };
      send({ jsonrpc: '2.0', id, method: 'session/prompt', params: { ...prompt(sessionId, 'wait'), _meta } });
    };
    const mib = 1024 * 1024;
    for (const id of [10, 11]) ask(one, id, 16 * mib);
    // The relay reads two sockets in any order. Its reply shows that it has counted the requests before this one.
    one.send({ jsonrpc: '2.0', id: 15, method: 'session/list', params: {} });
    await one.next(({ id }) => id === 15);
    for (const id of [12, 13]) ask(other, id, 15 * mib);
    ask(other, 14, 16 * mib);
    const busy = { code: -32603, data: { code: 'RATE_LIMITED', status: 429 } };
    expect(await other.next(({ id }) => id === 14)).toMatchObject({ error: busy });
    // The same id does not bypass the count.
    ask(one, 10, 1);
    expect(await one.next(({ id }) => id === null)).toMatchObject({ error: { code: -32600 } });
    one.socket.close();
    await one.closed;
    // A client that leaves frees its room.
    for (let id = 20; ; id += 1) {
      ask(other, id, 16 * mib);
      other.send({ jsonrpc: '2.0', id: id + 1000, method: 'session/list', params: {} });
      await other.next((message) => message['id'] === id + 1000);
      if (!other.received.some((message) => message['id'] === id)) break;
    }
    other.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: ids.get(other.send)! } });
    expect(await other.next(({ id }) => id === 12)).toMatchObject({ result: { stopReason: 'cancelled' } });
    other.socket.close();
  });

  it('closes a client that sends too much with 4429', async () => {
    const { send, closed } = await connect('ned');
    send(initialize);
    for (let n = 0; n < 700; n += 1) send({ jsonrpc: '2.0', method: '$/ping' });
    expect(await closed).toBe(4429);
  });
});

describe('several clients', () => {
  it('get the same question: the first answer counts, and the relay withdraws the question from the other client', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const first = await scene.acpSocket(relay, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = first.agent.request('session/prompt', prompt(sessionId, 'perm'));
    await first.question(sessionId);
    // This client is on the other api.
    const second = await scene.acpSocket(relay, deviceId, { api: 1, permission: choose('y') });
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect(first.asked.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(first.said(sessionId)).toContain('permission: y');
  });

  it('and a phone: an answer over REST withdraws the question from both clients', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const first = await scene.acpSocket(relay, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = first.agent.request('session/prompt', prompt(sessionId, 'perm'));
    await first.question(sessionId);
    const second = await scene.acpSocket(relay, deviceId, { api: 1 });
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await second.question(sessionId);
    const { sessions } = (await relay.call('listSessions', { query: { deviceId } })).body;
    const { id, prompt: question } = sessions[0]!;
    const params = { id, uuid: question!.id! };
    expect((await relay.call('answerPrompt', { params, body: { option: 'n' } })).status).toBe(202);
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    await second.update((update) => 'content' in update && JSON.stringify(update.content).includes('permission: n'));
    expect([...first.asked, ...second.asked].map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  it('with a read-only token can list and load, but neither prompt nor receive questions', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const writer = await scene.acpSocket(relay, deviceId);
    const { sessionId } = await writer.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = writer.agent.request('session/prompt', prompt(sessionId, 'perm'));
    await writer.question(sessionId);
    const { token } = await acpToken(relay, deviceId, { scopes: ['sessions:read'] });
    const reader = await scene.acpSocket(relay, deviceId, { token, permission: choose('y') });
    expect((await reader.agent.request('session/list', {})).sessions).toHaveLength(1);
    await reader.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await reader.update((update) => JSON.stringify(update).includes('waits for an answer in the app'));
    expect(reader.asked).toEqual([]);
    await expect(reader.agent.request('session/prompt', prompt(sessionId, 'two'))).rejects.toMatchObject({
      data: { code: 'INSUFFICIENT_SCOPE' },
    });
    await writer.agent.notify('session/cancel', { sessionId });
    expect(await ended).toEqual({ stopReason: 'cancelled' });
  });

  it('get an error for a folder that does not exist, which lists existing ones and explains how to choose', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent } = await scene.acpSocket(relay, deviceId);
    await expect(agent.request('session/new', { cwd: `${folder}/none`, mcpServers: [] })).rejects.toMatchObject({
      code: -32602,
      data: { code: 'FOLDER_NOT_FOUND' },
      message: expect.stringContaining('?cwd=') as unknown,
    });
    const placed = await scene.acpSocket(relay, deviceId, { query: `?cwd=${encodeURIComponent(folder)}` });
    await placed.agent.request('session/new', { cwd: '/on/the/phone', mcpServers: [] });
  });
});

describe('a client that resumes in the middle of a turn', () => {
  it('gets the rest of open items, and nothing twice', async () => {
    const user = 'pia';
    const daemon = await connectTranscriptDaemon(relay, await registerDevice(relay, { user }));
    scene.later(() => daemon.close());
    const first = await scene.acpSocket(relay, daemon.deviceId, { user });
    const { sessionId } = await first.agent.request('session/new', { cwd: '/', mcpServers: [] });
    const ended = first.agent.request('session/prompt', prompt(sessionId, 'go'));
    const { task_id: task } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(task, 'SESSION_STARTED', { session_id: 'native' });
    const call = { kind: 'tool', id: 'call', name: 'Bash', status: 'running' };
    daemon.say(task, 'native', [put(item('u-1', 1, { kind: 'text' }, 'One ')), put(item('u-2', 2, call))]);
    const isCall = ({ sessionUpdate }: { sessionUpdate: string }) => sessionUpdate === 'tool_call';
    await first.update(isCall);
    const second = await scene.acpSocket(relay, daemon.deviceId, { user, api: 1 });
    for (const { agent } of [first, second]) await agent.request('session/resume', { sessionId, cwd: '/' });
    daemon.say(task, 'native', [add('u-1', 'two.'), set('u-2', { status: 'completed' })]);
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'native', result: 'One two.' });
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect(first.said(sessionId)).toBe('One two.');
    for (const { updates, update } of [first, second]) {
      await update((one) => one.sessionUpdate === 'tool_call_update' && one.status === 'completed');
      expect(updates.filter(({ update: one }) => 'toolCallId' in one && one.status === 'completed')).toHaveLength(1);
    }
    expect(second.said(sessionId)).toBe('two.');
    expect(second.updates.some(({ update }) => isCall(update))).toBe(false);
  });
});

describe('a client that is slow, or away', () => {
  stalledReader(
    () => relay,
    () => relay.apis[0]!.metrics.text(),
  );

  it('gets everything after it reconnects, because a lost connection cancels nothing', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const first = await scene.acpSocket(relay, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const lost = first.agent.request('session/prompt', prompt(sessionId, 'slow'));
    lost.catch(() => undefined);
    await first.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    first.socket.terminate();
    await expect(lost).rejects.toThrow();
    const second = await scene.acpSocket(relay, deviceId, { api: 1 });
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await second.update((update) => 'content' in update && JSON.stringify(update.content).includes('w399'));
    expect(second.said(sessionId).trim()).toBe(words);
  });
});
