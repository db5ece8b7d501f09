import { afterEach, describe, expect, it } from '@jest/globals';
import { house, playing } from './house.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';

const home = house();
afterEach(() => home.clear());

const agent = () =>
  playing(
    { match: '^fail', steps: [{ type: 'error', error: 'It failed.' }] },
    { match: '^ask', steps: [{ type: 'wait', prompt: 'Which?' }] },
    [{ type: 'complete', text: 'Answer' }],
  );

async function session() {
  const relay = await home.relay();
  home.daemon(relay, agent());
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't0', instruction: 'first' });
  const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't0');
  return { relay, connection, sessionId: sessionId ?? '' };
}
const resume = (connection: DoubleConnection, sessionId: string, taskId: string, message = 'next') =>
  connection.send({ type: 'task_resume', task_id: taskId, session_id: sessionId, message });
const activities = (connection: DoubleConnection) =>
  connection.frames.filter((frame) => frame.type === 'session_activity');

describe('session_activity (specification §6.3)', () => {
  it('is sent for a watched session on every change, with is_completion after a turn', async () => {
    const { connection, sessionId } = await session();
    connection.send({ type: 'watch_session', session_id: sessionId, file_path: '' });
    resume(connection, sessionId, 't1');
    expect(await connection.frame('session_activity')).toMatchObject({
      session_id: sessionId,
      last_message: 'next',
      message_count: 3,
      is_completion: false,
    });
    const done = await connection.frame('session_activity');
    expect(done).toMatchObject({ last_message: 'Answer', message_count: 4, is_completion: true });
    expect(new Date(done.last_activity ?? '').toISOString()).toBe(done.last_activity);
    expect(connection.words().slice(-5)).toEqual([
      'status[t1]',
      'session_activity',
      'TASK_COMPLETE t1',
      'status[]',
      'session_activity',
    ]);
  });

  it('has is_completion false when the turn failed or waits: both have their own events', async () => {
    const { connection, sessionId } = await session();
    connection.send({ type: 'watch_session', session_id: sessionId });
    resume(connection, sessionId, 't1', 'fail');
    await connection.event('ERROR', 't1');
    resume(connection, sessionId, 't2', 'ask');
    await connection.event('WAIT_FOR_USER', 't2');
    await connection.frame('session_activity');
    expect(activities(connection).map(({ is_completion }) => is_completion)).toEqual([false, false, false, false]);
  });

  it('is not sent for a session that is not watched, or no longer', async () => {
    const { connection, sessionId } = await session();
    resume(connection, sessionId, 't1');
    await connection.event('TASK_COMPLETE', 't1');
    connection.send({ type: 'watch_session', session_id: sessionId });
    connection.send({ type: 'unwatch_session', session_id: sessionId });
    resume(connection, sessionId, 't2');
    await connection.event('TASK_COMPLETE', 't2');
    await connection.settle();
    expect(activities(connection)).toEqual([]);
  });

  it('waits after a reconnect until the relay has sent the watched sessions again', async () => {
    const { relay, connection, sessionId } = await session();
    connection.send({ type: 'watch_session', session_id: sessionId });
    await connection.settle();
    connection.terminate();
    const second = await relay.connection();
    resume(second, sessionId, 't1');
    await second.event('TASK_COMPLETE', 't1');
    second.send({ type: 'watch_session', session_id: sessionId });
    resume(second, sessionId, 't2');
    await second.event('TASK_COMPLETE', 't2');
    await second.settle();
    expect(activities(second)).toHaveLength(2);
  });
});
