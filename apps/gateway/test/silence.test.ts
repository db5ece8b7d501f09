import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, idOf, readTask, run, tick, until } from './conversation.ts';

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
    relay = await startRelay({
      config: {
        taskSilenceMs: 1,
        statusLostMs: 600_000,
        sweepIntervalMs: 600_000,
        daemonReplyTimeoutMs: 50,
        outcomeAskMs: 1,
      },
    });
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

  it.each(['once', 'same'])('F14: runs on when a report marks its session as inactive (%s)', async (native) => {
    report(native, false);
    const { taskId } = await run(relay, daemon, app, native);
    report(native, false);
    expect(await stateOf(taskId)).toBe('running');
  });

  it('is lost when a status omits it, once', async () => {
    const { taskId } = await run(relay, daemon, app, 'omitted');
    expect(await stateOf(taskId)).toBe('running');
    daemon.send({ type: 'status', running_tasks: [] });
    await until(async () => (await stateOf(taskId)) === 'failed TASK_LOST');
  });
});

describe('a device that stays away for a day', () => {
  it('has lost the running tasks, and leaves the sent ones unknown', async () => {
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
