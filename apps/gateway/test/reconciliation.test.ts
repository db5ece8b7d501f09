import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startRunning, withDevice } from '@relay/database';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';
import {
  begin,
  end,
  idOf,
  messageIn,
  nextStart,
  readSession,
  readTask,
  run,
  say,
  sessionIn,
  tick,
  until,
} from './conversation.ts';

const status = (...running: string[]): Frame => ({ type: 'status', running_tasks: running });

describe('the first status after a reconnect', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  /** Cuts the connection, and is back with these first frames. */
  const reconnect = async (hello: Frame[], gateway = 0) => {
    await daemon.drop();
    daemon = await connectDaemon(relay, { registration: daemon.registration, hello, gateway });
  };
  const ended = async (taskId: string) =>
    sessionIn(
      await app.next('session_update', (frame) => {
        const { lastTask } = sessionIn(frame);
        return lastTask?.id === taskId && lastTask.code !== undefined;
      }),
    );

  beforeAll(async () => {
    relay = await startRelay({
      gateways: 2,
      config: { statusWaitMs: 60_000, statusLostMs: 1, daemonReplyTimeoutMs: 50, outcomeAskMs: 1 },
    });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it.each([0, 1])(
    'makes unknown what was sent and is not listed: it is never sent again (gateway %s)',
    async (gateway) => {
      const { taskId, pendingId } = await begin(relay, daemon);
      await reconnect([status()], gateway);
      expect(await ended(taskId)).toMatchObject({
        id: pendingId,
        status: 'failed',
        lastTask: { state: 'unknown', code: 'DELIVERY_UNKNOWN' },
      });
      await nextStart(relay, daemon);
      expect(daemon.inbox.count('task_start', (frame) => frame.task_id === taskId)).toBe(0);
      // A later status that lists it changes nothing: unknown is final.
      daemon.send(status(taskId));
      daemon.event(taskId, 'PROGRESS', { action: 'Here after all' });
      await tick(daemon, app);
      expect(await readTask(relay, taskId)).toMatchObject({ state: 'unknown' });
    },
  );

  it('counts as lost a task that an earlier connection confirmed after this one read it as sent', async () => {
    const { taskId } = await begin(relay, daemon);
    await reconnect([]);
    await tick(daemon, app);
    // An event is not fenced: the instance of the earlier connection handles an earlier arrival late.
    await withDevice(relay.database, daemon.deviceId, (tx) => startRunning(tx, taskId));
    daemon.send(status());
    expect(await ended(taskId)).toMatchObject({ status: 'failed', lastTask: { state: 'failed', code: 'TASK_LOST' } });
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'failed', error: { code: 'TASK_LOST' } });
  });

  it('confirms a sent task on the list', async () => {
    const { taskId } = await begin(relay, daemon);
    await reconnect([status(taskId)]);
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'running' });
    expect(daemon.inbox.count('task_start')).toBe(0);
  });

  it.each([0, 1])(
    'lets what ran and is listed go on, to its end on the new connection (gateway %s)',
    async (gateway) => {
      const { taskId, id } = await run(relay, daemon, app, `survivor-${gateway}`);
      await reconnect([status(taskId)], gateway);
      await tick(daemon, app);
      expect(await readSession(relay, id)).toMatchObject({ status: 'active', lastTask: { state: 'running' } });
      expect(await end(daemon, app, taskId)).toMatchObject({ status: 'idle' });
    },
  );

  it('counts a running task missing from the list as lost; the next queued task continues', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'lost');
    const next = await say(relay, id, 'are you there?');
    await reconnect([status()]);
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: next });
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'failed', error: { code: 'TASK_LOST' } });
    daemon.event(next, 'TASK_COMPLETE', { result: 'yes' });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
  });

  it('F14: completes, with a note, a lost task that answers later', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'late');
    await reconnect([status()]);
    expect(await ended(taskId)).toMatchObject({
      id,
      status: 'failed',
      lastTask: { state: 'failed', code: 'TASK_LOST' },
    });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'I was only slow' });
    await app.next('new_message', (frame) => messageIn(frame).content === 'I was only slow');
    await tick(daemon, app);
    const task = await readTask(relay, taskId);
    expect(task).toMatchObject({ state: 'completed', result: 'I was only slow', note: expect.any(String) });
    expect(task).not.toHaveProperty('error');
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastTask: { state: 'completed' } });
  });

  it('repeats a cancel that the daemon missed while it was away', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cancelled-away');
    const other = await run(relay, daemon, app, 'deleted-away');
    await daemon.drop();
    await relay.call('cancelSession', { params: { id } });
    await relay.call('deleteSession', { params: { id: other.id } });
    daemon = await connectDaemon(relay, {
      registration: daemon.registration,
      hello: [status(taskId, other.taskId, 'stranger')],
    });
    const told = [await daemon.next('task_cancel'), await daemon.next('task_cancel')];
    expect(new Set(told.map((frame) => frame.task_id))).toEqual(new Set([taskId, other.taskId]));
    // Once: a daemon that ignores it is not asked for ever.
    daemon.send(status(taskId));
    await tick(daemon, app);
    expect(daemon.inbox.count('task_cancel')).toBe(2);
  });

  it('comes first: an event of a task before it is as good as being listed', async () => {
    const { taskId } = await begin(relay, daemon);
    await reconnect([{ type: 'event', task_id: taskId, event_type: 'PROGRESS', action: 'Going on' }]);
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'running' });
    daemon.send(status(taskId));
    expect(await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'ok', session_id: 'eventful' })).toMatchObject({
      id: idOf(daemon, 'eventful'),
    });
  });

  it('is followed by others: only a task that all of them omit is lost', async () => {
    const { taskId } = await run(relay, daemon, app, 'omitted');
    daemon.send(status());
    await tick(daemon, app);
    // Listed in between: it starts again.
    daemon.send(status(taskId));
    await tick(daemon, app);
    daemon.send(status());
    await tick(daemon, app);
    // Named by an event in between: as well.
    daemon.event(taskId, 'PROGRESS', { action: 'Alive' });
    await tick(daemon, app);
    daemon.send(status());
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'running' });
    daemon.send(status());
    await until(async () => (await readTask(relay, taskId)).error?.code === 'TASK_LOST');
  });
});

describe('no status in time after a reconnect', () => {
  let relay: TestRelay;
  let app: TestApp;

  const connect = (older?: TestDaemon, hello: Frame[] = []) =>
    connectDaemon(relay, older ? { registration: older.registration, hello } : { hello });

  beforeAll(async () => {
    // A connection must be able to close before its wait is over, however busy the machine is.
    relay = await startRelay({ config: { statusWaitMs: 2500, daemonReplyTimeoutMs: 50, outcomeAskMs: 1 } });
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('makes sent tasks unknown, leaves running ones alone, and releases queued tasks', async () => {
    const older = await connect(undefined, [status()]);
    const sent = await begin(relay, older);
    const running = await run(relay, older, app, 'running');
    await older.drop();
    const created = await relay.call('createSession', { body: { deviceId: older.deviceId, message: 'queued' } });
    const newer = await connect(older);
    expect(await newer.next('task_start')).toMatchObject({ task_id: created.body.taskId });
    expect(await readTask(relay, sent.taskId)).toMatchObject({ state: 'unknown' });
    expect(await readTask(relay, running.taskId)).toMatchObject({ state: 'running' });
    expect(await end(newer, app, running.taskId)).toMatchObject({ status: 'idle' });
  });

  it('decides nothing for a connection that has closed in between: the next one decides', async () => {
    const older = await connect(undefined, [status()]);
    const { taskId } = await begin(relay, older);
    await older.drop();
    await (await connect(older)).drop();
    // Its wait begins later, so it finishes later.
    const clock = await connect();
    const created = await relay.call('createSession', { body: { deviceId: clock.deviceId, message: 'clock' } });
    await clock.next('task_start', (frame) => frame.task_id === created.body.taskId);
    const newer = await connect(older, [status(taskId)]);
    await tick(newer, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'running' });
  });

  it('still makes a late first status count', async () => {
    const older = await connect(undefined, [status()]);
    const { taskId } = await run(relay, older, app, 'late-status');
    await older.drop();
    const newer = await connect(older);
    await nextStart(relay, newer);
    newer.send(status());
    await until(async () => (await readTask(relay, taskId)).error?.code === 'TASK_LOST');
  });
});
