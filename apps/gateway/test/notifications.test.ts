import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { end, idOf, readTask, run, say, sessionIn, tick, until } from './conversation.ts';

interface Noted {
  sessionId: string;
  cause: string;
  state: string;
}

/** The notifications that the outbox got, and their outcomes. */
class Carrier {
  readonly name = 'test';
  readonly carried: { sessionId: string; cause: string; title: string }[] = [];
  refusing = 0;

  send(notification: { sessionId: string; cause: string; title: string }): Promise<void> {
    // That of the device of a test (S18) takes no refusal from that of its session.
    if (this.refusing > 0 && notification.sessionId !== '') {
      this.refusing -= 1;
      return Promise.reject(new Error('the push service is away'));
    }
    this.carried.push(notification);
    return Promise.resolve();
  }
}

describe('notifications', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  const carrier = new Carrier();

  const watch = (id: string) => relay.call('watch', { body: { sessionId: id } });
  const watchedRun = async (nativeId: string) => {
    const started = await run(relay, daemon, app, nativeId);
    await watch(started.id);
    return started;
  };
  const notedOf = async (id: string, user = 'alice') => {
    const { body } = await relay.call('listNotifications', { user });
    return (body.notifications as Noted[]).filter((one) => one.sessionId === id);
  };
  const causes = async (id: string) => (await notedOf(id)).map(({ cause }) => cause);
  const activity = (nativeId: string, fields: Record<string, unknown> = {}) =>
    daemon.send({
      type: 'session_activity',
      session_id: nativeId,
      last_message: 'done',
      is_completion: true,
      ...fields,
    });

  beforeAll(async () => {
    relay = await startRelay({
      apis: 2,
      transports: [carrier],
      config: { statusLostMs: 1, outboxPollMs: 600_000, daemonReplyTimeoutMs: 50, outcomeAskMs: 1 },
    });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it.each([
    ['TASK_COMPLETE', { result: 'done' }, 'done'],
    ['WAIT_FOR_USER', { prompt: 'Yes?' }, 'needs_you'],
    ['ERROR', { error: 'no' }, 'failed'],
  ])('are due for a watched session on %s', async (eventType, fields, cause) => {
    const { taskId, id } = await watchedRun(`cause-${eventType}`);
    await end(daemon, app, taskId, eventType, fields);
    expect(await causes(id)).toEqual([cause]);
    // Sent immediately, without waiting for a sweep.
    await until(() => Promise.resolve(carrier.carried.some((one) => one.sessionId === id && one.cause === cause)));
    await until(async () => (await notedOf(id))[0]?.state === 'sent');
  });

  it('W4: are due for questions and failures of every session, and for completions of watched ones', async () => {
    const seen: Record<string, string[]> = {};
    for (const [eventType, fields] of [
      ['WAIT_FOR_USER', { prompt: 'Yes?' }],
      ['ERROR', { error: 'no' }],
      ['TASK_COMPLETE', { result: 'done' }],
    ] as const) {
      const { taskId, id } = await run(relay, daemon, app, `unwatched-${eventType}`);
      await end(daemon, app, taskId, eventType, fields);
      seen[eventType] = await causes(id);
    }
    expect(seen).toEqual({ WAIT_FOR_USER: ['needs_you'], ERROR: ['failed'], TASK_COMPLETE: [] });
  });

  it('W4: follow the choice of a person who keeps questions to watched sessions', async () => {
    const save = (levels: object) => relay.call('saveNotificationSettings', { body: { causes: levels } });
    expect((await save({ needs_you: 'watched' })).status).toBe(200);
    const { taskId, id } = await run(relay, daemon, app, 'unwatched-by-choice');
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'Yes?' });
    expect(await causes(id)).toEqual([]);
    await save({});
  });

  it('carry the id and the title of the session, and nothing of its texts', async () => {
    const { taskId, id } = await watchedRun('content');
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'a secret result' });
    const carried = await until(() => Promise.resolve(carrier.carried.find((one) => one.sessionId === id)));
    expect(carried).toMatchObject({ sessionId: id, cause: 'done', title: 'begin content' });
    expect(JSON.stringify(carried)).not.toContain('secret');
  });

  it('are due when a watched task is lost, and not again when its result comes late', async () => {
    const { taskId, id } = await watchedRun('lost');
    for (let time = 0; time < 2; time += 1) {
      daemon.send({ type: 'status', running_tasks: [] });
      await tick(daemon, app);
    }
    await until(async () => (await readTask(relay, taskId)).error?.code === 'TASK_LOST');
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'late' });
    await tick(daemon, app);
    expect(await causes(id)).toEqual(['failed']);
  });

  it('are due for each question of one turn, including a replacement, and not for a repetition', async () => {
    const { taskId, id } = await watchedRun('asks-twice');
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'May I read it?' });
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'May I write it?' });
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'May I write it?' });
    await tick(daemon, app);
    expect(await causes(id)).toEqual(['needs_you', 'needs_you']);
  });

  it.each([
    ['TASK_COMPLETE', { result: 'It was not needed.' }, 'done'],
    ['ERROR', { error: 'it broke' }, 'failed'],
  ])('are due for the completion of a turn after a withdrawn question: %s', async (eventType, fields, cause) => {
    const { taskId, id } = await watchedRun(`asked-${eventType}`);
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'May I?' });
    await end(daemon, app, taskId, eventType, fields);
    daemon.event(taskId, eventType, fields);
    await tick(daemon, app);
    expect((await causes(id)).sort()).toEqual([cause, 'needs_you'].sort());
  });

  it('are not due for that completion when a later message is on its way, whose completion notifies', async () => {
    const { taskId, id } = await watchedRun('answered-twice');
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'May I?' });
    const second = await say(relay, id, 'Yes');
    await daemon.next('task_resume', (frame) => frame.task_id === second);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'Done.' });
    await tick(daemon, app);
    expect(await causes(id)).toEqual(['needs_you']);
    await end(daemon, app, second, 'TASK_COMPLETE', { result: 'All done.' });
    expect((await causes(id)).sort()).toEqual(['done', 'needs_you']);
  });

  it('are due for a question that comes after its task was taken for lost', async () => {
    const { taskId, id } = await watchedRun('lost-asks');
    for (let time = 0; time < 2; time += 1) {
      daemon.send({ type: 'status', running_tasks: [] });
      await tick(daemon, app);
    }
    await until(async () => (await readTask(relay, taskId)).error?.code === 'TASK_LOST');
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'May I?' });
    await tick(daemon, app);
    expect((await causes(id)).sort()).toEqual(['failed', 'needs_you']);
  });

  it('are due on the completion of a local turn', async () => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'desk' }] });
    await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'desk'));
    await watch(idOf(daemon, 'desk'));
    activity('desk', { is_completion: false, last_message: 'half-way' });
    activity('desk');
    await tick(daemon, app);
    expect(await causes(idOf(daemon, 'desk'))).toEqual(['done']);
  });

  it.each(['task first', 'activity first'])(
    'are sent once for one turn that completes in both ways: %s',
    async (order) => {
      const native = order.replace(' ', '-');
      const { taskId, id } = await watchedRun(native);
      if (order === 'activity first') activity(native);
      daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
      if (order === 'task first') activity(native);
      // The same news again, as daemons in the field send it.
      activity(native, { message_count: 0 });
      daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
      await tick(daemon, app);
      expect(await causes(id)).toEqual(['done']);
    },
  );

  it('are sent for each of two turns, however close', async () => {
    const { taskId, id } = await watchedRun('two-turns');
    await end(daemon, app, taskId);
    const second = await say(relay, id, 'more');
    await daemon.next('task_resume', (frame) => frame.task_id === second);
    await end(daemon, app, second, 'ERROR', { error: 'no' });
    expect((await causes(id)).sort()).toEqual(['done', 'failed']);
  });

  it('are sent for a question of a task that was sent after a local turn was done, however close', async () => {
    const id = idOf(daemon, 'desk-then-task');
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'desk-then-task' }] });
    await app.next('session_update', (frame) => sessionIn(frame).id === id);
    await watch(id);
    activity('desk-then-task');
    await tick(daemon, app);
    const taskId = await say(relay, id, 'go on');
    await daemon.next('task_resume', (frame) => frame.task_id === taskId);
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'Really?' });
    expect((await causes(id)).sort()).toEqual(['done', 'needs_you']);
  });

  it('are not due for an unwatched session, nor for an event that needs no notification', async () => {
    const unwatched = await run(relay, daemon, app, 'unwatched');
    await end(daemon, app, unwatched.taskId);
    const { taskId, id } = await watchedRun('silent');
    daemon.event(taskId, 'PROGRESS', { action: 'x' });
    await relay.call('cancelSession', { params: { id } });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'too late' });
    const stopped = await watchedRun('stopped');
    await relay.call('unwatch', { body: { sessionId: stopped.id } });
    await end(daemon, app, stopped.taskId);
    await tick(daemon, app);
    for (const session of [unwatched.id, id, stopped.id]) expect(await notedOf(session)).toEqual([]);
  });

  it('follow a session that was watched before it had a name', async () => {
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'go' } });
    const taskId = created.body.taskId;
    await daemon.next('task_start', (frame) => frame.task_id === taskId);
    await watch(created.body.id);
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'done', session_id: 'named-late' });
    expect(await causes(idOf(daemon, 'named-late'))).toEqual(['done']);
  });

  it('are shown to the owner and to no one else', async () => {
    const { taskId, id } = await watchedRun('private');
    await end(daemon, app, taskId);
    expect(await notedOf(id)).toHaveLength(1);
    expect((await relay.call('listNotifications', { user: 'bob' })).body.notifications).toEqual([]);
  });

  it('are sent by one instance, once', async () => {
    const { taskId, id } = await watchedRun('by-one');
    await end(daemon, app, taskId);
    await until(async () => (await notedOf(id))[0]?.state === 'sent');
    const after = await watchedRun('by-one-clock');
    await end(daemon, app, after.taskId);
    await until(async () => (await notedOf(after.id))[0]?.state === 'sent');
    expect(carrier.carried.filter((one) => one.sessionId === id)).toHaveLength(1);
  });

  describe('that could not be carried', () => {
    let patient: TestRelay;

    beforeAll(async () => {
      patient = await startRelay({ transports: [carrier], config: { outboxPollMs: 50 } });
    });
    afterAll(() => patient.stop());

    const turn = async (nativeId: string) => {
      const desk = await connectDaemon(patient);
      const watcher = await connectApp(patient);
      const { taskId, id } = await run(patient, desk, watcher, nativeId);
      await patient.call('watch', { body: { sessionId: id } });
      await end(desk, watcher, taskId);
      return id;
    };
    const stateIs = (id: string, state: string) =>
      until(async () => {
        const { notifications } = (await patient.call('listNotifications')).body as { notifications: Noted[] };
        return notifications.some((one) => one.sessionId === id && one.state === state);
      });

    it('are retried until they succeed', async () => {
      carrier.refusing = 2;
      const id = await turn('retried');
      await stateIs(id, 'sent');
      expect(carrier.refusing).toBe(0);
      expect(carrier.carried.filter((one) => one.sessionId === id)).toHaveLength(1);
    });

    it('are given up after five attempts', async () => {
      carrier.refusing = 5;
      const id = await turn('given-up');
      await stateIs(id, 'failed');
      expect(carrier.carried.filter((one) => one.sessionId === id)).toEqual([]);
    });
  });
});
