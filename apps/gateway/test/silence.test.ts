import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, idOf, readTask, run, say, tick, until } from './conversation.ts';

describe('a running task that no frame has mentioned for a long time', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const report = (nativeId: string, active?: boolean) =>
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: nativeId, is_active: active }] });
  const stateOf = async (taskId: string) => {
    await tick(daemon, app);
    const { state, error } = await readTask(relay, taskId);
    return error ? `${state} ${error.code}` : state;
  };

  beforeAll(async () => {
    // A long time is a millisecond here, and no sweep helps.
    relay = await startRelay({ config: { taskSilenceMs: 1, statusLostMs: 600_000, sweepIntervalMs: 600_000 } });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('runs on while the daemon does not contradict it', async () => {
    const { taskId } = await run(relay, daemon, app, 'quiet');
    report('quiet', true);
    expect(await stateOf(taskId)).toBe('running');
    report('quiet');
    expect(await stateOf(taskId)).toBe('running');
    report('another', false);
    expect(await stateOf(taskId)).toBe('running');
    daemon.send({ type: 'status', running_tasks: [taskId] });
    expect(await stateOf(taskId)).toBe('running');
  });

  it('is lost when a report says that its session is not active; what waits behind it goes on', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'dead');
    const next = await say(relay, id, 'anybody?');
    report('dead', false);
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: next });
    expect(await stateOf(taskId)).toBe('failed TASK_LOST');
  });

  it('is lost as well when the report says the same as always', async () => {
    report('same', false);
    await tick(daemon, app);
    const { taskId } = await run(relay, daemon, app, 'same');
    report('same', false);
    expect(await stateOf(taskId)).toBe('failed TASK_LOST');
  });

  it('is lost as well after a reconnect, when nothing of it was heard on this connection', async () => {
    const { taskId } = await run(relay, daemon, app, 'reconnected');
    await daemon.drop();
    daemon = await connectDaemon(relay, {
      registration: daemon.registration,
      hello: [{ type: 'status', running_tasks: [taskId] }],
    });
    expect(await stateOf(taskId)).toBe('running');
    report('reconnected', false);
    expect(await stateOf(taskId)).toBe('failed TASK_LOST');
  });

  it('is lost when a status omits it, once', async () => {
    const { taskId } = await run(relay, daemon, app, 'omitted');
    expect(await stateOf(taskId)).toBe('running');
    daemon.send({ type: 'status', running_tasks: [] });
    expect(await stateOf(taskId)).toBe('failed TASK_LOST');
  });
});

describe('a device that stays away for a day', () => {
  it('has lost what ran, and of what was only sent nobody knows', async () => {
    const config = { deviceGoneMs: 600, offlineGraceMs: 100, sweepIntervalMs: 100 };
    const relay = await startRelay({ config });
    try {
      const app = await connectApp(relay);
      const [gone, here] = [await connectDaemon(relay), await connectDaemon(relay)];
      const ran = await run(relay, gone, app, 'ran');
      const sent = await begin(relay, gone);
      const kept = await run(relay, here, app, 'kept');
      await gone.drop();
      await until(async () => (await readTask(relay, ran.taskId)).error?.code === 'TASK_LOST');
      await until(async () => (await readTask(relay, sent.taskId)).error?.code === 'DELIVERY_UNKNOWN');
      expect(await readTask(relay, ran.taskId)).toMatchObject({ state: 'failed', sessionId: idOf(gone, 'ran') });
      expect(await readTask(relay, kept.taskId)).toMatchObject({ state: 'running' });
    } finally {
      await relay.stop();
    }
  });
});
