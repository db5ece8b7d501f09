/** Messages into a running turn, apart from the gateway: the audit, repetitions under one key, and the agents' tool. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { until } from './until.ts';

describe('a message into a running turn', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay, { capabilities: ['transcript', 'prompts', 'steer'] });
  });
  afterAll(() => relay.stop());

  const tool = async (name: string, given: object) => {
    const token = relay.token('alice', { scopes: ['agents:drive', 'agents:answer'] });
    const headers = { Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}` };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const answer = await relay.call('POST', '/mcp', { user: null, headers, body });
    return (answer.body as { result: { structuredContent: Record<string, string> } }).result.structuredContent;
  };
  const running = async (nativeId: string) => {
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'begin' } });
    await daemon.next('task_start', (frame) => frame.task_id === body.taskId);
    daemon.event(body.taskId, 'SESSION_STARTED', { session_id: nativeId });
    await until(
      'it runs',
      async () => (await relay.call('readTask', { params: { id: body.taskId } })).body.state === 'running',
    );
    return { id: `${daemon.deviceId}:scripted:${nativeId}`, into: body.taskId };
  };

  it('appears in the audit as sendMessage, with deliver', async () => {
    const { id } = await running('audited');
    await relay.call('sendMessage', { params: { id }, body: { content: 'x', deliver: 'now' } });
    const { entries } = (await relay.call('listAudit', {})).body;
    expect(entries[0]).toMatchObject({ action: 'sendMessage', outcome: 'done', target: id, deliver: 'now' });
  });

  it('stays one message under its key, also if the app repeats it without deliver', async () => {
    const { id } = await running('repeated');
    const headers = { 'Idempotency-Key': 'once' };
    const first = await relay.call('sendMessage', { params: { id }, body: { content: 'x', deliver: 'now' }, headers });
    const second = await relay.call('sendMessage', { params: { id }, body: { content: 'x' }, headers });
    expect(second).toMatchObject({ status: 202, body: { taskId: first.body.taskId, deliver: 'now' } });
    await daemon.next('task_steer', (frame) => frame.task_id === first.body.taskId);
  });

  it("accepts now from the agents' tool, and counts as a turn", async () => {
    const { id, into } = await running('driven');
    const sent = await tool('send_message', { sessionId: id, content: 'from an agent', now: true });
    expect(sent).toMatchObject({ state: 'queued', deliver: 'now' });
    expect(await daemon.next('task_steer', (frame) => frame.task_id === sent['taskId'])).toMatchObject({ into });
    const [counted] = await relay.database.sql.query<{ agent_depth: number }>`
      SELECT agent_depth FROM tasks WHERE id = ${sent['taskId']!}`;
    expect(counted?.agent_depth).toBe(1);
  });
});
