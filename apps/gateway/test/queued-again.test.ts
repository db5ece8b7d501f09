/** Promise: a task that the database queues again, because it was set back in time, does not reach its daemon a second time (R10, R11). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDaemon } from '@relay/testing';
import { type Scene, end, openScene, readTask, run, say, tick } from './conversation.ts';

describe('a task that the database queues again', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(async () => void ({ relay, daemon, app } = await openScene()));
  afterAll(() => relay.stop());

  const setBack = (id: string) =>
    relay.database.prisma.task.update({
      where: { id },
      data: { state: 'queued', sentAt: null, fence: null, finishedAt: null, result: null, instruction: 'go on' },
    });
  /** Another session gets a message, so that the queue is looked at and everything in it written. */
  const others = async (name: string) => {
    const other = await run(relay, daemon, app, name);
    await end(daemon, app, other.taskId, 'TASK_COMPLETE', { result: `done ${name}` });
  };
  const timesWritten = (taskId: string) =>
    daemon.inbox.all.filter(({ type, task_id }) => String(type).startsWith('task_') && task_id === taskId).length;

  it('R11: while it runs, is not written again, and ends as it would have', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'runs');
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'the first' });
    const followUp = await say(relay, id, 'go on');
    await daemon.next('task_resume', (frame) => frame.task_id === followUp);
    daemon.event(followUp, 'PROGRESS', { session_id: 'runs', action: 'reads', target: 'a file' });
    await tick(daemon, app);
    await setBack(followUp);
    await others('beside it');
    expect(timesWritten(followUp)).toBe(1);
    await end(daemon, app, followUp, 'TASK_COMPLETE', { session_id: 'runs', result: 'the second' });
    expect(await readTask(relay, followUp)).toMatchObject({ state: 'completed' });
  });

  it('R11: is not written again to a daemon that comes back and lists it', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'listed');
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'the first' });
    const followUp = await say(relay, id, 'go on');
    await daemon.next('task_resume', (frame) => frame.task_id === followUp);
    const { registration } = daemon;
    await daemon.close();
    await setBack(followUp);
    daemon = await connectDaemon(relay, {
      registration,
      hello: [{ type: 'status', running_tasks: [followUp] }],
    });
    await others('after it');
    expect(timesWritten(followUp)).toBe(0);
    await end(daemon, app, followUp, 'TASK_COMPLETE', { session_id: 'listed', result: 'the second' });
    expect(await readTask(relay, followUp)).toMatchObject({ state: 'completed' });
  });
});
