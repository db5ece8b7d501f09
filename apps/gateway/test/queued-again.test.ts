/**
 * Promise: a task that the database queues again, because it was set back in time, does not reach its daemon a second time (R10, R11); one
 * that was given back, because it was certainly not written, reaches it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { claimTasks, unclaimTask, withDevice } from '@relay/database';
import { type Frame, connectDaemon } from '@relay/testing';
import { type Scene, begin, end, openScene, readTask, run, say, tick, until } from './conversation.ts';

describe('a task that the database queues again', () => {
  let { relay, daemon, app } = {} as Scene;
  beforeAll(
    async () =>
      void ({ relay, daemon, app } = await openScene({
        config: { outcomeAskMs: 40, daemonReplyTimeoutMs: 60_000, sweepIntervalMs: 600_000 },
      })),
  );
  afterAll(() => relay.stop());

  const setBack = (id: string) =>
    relay.database.models.task.update({
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

  it('R11: while it runs, is not written again, and completes as usual', async () => {
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

  it('R11: after its cancel, is not written again on the connection that has it', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'cancelled');
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'the first' });
    const followUp = await say(relay, id, 'go on');
    await daemon.next('task_resume', (frame) => frame.task_id === followUp);
    await relay.call('cancelSession', { params: { id } });
    await daemon.next('task_cancel', (frame) => frame.task_id === followUp);
    await setBack(followUp);
    await others('beside the cancelled one');
    expect(daemon.inbox.all.filter(({ type, task_id }) => type === 'task_resume' && task_id === followUp)).toHaveLength(
      1,
    );
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
  it('because its claiming connection closed before the write, is written by the next one', async () => {
    const { database } = relay;
    const { registration, deviceId } = daemon;
    const sessions = [await run(relay, daemon, app, 'given back'), await run(relay, daemon, app, 'not given back')];
    for (const { taskId } of sessions) await end(daemon, app, taskId, 'TASK_COMPLETE', { result: `done ${taskId}` });
    await daemon.close();
    const [givenBack, doubtful] = [
      await say(relay, sessions[0]!.id, 'go on'),
      await say(relay, sessions[1]!.id, 'go on'),
    ];
    // An older connection claims both, and its socket closes before the first write; it can report this only after the
    // next one has begun.
    const older = await withDevice(database, deviceId, async (tx, device) => {
      await claimTasks(tx, deviceId, device!.fence);
      return device!.fence;
    });
    daemon = await connectDaemon(relay, { registration });
    const questions = [await daemon.next('get_messages'), await daemon.next('get_messages')];
    await withDevice(database, deviceId, (tx) => unclaimTask(tx, givenBack, older));
    await begin(relay, daemon, { message: 'wakes the queue' });
    await daemon.next('task_resume', (frame) => frame.task_id === givenBack);
    const answer = ({ request_id, session_id }: Frame) =>
      daemon.send({ type: 'messages', request_id, session_id, messages: [], has_more: false });
    for (const question of questions) answer(question);
    const answerMore = async (): Promise<void> => {
      for (;;) answer(await daemon.next('get_messages'));
    };
    answerMore().catch(() => undefined);
    await until(async () => (await readTask(relay, doubtful)).state === 'unknown');
    await end(daemon, app, givenBack, 'TASK_COMPLETE', { session_id: 'given back', result: 'gone on' });
    expect(await readTask(relay, givenBack)).toMatchObject({ state: 'completed', result: 'gone on' });
    expect([timesWritten(givenBack), timesWritten(doubtful)]).toEqual([1, 0]);
  });
});
