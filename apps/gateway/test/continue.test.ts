/** Sessions that continue by themselves after a usage limit (rules, 26.13 to 26.16). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestDatabase } from '@relay/testing/database';
import {
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  quickSweeps,
  startIssuer,
  startRelay,
} from '@relay/testing';
import { end, nextStart, readSession, readTask, run, say, until } from './conversation.ts';

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const hourMs = 3_600_000;
type Later = { count: number; next: string };

describe('a session that continues by itself', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let number = 0;

  const choose = (mode: 'ask' | 'auto', more: object = {}) =>
    relay.call('changeContinue', {
      params: { id: daemon.deviceId },
      body: { agentType: daemon.registration.agentType, mode },
      ...more,
    });
  beforeAll(async () => {
    relay = await startRelay({ gateways: 2, config: quickSweeps });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
    expect(await choose('auto')).toMatchObject({ status: 200, body: { continues: [daemon.registration.agentType] } });
  });
  afterAll(() => relay.stop());

  const figures = (ms: number) => ({ name: 'five_hour', resets_at: inMs(ms), source: 'figures' });
  const reach = async (taskId: string, limit: object = figures(hourMs)) => {
    daemon.event(taskId, 'ERROR', { error: 'The limit is reached.', code: 'USAGE_LIMIT', limit });
    await until(async () => (await readTask(relay, taskId)).state === 'failed');
  };
  const begin = async () => run(relay, daemon, app, `alone-${++number}`);
  const limited = async (limit?: object) => {
    const { taskId, id } = await begin();
    await reach(taskId, limit);
    return id;
  };
  const laterOf = async (id: string) => ((await readSession(relay, id)) as unknown as { later?: Later }).later;
  const waiting = async (id: string) => {
    const { body } = await relay.call('readQueue', { params: { id } });
    return body.later ?? [];
  };
  const release = async (id: string): Promise<string> => {
    const { taskId } = (await waiting(id))[0]!;
    await relay.database.sql
      .execute`UPDATE tasks SET not_before = now(), expires_at = now() + interval '1 hour' WHERE id = ${taskId}`;
    await daemon.next('task_resume', (frame) => frame.task_id === taskId);
    return taskId;
  };

  it('sends one message 30 s to 2 minutes after the reset', async () => {
    const limit = figures(hourMs);
    const id = await limited(limit);
    const [task] = await waiting(id);
    expect(task).toMatchObject({ content: 'Continue where you stopped.', because: 'limit', automatic: true });
    const afterMs = Date.parse(task!.notBefore) - Date.parse(limit.resets_at);
    expect(afterMs).toBeGreaterThanOrEqual(30_000);
    expect(afterMs).toBeLessThanOrEqual(120_000);
    const taskId = await release(id);
    expect(await readSession(relay, id)).toMatchObject({ lastTask: { id: taskId, automatic: true } });
    await end(daemon, app, taskId);
  });

  it('does so at most 3 times in a row', async () => {
    const id = await limited();
    for (let time = 0; time < 3; time += 1) await reach(await release(id));
    expect(await laterOf(id)).toBeUndefined();
    expect(await readSession(relay, id)).toMatchObject({ limit: { name: 'five_hour' } });
    const said = await say(relay, id, 'go on');
    await daemon.next('task_resume', (frame) => frame.task_id === said);
    await end(daemon, app, said);
    const again = await say(relay, id, 'and now');
    await daemon.next('task_resume', (frame) => frame.task_id === again);
    await reach(again);
    expect(await laterOf(id)).toMatchObject({ count: 1 });
  });

  it('asks after a limit with a reset of tomorrow, of an unknown time or of a clock without a date', async () => {
    for (const limit of [
      figures(25 * hourMs),
      { name: '', source: 'words' },
      { ...figures(hourMs), source: 'clock' },
      { ...figures(hourMs), source: 'stars' },
    ])
      expect(await laterOf(await limited(limit))).toBeUndefined();
  });

  it('sends nothing after a message or a cancel of the person', async () => {
    const written = await limited();
    const now = await say(relay, written, 'I am back');
    expect(await waiting(written)).toEqual([]);
    await daemon.next('task_resume', (frame) => frame.task_id === now);
    await end(daemon, app, now);
    const stopped = await limited();
    const [task] = await waiting(stopped);
    expect(await relay.call('cancelSession', { params: { id: stopped } })).toMatchObject({
      status: 202,
      body: { taskId: task!.taskId },
    });
    expect(await waiting(stopped)).toEqual([]);
  });

  it('sends nothing after a turn with a setting for this turn alone', async () => {
    for (const [settings, count] of [
      [[{ id: 'mode', value: 'plan' }], 0],
      [[{ id: 'mode', value: 'plan', keep: true }], 1],
    ] as const) {
      const { taskId, id } = await begin();
      await relay.database.sql
        .execute`UPDATE tasks SET settings = ${JSON.stringify(settings)}::jsonb WHERE id = ${taskId}`;
      await reach(taskId);
      expect(await waiting(id)).toHaveLength(count);
    }
  });

  it('moves with the others of its agent to the later reset that the first one finds', async () => {
    const [first, second] = [await limited(), await limited()];
    const resets = figures(3 * hourMs);
    await reach(await release(first), resets);
    for (const id of [first, second]) {
      expect(Date.parse((await laterOf(id))!.next)).toBeGreaterThan(Date.parse(resets.resets_at));
      expect(await readSession(relay, id)).toMatchObject({ limit: { resetsAt: resets.resets_at } });
    }
    const other = await release(first);
    await reach(other, figures(100 * hourMs));
    expect(await laterOf(second)).toBeUndefined();
  });

  it('is chosen for one agent of a device, by its owner', async () => {
    expect(await choose('auto', { user: 'mallory' })).toMatchObject({ status: 404 });
    const params = { id: daemon.deviceId };
    expect(await relay.call('changeContinue', { params, body: { agentType: 'stranger', mode: 'auto' } })).toMatchObject(
      { status: 409, body: { code: 'AGENT_NOT_OFFERED' } },
    );
    const id = await limited();
    expect((await choose('ask')).body).not.toHaveProperty('continues');
    expect(await waiting(id)).toEqual([]);
    expect(await laterOf(await limited())).toBeUndefined();
    await choose('auto');
    await nextStart(relay, daemon);
  });
});

it('continues once after a restart of everything', async () => {
  const database = await openTestDatabase();
  const issuer = await startIssuer();
  let relay = await startRelay({ gateways: 2, database, issuer, config: quickSweeps });
  try {
    let daemon = await connectDaemon(relay);
    const app = await connectApp(relay);
    const { agentType } = daemon.registration;
    await relay.call('changeContinue', { params: { id: daemon.deviceId }, body: { agentType, mode: 'auto' } });
    const { taskId, id } = await run(relay, daemon, app, 'restarted');
    const limit = { name: '', resets_at: inMs(hourMs), source: 'figures' };
    daemon.event(taskId, 'ERROR', { error: 'The limit is reached.', code: 'USAGE_LIMIT', limit });
    await until(async () => (await readTask(relay, taskId)).state === 'failed');
    const { registration } = daemon;
    await relay.stop();
    await database.sql
      .execute`UPDATE tasks SET not_before = now(), expires_at = now() + interval '1 hour' WHERE state = 'later'`;
    relay = await startRelay({ gateways: 2, database, issuer, config: quickSweeps });
    daemon = await connectDaemon(relay, { registration });
    const resumed = await daemon.next('task_resume');
    expect(resumed).toMatchObject({ message: 'Continue where you stopped.' });
    daemon.event(resumed.task_id as string, 'TASK_COMPLETE', { result: 'done' });
    await until(async () => (await readTask(relay, resumed.task_id as string)).state === 'completed');
    await nextStart(relay, daemon);
    expect(daemon.inbox.count('task_resume', () => true)).toBe(1);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastTask: { automatic: true } });
  } finally {
    await relay.stop();
    await issuer.close();
    await database.close();
  }
});
