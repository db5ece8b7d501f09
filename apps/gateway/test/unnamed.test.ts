/**
 * Sessions whose first task finished before the daemon named them, and that the daemon reports afterwards (rules,
 * 3.11).
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type FieldDaemon,
  type FieldTask,
  type Habits,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startFieldDaemon,
  startRelay,
} from '@relay/testing';
import { begin as beginWith, messageIn, readTask, say, sessionIn, until } from './conversation.ts';

describe('a session that was never named', () => {
  let relay: TestRelay;
  let app: TestApp;
  const daemons: FieldDaemon[] = [];

  beforeAll(async () => {
    relay = await startRelay({
      config: { outcomeAskMs: 40, statusLostMs: 1, daemonReplyTimeoutMs: 10_000, sweepIntervalMs: 60_000 },
    });
    app = await connectApp(relay);
  });
  afterEach(async () => {
    for (const daemon of daemons.splice(0)) await daemon.stop();
  });
  afterAll(() => relay.stop());

  const daemonWith = async (habits: Habits) => {
    const daemon = await startFieldDaemon(relay, { habits });
    daemons.push(daemon);
    return daemon;
  };
  const idOf = (daemon: FieldDaemon, native: string) => `${daemon.deviceId}:${daemon.registration.agentType}:${native}`;
  const begin = async (daemon: FieldDaemon, instruction: string) => {
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: instruction } });
    return { pendingId: body.id, task: await daemon.nextTask() };
  };
  const ended = (pendingId: string, state: string) =>
    app.next('session_update', (frame) => {
      const { id, lastTask } = sessionIn(frame);
      return id === pendingId && lastTask?.state === state;
    });
  const cancel = async (daemon: FieldDaemon, pendingId: string, task: FieldTask) => {
    await relay.call('cancelSession', { params: { id: pendingId } });
    await daemon.next('task_cancel', (frame) => frame.task_id === task.id);
  };
  const named = async (pendingId: string) =>
    sessionIn(await app.next('session_update', (frame) => frame.previousId === pendingId));
  const sessionsOf = async (daemon: FieldDaemon) =>
    ((await relay.call('listSessions')).body.sessions as { id: string }[])
      .map(({ id }) => id)
      .filter((id) => id.startsWith(daemon.deviceId))
      .sort();

  it.each<[string, string, Habits]>([
    ['was cancelled', 'cancelled', {}],
    ['was cancelled, and of which every page says that there is more', 'cancelled', { ignoresCursors: true }],
    ['failed', 'failed', {}],
  ])('F18: appears in a report, when its first task %s', async (_, state, habits) => {
    const daemon = await daemonWith({ ...habits, neverNames: true });
    const { pendingId, task } = await begin(daemon, 'fix the tests');
    daemon.say(task, 'let me see');
    if (state === 'cancelled') await cancel(daemon, pendingId, task);
    else {
      daemon.fail(task, 'broken');
      await ended(pendingId, state);
    }
    daemon.report();
    const id = idOf(daemon, task.native);
    expect(await named(pendingId)).toMatchObject({ id, lastMessage: daemon.history(task.native).at(-1)!.content });
    expect(await sessionsOf(daemon)).toEqual([id]);
    expect(await readTask(relay, task.id)).toMatchObject({ sessionId: id, state });
    const followUp = await say(relay, pendingId, 'go on');
    expect(await daemon.nextTask()).toMatchObject({ id: followUp, native: task.native });
  });

  it.each<[string, Habits]>([
    ['was lost', {}],
    ['was unknown', { emptyStatus: true }],
  ])('F18: has the outcome of its first task in its history, when that %s', async (how, habits) => {
    const daemon = await daemonWith({ ...habits, neverNames: true });
    const { pendingId, task } = await begin(daemon, `build it: ${how}`);
    await until(async () => (await readTask(relay, task.id)).state !== 'queued');
    await daemon.drop();
    daemon.finish(task, 'it is built');
    await daemon.connect();
    const id = idOf(daemon, task.native);
    expect(await named(pendingId)).toMatchObject({ id });
    await app.next('session_update', (frame) => {
      const session = sessionIn(frame);
      return session.id === id && session.lastTask?.state === 'completed' && session.status === 'idle';
    });
    expect(await readTask(relay, task.id)).toMatchObject({
      sessionId: id,
      state: 'completed',
      result: 'it is built',
      note: expect.any(String),
    });
    const followUp = await say(relay, pendingId, 'go on');
    expect(await daemon.nextTask()).toMatchObject({ id: followUp, native: task.native });
    const shown = app.inbox.all.filter((frame) => frame.type === 'new_message' && frame.sessionId === id);
    expect(shown.filter((frame) => messageIn(frame).content === 'it is built')).toHaveLength(1);
    expect(daemon.inbox.count('task_start')).toBe(1);
  });

  it('F18: appears by its transcript, if no report has shown it', async () => {
    const daemon = await daemonWith({ neverNames: true, hidesItsSessions: true });
    const { pendingId, task } = await begin(daemon, 'tidy up');
    await cancel(daemon, pendingId, task);
    daemon.send({
      type: 'event',
      task_id: '',
      event_type: 'AGENT_RESPONSE',
      session_id: task.native,
      uuid: `late-${task.native}`,
      content: 'stopping',
    });
    expect(await named(pendingId)).toMatchObject({ id: idOf(daemon, task.native) });
    expect(await sessionsOf(daemon)).toEqual([idOf(daemon, task.native)]);
  });

  it.each<[string, string, Habits]>([
    ['lost', 'TASK_LOST', {}],
    ['unknown', 'DELIVERY_UNKNOWN', { emptyStatus: true }],
  ])(
    'has the outcome of its first task in its history, when a late event names it after that was %s',
    async (how, code, habits) => {
      const daemon = await daemonWith({ ...habits, neverNames: true, hidesItsSessions: true });
      const { pendingId, task } = await begin(daemon, `paint it: ${how}`);
      await until(async () => (await readTask(relay, task.id)).state !== 'queued');
      await daemon.drop();
      daemon.finish(task, 'it is painted');
      await daemon.connect();
      await app.next('session_update', (frame) => {
        const { id, lastTask } = sessionIn(frame);
        return id === pendingId && lastTask?.code === code;
      });
      daemon.send({ type: 'event', task_id: task.id, event_type: 'SESSION_STARTED', session_id: task.native });
      const id = idOf(daemon, task.native);
      expect(await named(pendingId)).toMatchObject({ id });
      await app.next('session_update', (frame) => {
        const session = sessionIn(frame);
        return session.id === id && session.lastTask?.state === 'completed';
      });
      expect(await readTask(relay, task.id)).toMatchObject({ state: 'completed', result: 'it is painted' });
    },
  );

  it('has the outcome of its first task in its history, if a late completion of that was received and shown', async () => {
    const daemon = await daemonWith({ emptyStatus: true, neverNames: true, hidesItsSessions: true });
    const { pendingId, task } = await begin(daemon, 'paint it blue');
    await until(async () => (await readTask(relay, task.id)).state !== 'queued');
    await daemon.drop();
    daemon.finish(task, 'it is blue');
    await daemon.connect();
    await ended(pendingId, 'unknown');
    const late = { type: 'event', task_id: task.id, event_type: 'TASK_COMPLETE', session_id: task.native };
    daemon.send({ ...late, result: 'it is blue' });
    const id = idOf(daemon, task.native);
    await app.next('session_update', (frame) => {
      const session = sessionIn(frame);
      return session.id === id && session.lastTask?.state === 'completed';
    });
    const shown = app.inbox.all.filter((frame) => frame.type === 'new_message' && frame.sessionId === id);
    expect(shown.filter((frame) => messageIn(frame).content === 'it is blue')).toHaveLength(1);
  });

  describe('F1, F18: whose connection closes during a history request', () => {
    const begun = async (instruction: string) => {
      const daemon = await connectDaemon(relay);
      const { taskId, pendingId } = await beginWith(relay, daemon, { message: instruction });
      await daemon.drop();
      const { registration, deviceId } = daemon;
      const native = instruction.replaceAll(' ', '-');
      const timestamp = new Date().toISOString();
      const messages = [
        { uuid: `${native}-1`, role: 'USER', content: instruction, timestamp },
        { uuid: `${native}-2`, role: 'AGENT', content: 'it is done', timestamp },
      ];
      const answer = async (connection: TestDaemon) => {
        const { request_id } = await connection.next('get_messages');
        connection.send({ type: 'messages', request_id, session_id: native, messages, has_more: false });
      };
      return {
        taskId,
        pendingId,
        id: `${deviceId}:${registration.agentType}:${native}`,
        /** Always with the same report. */
        connect: () =>
          connectDaemon(relay, {
            registration,
            hello: [
              { type: 'status', running_tasks: [] },
              { type: 'report_sessions', sessions: [{ session_id: native, last_message: 'it is done' }] },
            ],
          }),
        answer,
        answerAll: async (connection: TestDaemon) => {
          for (;;) await answer(connection);
        },
      };
    };
    const completed = (id: string, taskId: string) =>
      app.next('session_update', (frame) => {
        const { id: session, lastTask } = sessionIn(frame);
        return session === id && lastTask?.id === taskId && lastTask.state === 'completed';
      });

    it.each([
      ['for how it began', 'carry it', 0],
      ['for the outcome of its first task, which it has', 'wash it', 1],
    ])('%s, is asked again over the next one', async (_, instruction, answers) => {
      const { taskId, pendingId, id, connect, answer, answerAll } = await begun(instruction);
      const first = await connect();
      if (answers > 0) {
        await answer(first);
        expect(await named(pendingId)).toMatchObject({ id });
      }
      await first.next('get_messages');
      await first.drop();
      const second = await connect();
      answerAll(second).catch(() => undefined);
      await completed(id, taskId);
      expect(await readTask(relay, taskId)).toMatchObject({ sessionId: id, state: 'completed', result: 'it is done' });
      await second.close();
    });
  });

  it('F18: has the outcome of its first task, when that is lost after the last report', async () => {
    const daemon = await daemonWith({ neverNames: true, quietStatus: true, neverActive: true });
    const { pendingId, task } = await begin(daemon, 'count to ten');
    const isIn = async (state: string) => (await readTask(relay, task.id)).state === state;
    await until(async () => {
      daemon.status();
      return isIn('running');
    });
    daemon.say(task, 'ten');
    daemon.report();
    const id = idOf(daemon, task.native);
    await app.next('session_update', (frame) => sessionIn(frame).id === id);
    await until(async () => {
      daemon.send({ type: 'status', running_tasks: [] });
      return !(await isIn('running'));
    });
    expect(await named(pendingId)).toMatchObject({ id });
    await app.next(
      'session_update',
      (frame) => sessionIn(frame).id === id && sessionIn(frame).lastTask?.state === 'completed',
    );
    expect(await readTask(relay, task.id)).toMatchObject({ state: 'completed', result: 'ten' });
  });

  it('F18: does not match another text, or a session from long before', async () => {
    const daemon = await daemonWith({ neverNames: true });
    const { pendingId, task } = await begin(daemon, 'say hello');
    await cancel(daemon, pendingId, task);
    daemon.atDesk('other-words', 'USER', 'good morning');
    daemon.atDesk('other-words', 'USER', 'say hello');
    daemon.atDesk('long-ago', 'USER', 'say hello');
    Object.assign(daemon.history('long-ago')[0]!, { timestamp: new Date(Date.now() - 3_600_000).toISOString() });
    daemon.report();
    expect(await named(pendingId)).toMatchObject({ id: idOf(daemon, task.native) });
    expect(await sessionsOf(daemon)).toEqual(
      [task.native, 'long-ago', 'other-words'].map((native) => idOf(daemon, native)).sort(),
    );
  });

  it('F18: does not match a task with the same text that still runs', async () => {
    const daemon = await daemonWith({ neverNames: true });
    const first = await begin(daemon, 'the same words');
    await cancel(daemon, first.pendingId, first.task);
    const second = await begin(daemon, 'the same words');
    daemon.report();
    expect(await named(first.pendingId)).toMatchObject({ id: idOf(daemon, first.task.native) });
    daemon.send({
      type: 'event',
      task_id: second.task.id,
      event_type: 'SESSION_STARTED',
      session_id: second.task.native,
    });
    expect(await named(second.pendingId)).toMatchObject({ id: idOf(daemon, second.task.native), status: 'active' });
    expect(await sessionsOf(daemon)).toHaveLength(2);
  });

  it('F18: costs nothing if every session is named: the relay sends no request', async () => {
    const daemon = await daemonWith({});
    const { pendingId, task } = await begin(daemon, 'begin');
    await named(pendingId);
    await cancel(daemon, idOf(daemon, task.native), task);
    daemon.atDesk('at-the-desk', 'USER', 'begin');
    daemon.report();
    await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'at-the-desk'));
    await begin(daemon, 'a later thing');
    expect(daemon.inbox.all.filter(({ type }) => type === 'get_messages')).toEqual([]);
  });

  it('F18: keeps nothing of its first message after it is deleted or named', async () => {
    const daemon = await daemonWith({ neverNames: true });
    const kept = async () => {
      const rows = await relay.database.sql.query<{ first_words: string | null }>`
        SELECT first_words FROM sessions WHERE device_id = ${daemon.deviceId}`;
      return rows.map((row) => row.first_words).filter((words) => words !== null);
    };
    const { pendingId, task } = await begin(daemon, 'a secret');
    expect(await kept()).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    await cancel(daemon, pendingId, task);
    await relay.call('deleteSession', { params: { id: pendingId } });
    expect(await kept()).toEqual([]);
    const other = await begin(daemon, 'another');
    daemon.send({
      type: 'event',
      task_id: other.task.id,
      event_type: 'SESSION_STARTED',
      session_id: other.task.native,
    });
    await named(other.pendingId);
    expect(await kept()).toEqual([]);
  });
});
