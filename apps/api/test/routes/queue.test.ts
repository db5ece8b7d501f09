import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ChangeQueued, SessionQueue } from '@relay/protocol';
import { connectApp, connectDaemon, registerDevice } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, begin, openScene, pathOf, report, updateOf } from '../scene.ts';

describe('the queue of a session', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ apis: 2, config: { statusWaitMs: 100, daemonReplyTimeoutMs: 200, outcomeAskMs: 1 } });
  });
  afterAll(() => scene.relay.stop());

  const path = (rest = '') => `${pathOf('x:scripted:y', '/queue')}${rest}`;
  describe('GET', () => itAsksForCredentials(() => scene.relay, 'readQueue', { path }));
  describe('PATCH', () =>
    itAsksForCredentials(() => scene.relay, 'changeQueued', { path: () => path('/task'), body: {} }));
  describe('DELETE', () => itAsksForCredentials(() => scene.relay, 'removeQueued', { path: () => path('/task') }));

  describe('DELETE of all', () => itAsksForCredentials(() => scene.relay, 'clearQueue', { path }));

  const queueOf = async (id: string) =>
    expectSuccess('readQueue', 200, await scene.relay.call('readQueue', { params: { id } })) as SessionQueue;
  const textsOf = ({ tasks }: SessionQueue) => tasks.map(({ content }) => content);
  const send = async (id: string, content: string, more: object = {}) =>
    (await scene.relay.call('sendMessage', { params: { id }, body: { content, ...more } })).body.taskId;
  const change = (id: string, taskId: string, body: ChangeQueued, user = 'alice') =>
    scene.relay.call('changeQueued', { params: { id, taskId }, body, user });
  const changed = async (id: string, taskId: string, body: ChangeQueued) =>
    expectSuccess('changeQueued', 200, await change(id, taskId, body)) as SessionQueue;
  const remove = (id: string, taskId: string, user = 'alice') =>
    scene.relay.call('removeQueued', { params: { id, taskId }, user });
  const stateOf = async (taskId: string) =>
    (await scene.relay.call('readTask', { params: { id: taskId } })).body.state as string;
  const resumed = (taskId: string, daemon = scene.daemon) =>
    daemon.next('task_resume', (frame) => frame.task_id === taskId);
  const end = (taskId: string, daemon = scene.daemon) => daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });

  /** A session with a running first task, and these messages in its queue. Returns their tasks in order. */
  const line = async (native: string, ...texts: string[]) => {
    const { id, taskId } = await begin(scene, native);
    const tasks: string[] = [];
    for (const text of texts) tasks.push(await send(id, text));
    return { id, running: taskId, tasks };
  };
  /** A session whose device is away, with its first message. */
  const unsent = async (message: string) => {
    const registration = await registerDevice(scene.relay);
    const body = { deviceId: registration.deviceId, message };
    const created = (await scene.relay.call('createSession', { body })).body as { id: string; taskId: string };
    return { ...created, registration };
  };

  it('lists queued tasks in order, without the running one; the session has their number and a version', async () => {
    const { id, tasks } = await line('listed', 'one', 'two');
    const queue = await queueOf(id);
    expect(queue).toMatchObject({
      sessionId: id,
      tasks: [
        { taskId: tasks[0], kind: 'resume', content: 'one', images: false },
        { taskId: tasks[1], kind: 'resume', content: 'two', images: false },
      ],
    });
    const { session } = await updateOf(scene.app, id, ({ queue }) => queue?.count === 2);
    expect(session).toMatchObject({ queue: { count: 2, v: queue.v } });
    const said = await scene.app.next('new_message', (frame) => frame.sessionId === id && textOf(frame) === 'one');
    expect(said.message).toMatchObject({ uuid: queue.tasks[0]!.uuid });
  });

  it('shows the start time of the running task, in lists and frames, until it completes', async () => {
    const { id, running } = await line('clock');
    await send(id, 'behind it');
    const { session } = await updateOf(scene.app, id, ({ queue }) => queue !== undefined);
    const { body } = await scene.relay.call('readTask', { params: { id: running } });
    expect(session).toMatchObject({ runningSince: body.sentAt });
    const inList = (await scene.relay.call('listSessions')).body.sessions.find((one) => one.id === id);
    expect(inList).toMatchObject({ runningSince: body.sentAt });
    await scene.relay.call('cancelSession', { params: { id }, body: { which: 'all' } });
    const { session: over } = await updateOf(scene.app, id, ({ status }) => status === 'idle');
    expect(over).not.toHaveProperty('runningSince');
  });

  it('is empty without queued tasks', async () => {
    const id = await report(scene, 'nothing waits');
    expect((await queueOf(id)).tasks).toEqual([]);
  });

  describe('editing', () => {
    it('sends the new text, and other apps get the changed queue', async () => {
      const other = await connectApp(scene.relay, { api: 1 });
      const { id, running, tasks } = await line('edited', 'delete it');
      const before = await queueOf(id);
      const after = await changed(id, tasks[0]!, { content: 'keep it' });
      expect(textsOf(after)).toEqual(['keep it']);
      expect(after.v).not.toBe(before.v);
      const { session } = await updateOf(other, id, ({ queue }) => queue?.v === after.v);
      expect(session).toMatchObject({ queue: { count: 1 }, lastMessage: 'keep it' });
      end(running);
      expect(await resumed(tasks[0]!)).toMatchObject({ message: 'keep it' });
      await other.close();
    });

    it('also changes the first message, and the title derived from it', async () => {
      const { id, taskId, registration } = await unsent('write a tset');
      await changed(id, taskId, { content: 'write a test' });
      const session = (await scene.relay.call('listSessions')).body.sessions.find((one) => one.id === id);
      expect(session).toMatchObject({ title: 'write a test', lastMessage: 'write a test' });
      const daemon = await connectDaemon(scene.relay, { registration });
      expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId, instruction: 'write a test' });
    });

    it('creates no new message: a repetition of its original request changes and sends nothing', async () => {
      const { id, running } = await line('repeated');
      const headers = { 'Idempotency-Key': 'edited-1' };
      const post = () => scene.relay.call('sendMessage', { params: { id }, body: { content: 'first' }, headers });
      const { taskId } = (await post()).body;
      await changed(id, taskId, { content: 'second' });
      const again = await post();
      expect([again.headers['idempotent-replay'], again.body.taskId]).toEqual(['true', taskId]);
      expect(textsOf(await queueOf(id))).toEqual(['second']);
      expectSuccess('removeQueued', 204, await remove(id, taskId));
      expect((await post()).body.taskId).toBe(taskId);
      expect((await queueOf(id)).tasks).toEqual([]);
      end(running);
    });

    it("shows the daemon's repetition of the message once", async () => {
      const { id, running, tasks } = await line('echo', 'old words');
      await changed(id, tasks[0]!, { content: 'new words' });
      end(running);
      await resumed(tasks[0]!);
      scene.daemon.event(tasks[0]!, 'USER_MESSAGE', { message: 'new words' });
      scene.daemon.event(tasks[0]!, 'TASK_COMPLETE', { result: 'marker of the echo' });
      await scene.app.next('new_message', (frame) => textOf(frame) === 'marker of the echo');
      expect(scene.app.inbox.count('new_message', (frame) => textOf(frame) === 'new words')).toBe(0);
    });

    it('keeps the text of a choice', async () => {
      const { id, running } = await line('choice');
      scene.daemon.event(running, 'WAIT_FOR_USER', { prompt: 'Which?', options: [{ label: 'A' }, { label: 'B' }] });
      const { session } = await updateOf(scene.app, id, ({ prompt }) => prompt !== undefined);
      const { registration } = scene.daemon;
      await scene.daemon.close();
      const uuid = (session as { prompt: { id: string } }).prompt.id;
      const answer = await scene.relay.call('answerPrompt', { params: { id, uuid }, body: { option: '1' } });
      expect((await queueOf(id)).tasks).toMatchObject([{ content: 'A', answers: uuid, choice: true }]);
      expectRefusal(await change(id, answer.body.taskId, { content: 'B' }), 'TASK_NOT_CHANGEABLE');
      // A withdrawn answer opens the question again.
      expectSuccess('removeQueued', 204, await remove(id, answer.body.taskId));
      const { session: open } = await updateOf(scene.app, id, ({ queue, prompt }) => !queue && prompt !== undefined);
      expect(open).toMatchObject({ status: 'waiting', prompt: { id: uuid } });
      scene.daemon = await connectDaemon(scene.relay, { registration });
    });
  });

  describe('moving', () => {
    it('sends in the new order, and later messages come last', async () => {
      const { id, running, tasks } = await line('moved', 'a', 'b', 'c');
      const [a, b, c] = tasks as [string, string, string];
      expect(textsOf(await changed(id, c, { before: a }))).toEqual(['c', 'a', 'b']);
      expect(textsOf(await changed(id, a, { after: b }))).toEqual(['c', 'b', 'a']);
      const d = await send(id, 'd');
      expect(textsOf(await queueOf(id))).toEqual(['c', 'b', 'a', 'd']);
      for (const [ended, next] of [
        [running, c],
        [c, b],
        [b, a],
        [a, d],
      ] as const) {
        end(ended);
        await resumed(next);
      }
    });

    it('edits and moves in one request', async () => {
      const { id, tasks } = await line('both', 'a', 'b');
      expect(textsOf(await changed(id, tasks[1]!, { content: 'B', before: tasks[0]! }))).toEqual(['B', 'a']);
    });

    it('keeps the first message of a session first', async () => {
      const { id, taskId } = await unsent('begin');
      const next = await send(id, 'go on');
      expectRefusal(await change(id, next, { before: taskId }), 'TASK_NOT_CHANGEABLE');
      expectRefusal(await change(id, taskId, { after: next }), 'TASK_NOT_CHANGEABLE');
      expect(textsOf(await queueOf(id))).toEqual(['begin', 'go on']);
    });

    it('never turns an older message into the answer to a question', async () => {
      const { id, running, tasks } = await line('older', 'yes', 'no');
      scene.daemon.event(running, 'WAIT_FOR_USER', { prompt: 'Delete?' });
      await updateOf(scene.app, id, ({ status }) => status === 'waiting');
      expect(textsOf(await changed(id, tasks[1]!, { before: tasks[0]! }))).toEqual(['no', 'yes']);
      const answer = await send(id, 'not that');
      await resumed(answer);
      expect(scene.daemon.inbox.count('task_resume', (frame) => tasks.includes(String(frame.task_id)))).toBe(0);
      end(answer);
      await resumed(tasks[1]!);
    });
  });

  describe('removing', () => {
    it('prevents delivery; running and other queued tasks continue', async () => {
      const { id, running, tasks } = await line('removed', 'a', 'b');
      expectSuccess('removeQueued', 204, await remove(id, tasks[0]!));
      expect(await stateOf(tasks[0]!)).toBe('cancelled');
      expect(await stateOf(running)).not.toBe('cancelled');
      await updateOf(scene.app, id, ({ queue, status }) => queue?.count === 1 && status === 'active');
      end(running);
      await resumed(tasks[1]!);
      expect(scene.daemon.inbox.count('task_resume', (frame) => frame.task_id === tasks[0])).toBe(0);
    });

    it('of all keeps the running task and delayed messages, and prevents every delivery', async () => {
      const { id, running, tasks } = await line('cleared', 'a', 'b');
      const later = await send(id, 'c', { notBefore: new Date(Date.now() + 3_600_000).toISOString() });
      expectRefusal(await scene.relay.call('clearQueue', { params: { id }, user: 'bob' }), 'SESSION_NOT_FOUND');
      const queue = await scene.relay.call('clearQueue', { params: { id } });
      expectSuccess('clearQueue', 200, queue);
      expect(queue.body).toMatchObject({ sessionId: id, tasks: [], later: [{ taskId: later }] });
      expect(await Promise.all(tasks.map(stateOf))).toEqual(['cancelled', 'cancelled']);
      await updateOf(scene.app, id, ({ queue: waiting, status }) => waiting === undefined && status === 'active');
      end(running);
      await updateOf(scene.app, id, ({ status }) => status === 'idle');
      expect(scene.daemon.inbox.count('task_resume', (frame) => tasks.includes(String(frame.task_id)))).toBe(0);
      // Nothing waits: nothing changes.
      expectSuccess('clearQueue', 200, await scene.relay.call('clearQueue', { params: { id } }));
    });

    it('removes the queued tasks after the first message together with it', async () => {
      const { id, taskId } = await unsent('never mind');
      const behind = await send(id, 'behind it');
      expectSuccess('removeQueued', 204, await remove(id, taskId));
      await updateOf(scene.app, id, ({ status, queue }) => status === 'idle' && queue === undefined);
      expect(await stateOf(behind)).toBe('cancelled');
    });
  });

  describe('is refused', () => {
    const both = async (id: string, taskId: string, code: Parameters<typeof expectRefusal>[1]) => {
      expectRefusal(await change(id, taskId, { content: 'other' }), code);
      expectRefusal(await remove(id, taskId), code);
    };

    it('once the daemon has it', async () => {
      const { id, running, tasks } = await line('sent', 'a', 'b');
      await both(id, running, 'TASK_ALREADY_SENT');
      expectRefusal(await change(id, tasks[0]!, { before: running }), 'TASK_ALREADY_SENT');
    });

    it('once it is completed', async () => {
      const { id, running, tasks } = await line('over', 'a');
      await remove(id, tasks[0]!);
      await both(id, tasks[0]!, 'TASK_ALREADY_ENDED');
      end(running);
      await updateOf(scene.app, id, ({ status }) => status === 'idle');
      await both(id, running, 'TASK_ALREADY_ENDED');
    });

    it('for another session, another user, and an unknown task', async () => {
      const { id, tasks } = await line('mine', 'a');
      const { id: other } = await line('other');
      await both(other, tasks[0]!, 'TASK_NOT_FOUND');
      await both(id, 'nothing', 'TASK_NOT_FOUND');
      expectRefusal(await change(id, tasks[0]!, { content: 'x' }, 'bob'), 'SESSION_NOT_FOUND');
      expectRefusal(await remove(id, tasks[0]!, 'bob'), 'SESSION_NOT_FOUND');
      expectRefusal(await scene.relay.call('readQueue', { params: { id }, user: 'bob' }), 'SESSION_NOT_FOUND');
    });

    it.each([
      ['nothing to change', {}],
      ['a blank text', { content: ' ' }],
      ['both directions', { before: 'a', after: 'b' }],
    ])('with %s', async (_what, body) => {
      const { id, tasks } = await line(`bad ${_what}`, 'a');
      expectRefusal(await change(id, tasks[0]!, body), 'INVALID_REQUEST');
    });
  });

  it('is changed or sent, never both, in any order of the two', async () => {
    const { id, running, tasks } = await line('race', 'a', 'b', 'c', 'd');
    let last = running;
    for (const taskId of tasks) {
      end(last);
      const answer = await remove(id, taskId);
      if (answer.status === 204) expect(await stateOf(taskId)).toBe('cancelled');
      else {
        expectRefusal(answer, 'TASK_ALREADY_SENT');
        await resumed(taskId);
        last = taskId;
      }
    }
    const marker = await send(id, 'marker of the race');
    if (last !== running) end(last);
    await resumed(marker);
    for (const taskId of tasks) {
      const times = scene.daemon.inbox.count('task_resume', (frame) => frame.task_id === taskId);
      expect([taskId, times]).toEqual([taskId, (await stateOf(taskId)) === 'cancelled' ? 0 : 1]);
    }
  });

  describe('POST /cancel with `which`', () => {
    const cancel = (id: string, which?: 'running' | 'all') =>
      scene.relay.call('cancelSession', { params: { id }, body: which ? { which } : {} });

    it('running: keeps queued tasks', async () => {
      const { id, running, tasks } = await line('only running', 'a');
      expect(expectSuccess('cancelSession', 202, await cancel(id, 'running'))).toEqual({
        taskId: running,
        state: 'cancelled',
      });
      await resumed(tasks[0]!);
      const away = await unsent('not yet');
      expectRefusal(await cancel(away.id, 'running'), 'NO_RUNNING_TASK');
      expect((await queueOf(away.id)).tasks).toHaveLength(1);
    });

    it('all: cancels the running task and all queued ones', async () => {
      const { id, running, tasks } = await line('all of it', 'a', 'b');
      expect(expectSuccess('cancelSession', 202, await cancel(id, 'all'))).toEqual({
        taskId: running,
        state: 'cancelled',
        queued: tasks,
      });
      await scene.daemon.next('task_cancel', (frame) => frame.task_id === running);
      await updateOf(scene.app, id, ({ status, queue }) => status === 'idle' && queue === undefined);
      const next = await send(id, 'from the start');
      await resumed(next);
      expect(scene.daemon.inbox.count('task_resume', (frame) => tasks.includes(String(frame.task_id)))).toBe(0);
    });

    it('all: cancels queued tasks without a running one; the next request finds nothing', async () => {
      const { id, taskId } = await unsent('away');
      const behind = await send(id, 'behind');
      expect((await cancel(id, 'all')).body).toEqual({ taskId, state: 'cancelled', queued: [taskId, behind] });
      expectRefusal(await cancel(id, 'all'), 'NO_RUNNING_TASK');
    });

    it('running with a task: cancels only this one, and no queued one', async () => {
      const { id, running, tasks } = await line('only this one', 'a');
      const cancelOnly = (taskId: string) =>
        scene.relay.call('cancelSession', { params: { id }, body: { which: 'running', taskId } });
      expectRefusal(await cancelOnly(tasks[0]!), 'NO_RUNNING_TASK');
      // A queued task has its own route, and "all" accepts no taskId either.
      const all = { which: 'all', taskId: tasks[0]! } as const;
      expectRefusal(await scene.relay.call('cancelSession', { params: { id }, body: all }), 'NO_RUNNING_TASK');
      expect(await stateOf(tasks[0]!)).toBe('queued');
      expect(await stateOf(running)).toBe('running');
      expect((await cancelOnly(running)).body).toEqual({ taskId: running, state: 'cancelled' });
      await resumed(tasks[0]!);
      expectRefusal(await cancelOnly(running), 'NO_RUNNING_TASK');
    });

    it('refuses another value', async () => {
      const { id } = await line('words');
      const answer = await scene.relay.call('POST', pathOf(id, '/cancel'), { body: { which: 'some' } });
      expectRefusal(answer, 'INVALID_REQUEST', 'which');
    });
  });
});

const textOf = (frame: object) => (frame as { message: { content: string } }).message.content;
