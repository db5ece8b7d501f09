import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FieldDaemon, type TestRelay, startFieldDaemon, startRelay } from '@relay/testing';

describe('GET /api/sessions/:id/summary', () => {
  let relay: TestRelay;
  let daemon: FieldDaemon;
  let id: string;
  let native: string;

  beforeAll(async () => {
    // Short for the tests of silence, and long enough for the answers of the others on a busy machine.
    relay = await startRelay({ config: { daemonReplyTimeoutMs: 2500 } });
    daemon = await startFieldDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'auto-update' } });
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'go' } });
    const task = await daemon.nextTask();
    native = task.native;
    daemon.finish(task, 'done');
    await daemon.connection!.inbox.next('task_start', () => true);
    id = `${daemon.deviceId}:field_agent:${native}`;
    for (let known = false; !known;)
      known = (await relay.call('readSession', { params: { id: created.body.id } })).body.id === id;
  });
  afterAll(async () => {
    await daemon.stop();
    await relay.stop();
  });

  const read = (user?: string) =>
    relay.call('readSummary', { params: { id }, ...(user === undefined ? {} : { user }) });

  it("F13: uses the field daemon's own request, and shows its answer", async () => {
    const answer = read();
    const asked = await daemon.next('context_request');
    expect(asked).toEqual({
      type: 'context_request',
      request_id: expect.any(String),
      session_id: native,
      include: { initial_prompt: true, recent_messages: 10, last_tool_use: true },
    });
    daemon.send({
      type: 'context_response',
      request_id: asked.request_id,
      session_id: native,
      context: {
        title: 'Garden',
        project_path: '/home/ada/garden',
        initial_prompt: 'x'.repeat(20_000),
        recent_messages: [{ role: 'agent', content: 'Watered.' }, { role: 'USER' }, 7],
        last_tool_use: 'npm test',
        message_count: 12,
        started_at: '2026-03-14T09:10:00Z',
        last_activity_at: 'yesterday',
        status: 'waiting_for_input',
        status_detail: 7,
      },
    });
    expect(await answer).toMatchObject({ status: 200 });
    expect((await answer).body).toEqual({
      sessionId: id,
      title: 'Garden',
      projectPath: '/home/ada/garden',
      initialPrompt: 'x'.repeat(8192),
      recentMessages: [{ role: 'AGENT', content: 'Watered.' }],
      lastToolUse: 'npm test',
      messageCount: 12,
      startedAt: '2026-03-14T09:10:00.000Z',
      status: 'waiting_for_input',
    });
  });

  it('F13: is 502 for an error, 504 for silence, 404 for a stranger', async () => {
    const failing = read();
    const asked = await daemon.next('context_request');
    daemon.send({ type: 'context_response', request_id: asked.request_id, context: {}, error: 'no such file' });
    expect(await failing).toMatchObject({ status: 502, body: { code: 'DEVICE_ERROR' } });
    expect(await read()).toMatchObject({ status: 504, body: { code: 'DEVICE_TIMEOUT' } });
    expect(await read('bob')).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
  });

  describe('POST /api/sessions/:id/release', () => {
    const release = (user?: string) =>
      relay.call('releaseSession', { params: { id }, ...(user === undefined ? {} : { user }) });

    it.each(['released', 'not_held', 'busy', 'foreign', 'shared', 'unknown_session', 'failed', 'a_new_word'])(
      'F15: answers that the session is %s',
      async (status) => {
        const answer = release();
        const asked = await daemon.next('force_quit_session');
        expect(asked).toEqual({ type: 'force_quit_session', request_id: expect.any(String), session_id: native });
        const detail = status === 'failed' ? { detail: 'it would not end' } : {};
        daemon.send({ type: 'force_quit_result', request_id: asked.request_id, session_id: native, status, ...detail });
        expect(await answer).toMatchObject({ status: 200 });
        expect((await answer).body).toEqual({ sessionId: id, result: status, ...detail });
      },
    );

    it('F15: is 504 when the daemon is silent, 404 for a stranger, 503 while it is away', async () => {
      expect(await release()).toMatchObject({ status: 504, body: { code: 'DEVICE_TIMEOUT' } });
      expect(await release('bob')).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
      await daemon.drop();
      expect(await release()).toMatchObject({ status: 503, body: { code: 'DEVICE_OFFLINE' } });
    });
  });
});
