import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDaemon } from '@relay/testing';
import {
  type Scene,
  begin,
  counted,
  idOf,
  nextStart,
  openScene,
  readTask,
  run,
  sessionIn,
  tick,
} from './conversation.ts';

describe('status', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => void ({ relay, daemon, app } = await openScene({ config: { statusWaitMs: 60_000 } })));
  afterAll(() => relay.stop());

  it('confirms a task that it lists: sent becomes running, and the session active', async () => {
    const { taskId, pendingId } = await begin(relay, daemon);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'sent', kind: 'start' });
    daemon.send({ type: 'status', running_tasks: [taskId] });
    const update = await app.next('session_update', (frame) => sessionIn(frame).lastTask?.state === 'running');
    expect(update.session).toMatchObject({ id: pendingId, status: 'active', lastTask: { id: taskId } });
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'running' });
  });

  it('changes nothing by listing the same task again', async () => {
    const { taskId } = await run(relay, daemon, app, 'twice');
    await tick(daemon, app);
    const before = app.inbox.count('session_update');
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.send({ type: 'status', running_tasks: [taskId] });
    await tick(daemon, app);
    expect(app.inbox.count('session_update')).toBe(before + 1);
  });

  it('changes nothing by listing unknown tasks, or tasks of another device', async () => {
    const other = await connectDaemon(relay);
    const { taskId } = await begin(relay, other);
    daemon.send({ type: 'status', running_tasks: ['a stranger', '', taskId] });
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'sent' });
    expect(daemon.inbox.count('task_cancel')).toBe(0);
  });

  it('keeps a task that was written a moment ago but is not listed: the frame might not have arrived', async () => {
    const { taskId } = await begin(relay, daemon);
    daemon.send({ type: 'status', running_tasks: [] });
    await tick(daemon, app);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'sent' });
  });

  it('releases queued tasks of a connecting device; watch_session does not wait for it', async () => {
    const late = await connectDaemon(relay, {
      hello: [{ type: 'report_sessions', sessions: [{ session_id: 'old' }] }],
    });
    await app.next('session_update', (frame) => sessionIn(frame).id === idOf(late, 'old'));
    const created = await relay.call('createSession', { body: { deviceId: late.deviceId, message: 'wait' } });
    await relay.call('watch', { body: { sessionId: idOf(late, 'old') } });
    await late.next('watch_session');
    expect(late.inbox.count('task_start')).toBe(0);
    late.send({ type: 'status', running_tasks: [] });
    expect(await late.next('task_start')).toMatchObject({ task_id: created.body.taskId });
  });

  it('without a list of texts is dropped and counted', async () => {
    const before = await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'invalid' });
    daemon.send({ type: 'status' });
    daemon.send({ type: 'status', running_tasks: 'all' });
    daemon.send({ type: 'status', running_tasks: [1] });
    await nextStart(relay, daemon);
    await tick(daemon, app);
    expect(await counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'invalid' })).toBe(before + 3);
  });
});
