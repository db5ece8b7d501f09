import { afterEach, describe, expect, it } from '@jest/globals';
import { house, playing } from './house.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';

const home = house();
afterEach(() => home.clear());

async function conversation() {
  const relay = await home.relay();
  const storeDir = home.folder();
  const agent = playing(
    { match: '^fail', steps: [{ type: 'error', error: 'It failed.' }] },
    { match: '^ask', steps: [{ type: 'wait', prompt: 'Which?', options: ['A'] }] },
    [{ type: 'complete', text: 'Answer to {message}' }],
  );
  const daemon = home.daemon(relay, agent, { storeDir });
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't0', instruction: 'm0', project_path: '/somewhere' });
  const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', 't0');
  for (const [taskId, message, end] of [
    ['t1', 'fail now', 'ERROR'],
    ['t2', 'ask me', 'WAIT_FOR_USER'],
  ] as const) {
    connection.send({ type: 'task_resume', task_id: taskId, session_id: sessionId ?? '', message });
    await connection.event(end, taskId);
  }
  return { relay, daemon, connection, sessionId: sessionId ?? '', storeDir, agent };
}

const ask = async (connection: DoubleConnection, request: Record<string, unknown>) => {
  connection.send({ type: 'get_messages', request_id: 'r1', limit: 50, ...request });
  return connection.frame('messages');
};

describe('get_messages (specification §6.2)', () => {
  it('returns the messages of user, agent and system in order', async () => {
    const { connection, sessionId } = await conversation();
    const page = await ask(connection, { session_id: sessionId });
    expect(page).toMatchObject({ request_id: 'r1', session_id: sessionId, has_more: false });
    expect(page.error).toBeUndefined();
    expect(page.messages?.map(({ role, content }) => [role, content])).toEqual([
      ['USER', 'm0'],
      ['AGENT', 'Answer to m0'],
      ['USER', 'fail now'],
      ['SYSTEM', 'It failed.'],
      ['USER', 'ask me'],
      ['AGENT', 'Which?'],
    ]);
    expect(page.oldest_uuid).toBe(page.messages?.[0]?.uuid);
    expect(page.newest_uuid).toBe(page.messages?.at(-1)?.uuid);
    for (const { uuid, timestamp } of page.messages ?? []) {
      expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(new Date(timestamp ?? '').toISOString()).toBe(timestamp);
    }
  });

  it('pages with limit, before_uuid and after_uuid', async () => {
    const { connection, sessionId } = await conversation();
    const all = (await ask(connection, { session_id: sessionId })).messages ?? [];
    const last = await ask(connection, { session_id: sessionId, limit: 2 });
    expect(last.messages).toEqual(all.slice(-2));
    expect(last.has_more).toBe(true);
    const before = await ask(connection, { session_id: sessionId, limit: 2, before_uuid: last.oldest_uuid });
    expect(before.messages).toEqual(all.slice(2, 4));
    const after = await ask(connection, { session_id: sessionId, limit: 50, after_uuid: all[3]?.uuid });
    expect(after.messages).toEqual(all.slice(4));
    expect(after.has_more).toBe(false);
  });

  it('returns the same uuids after a restart, and the session is reported as before', async () => {
    const { relay, daemon, connection, sessionId, storeDir, agent } = await conversation();
    const before = await ask(connection, { session_id: sessionId });
    await daemon.stop();
    home.daemon(relay, agent, { storeDir });
    const again = await relay.connection();
    const report = await again.frame('report_sessions');
    expect(report.sessions).toEqual([
      {
        session_id: sessionId,
        title: 'm0',
        project: '/somewhere',
        project_name: 'somewhere',
        last_message: 'Which?',
        last_activity: before.messages?.at(-1)?.timestamp,
        is_active: false,
        message_count: 6,
      },
    ]);
    expect((await ask(again, { session_id: sessionId })).messages).toEqual(before.messages);
  });

  it.each([
    ['an unknown session', { session_id: 'nobody' }],
    ['an unknown before_uuid', { before_uuid: 'nothing' }],
    ['an unknown after_uuid', { after_uuid: 'nothing' }],
  ])('fails for %s', async (_name, request) => {
    const { connection, sessionId } = await conversation();
    const page = await ask(connection, { session_id: sessionId, ...request });
    expect(page.request_id).toBe('r1');
    expect(page.error).toEqual(expect.any(String));
    expect(page.messages).toEqual([]);
  });

  it('returns a page that fits into one frame even with messages of the maximum size', async () => {
    const relay = await home.relay();
    home.daemon(relay, playing([{ type: 'complete', text: '\u0001'.repeat(256 * 1024) }]));
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't0', instruction: 'x' });
    const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', 't0');
    for (let index = 1; index < 12; index++) {
      connection.send({ type: 'task_resume', task_id: `t${index}`, session_id: sessionId ?? '', message: 'x' });
      await connection.event('TASK_COMPLETE', `t${index}`);
    }
    const page = await ask(connection, { session_id: sessionId, limit: 200 });
    expect(page.has_more).toBe(true);
    expect(JSON.stringify(page).length).toBeLessThan(16 * 1024 * 1024);
  });
});
