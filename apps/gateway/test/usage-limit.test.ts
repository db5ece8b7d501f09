import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  quickSweeps,
  startRelay,
} from '@relay/testing';
import { end, nextStart, readSession, readTask, run, say, until } from './conversation.ts';

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

describe('a usage limit of the agent', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let number = 0;

  beforeAll(async () => {
    relay = await startRelay({ gateways: 2, config: quickSweeps });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  /** A session whose turn reached a limit, with a message behind it. */
  const limited = async (limit: object | null = { name: '5 hours', resets_at: inMs(3_600_000), source: 'figures' }) => {
    const { taskId, id } = await run(relay, daemon, app, `limited-${++number}`);
    const behind = await say(relay, id, 'behind');
    daemon.event(taskId, 'ERROR', { error: 'The limit is reached.', code: 'USAGE_LIMIT', limit });
    await until(async () => (await readTask(relay, taskId)).state === 'failed');
    return { id, taskId, behind, session: (await readSession(relay, id))! };
  };
  const resumed = (taskId: string) => daemon.next('task_resume', (frame) => frame.task_id === taskId);
  const resumes = (taskId: string) => daemon.inbox.count('task_resume', (frame) => frame.task_id === taskId);

  it('fails the turn, is shown, and holds the queue until it resets', async () => {
    const resets = inMs(3_600_000);
    const { id, taskId, behind, session } = await limited({ name: '5 hours', resets_at: resets, source: 'figures' });
    expect(session).toMatchObject({
      status: 'failed',
      lastTask: { id: taskId, state: 'failed', code: 'USAGE_LIMIT' },
      limit: { name: '5 hours', resetsAt: resets },
    });
    await nextStart(relay, daemon);
    expect(resumes(behind)).toBe(0);
    await relay.database.sql.execute`UPDATE sessions SET held_until = now() WHERE held_until IS NOT NULL`;
    await resumed(behind);
    expect(await readSession(relay, id)).not.toHaveProperty('limit');
    await end(daemon, app, behind);
  });

  it('lets go of the queue with a message of the person', async () => {
    const { id, behind } = await limited();
    const now = await say(relay, id, 'go on');
    await resumed(behind);
    expect(await readSession(relay, id)).not.toHaveProperty('limit');
    daemon.event(behind, 'TASK_COMPLETE', { result: 'done' });
    await resumed(now);
    await end(daemon, app, now);
  });

  it('goes on with the message that continues after it, before the queue', async () => {
    const { id, behind } = await limited();
    const taskId = await say(relay, id, 'Continue where you stopped.', { notBefore: inMs(60_000), because: 'limit' });
    expect(await readSession(relay, id)).toMatchObject({ later: { count: 1 }, limit: { name: '5 hours' } });
    await relay.database.sql.execute`UPDATE tasks SET not_before = now() WHERE id = ${taskId}`;
    await resumed(taskId);
    expect(resumes(behind)).toBe(0);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    await resumed(behind);
    daemon.event(behind, 'TASK_COMPLETE', { result: 'done' });
  });

  it('drops a time of the past, one too far ahead and one that it cannot read', async () => {
    for (const resets_at of [undefined, inMs(-60_000), inMs(400 * 86_400_000), 'soon']) {
      const { session } = await limited({ name: '', resets_at, source: 'words' });
      expect(session).toMatchObject({ limit: { name: '', at: expect.any(String) } });
      expect((session as unknown as { limit: object }).limit).not.toHaveProperty('resetsAt');
    }
    expect((await limited(null)).session).toMatchObject({ limit: { name: '' } });
  });
});
