/**
 * Searching a daemon's history for an outcome (rules, 3.4): tasks whose completion was lost, or came without its text.
 */
import { afterEach, beforeAll, afterAll, describe, expect, it } from '@jest/globals';
import {
  type FieldDaemon,
  type FieldTask,
  type Frame,
  type Habits,
  type TestApp,
  type TestRelay,
  connectApp,
  startFieldDaemon,
  startRelay,
} from '@relay/testing';
import { endTask, withDevice } from '@relay/database';
import { messageIn, readSession, readTask, say, sessionIn, until } from './conversation.ts';

describe('the outcome of a task', () => {
  let relay: TestRelay;
  let app: TestApp;
  const daemons: FieldDaemon[] = [];

  const config = { outcomeAskMs: 40, statusLostMs: 1, statusWaitMs: 300, sweepIntervalMs: 60_000 };

  beforeAll(async () => {
    // The wait for an answer stays long: these daemons answer, and nothing repeats a search that got no answer.
    relay = await startRelay({ gateways: 2, config });
    app = await connectApp(relay);
  });
  afterEach(async () => {
    for (const daemon of daemons.splice(0)) await daemon.stop();
  });
  afterAll(() => relay.stop());

  /** A daemon with these habits, and a task that it runs. */
  const start = async (habits: Habits) => {
    const daemon = await startFieldDaemon(relay, { habits });
    daemons.push(daemon);
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'begin' } });
    const task = await daemon.nextTask();
    const id = `${daemon.deviceId}:${daemon.registration.agentType}:${task.native}`;
    await app.next('session_update', (frame) => frame.previousId === body.id);
    return { daemon, task, id };
  };
  const ended = async (id: string, task: FieldTask, state: string) => {
    await app.next('session_update', (frame: Frame) => {
      const { id: session, lastTask } = sessionIn(frame);
      return session === id && lastTask?.id === task.id && lastTask.state === state;
    });
    return readTask(relay, task.id);
  };
  /** The messages of the agent in a session, when everything that the daemon sent was handled. */
  const heard = async (daemon: FieldDaemon, id: string) => {
    const native = `clock-${Math.random()}`;
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: native }] });
    await app.next('session_update', (frame) => sessionIn(frame).id.endsWith(native));
    return app.inbox.all
      .filter((frame) => frame.type === 'new_message' && frame.sessionId === id)
      .map((frame) => messageIn(frame))
      .filter(({ role }) => role !== 'USER');
  };
  const texts = async (daemon: FieldDaemon, id: string) => (await heard(daemon, id)).map(({ content }) => content);

  it.each<[string, Habits]>([
    ['drops the task from its status', {}],
    ['says status once, with the task still in it', { statusOnce: true, hidesItsSessions: true }],
    ['never drops a task from its status', { growingStatus: true, hidesItsSessions: true, neverActive: true }],
    ['says each text by itself', { textPerEvent: true, growingStatus: true }],
    ['ends its turns without a text', { emptyResult: true, statusOnce: true }],
  ])(
    'F1, A8: of a task that ended in the gap of a reconnect is found with all its texts, when its daemon %s',
    async (_, habits) => {
      const { daemon, task, id } = await start(habits);
      await relay.call('watch', { body: { sessionId: id } });
      daemon.say(task, 'let me see');
      const behind = await say(relay, id, 'and then?');
      await daemon.drop();
      daemon.finish(task, 'the answer');
      await daemon.connect(1);
      expect(await daemon.nextTask()).toMatchObject({ id: behind });
      expect(await readTask(relay, task.id)).toMatchObject({
        state: 'completed',
        result: 'the answer',
        note: expect.any(String),
      });
      const said = await heard(daemon, id);
      // A8: all texts since the instruction, including those not sent live.
      expect(said.map(({ content }) => content)).toEqual(['let me see', 'the answer']);
      expect(said.at(-1)!.uuid).toBe(daemon.history(task.native).find(({ content }) => content === 'the answer')!.uuid);
      const { body } = await relay.call('listNotifications');
      const ofSessions = (body.notifications as { sessionId: string }[]).filter(({ sessionId }) => sessionId !== '');
      expect(ofSessions).toMatchObject([{ sessionId: id, cause: 'done' }]);
      await relay.call('unwatch', { body: { sessionId: id } });
      await relay.database.sql.execute`DELETE FROM notifications`;
    },
  );

  it('F1: came live before the completion was lost: it is not published again', async () => {
    const { daemon, task, id } = await start({ textPerEvent: true });
    daemon.say(task, 'the answer');
    await heard(daemon, id);
    await daemon.drop();
    daemon.finish(task);
    await daemon.connect();
    expect(await ended(id, task, 'completed')).toMatchObject({ result: 'the answer' });
    expect(await texts(daemon, id)).toEqual(['the answer']);
  });

  it('F1: is not taken from a continuing turn: it counts when it comes', async () => {
    const { daemon, task, id } = await start({});
    daemon.say(task, 'let me see');
    await daemon.drop();
    await daemon.connect();
    // Named by an event before it was asked again: no question is left.
    await daemon.next('get_messages');
    daemon.send({ type: 'event', task_id: task.id, event_type: 'PROGRESS', action: 'Looking' });
    daemon.report();
    await heard(daemon, id);
    expect(await readTask(relay, task.id)).toMatchObject({ state: 'running' });
    daemon.finish(task, 'seen');
    expect(await ended(id, task, 'completed')).toMatchObject({ result: 'seen' });
    expect(await readTask(relay, task.id)).not.toHaveProperty('note');
  });

  it("F1: guessed too early is corrected by the daemon's own completion", async () => {
    const { daemon, task, id } = await start({ neverActive: true });
    daemon.say(task, 'a long tool begins');
    await daemon.drop();
    await daemon.connect();
    expect(await ended(id, task, 'completed')).toMatchObject({ result: 'a long tool begins' });
    daemon.finish(task, 'the tool is done');
    await app.next('new_message', (frame) => messageIn(frame).content === 'the tool is done');
    expect(await readTask(relay, task.id)).toMatchObject({ state: 'completed', result: 'the tool is done' });
    expect(await texts(daemon, id)).toEqual(['a long tool begins', 'the tool is done']);
  });

  it('F1, F3: guessed too early is corrected when the daemon completes the task without a text', async () => {
    const { daemon, task, id } = await start({ neverActive: true, emptyResult: true });
    daemon.say(task, 'a long tool begins');
    await daemon.drop();
    await daemon.connect();
    expect(await ended(id, task, 'completed')).toMatchObject({ result: 'a long tool begins' });
    daemon.finish(task, 'the tool is done');
    await app.next('new_message', (frame) => messageIn(frame).content === 'the tool is done');
    expect(await readTask(relay, task.id)).toMatchObject({ state: 'completed', result: 'the tool is done' });
    const followUp = await say(relay, id, 'go on');
    daemon.finish(await daemon.nextTask(), 'gone on');
    await app.next('new_message', (frame) => messageIn(frame).content === 'gone on');
    expect(await readTask(relay, followUp)).toMatchObject({ state: 'completed' });
    expect(await texts(daemon, id)).toEqual(['a long tool begins', 'the tool is done', 'gone on']);
  });

  /**
   * A session with one finished turn, and a second task that was written but not confirmed before the connection
   * closed.
   */
  const cut = async (habits: Habits, { arrives, words = 'and then?' }: { arrives: boolean; words?: string }) => {
    const { daemon, task: first, id } = await start(habits);
    daemon.finish(first, 'the first answer');
    await ended(id, first, 'completed');
    const { socket } = daemon.connection!;
    if (!arrives) socket.removeAllListeners('message');
    const taskId = await say(relay, id, words);
    const task = arrives ? await daemon.nextTask() : { id: taskId, native: first.native, instruction: words };
    await until(async () => (await readTask(relay, taskId)).state === 'sent');
    await daemon.drop();
    return { daemon, task, id };
  };

  describe('whose handing-over was cut', () => {
    it.each<[string, Habits]>([
      ['says status after a connect only', { quietStatus: true, hidesItsSessions: true }],
      ['never lists a task', { emptyStatus: true, newlineResult: true }],
    ])('F1: is completed by the answer in the history, when its daemon %s', async (_, habits) => {
      const { daemon, task, id } = await cut(habits, { arrives: true });
      daemon.finish(task, 'the answer');
      await daemon.connect(1);
      expect(await ended(id, task, 'completed')).toMatchObject({ result: 'the answer', note: expect.any(String) });
      const behind = await say(relay, id, 'thank you');
      expect(await daemon.nextTask()).toMatchObject({ id: behind });
      expect((await texts(daemon, id)).filter((text) => text === 'the answer')).toHaveLength(1);
    });

    it('F1: runs when the history has it without an answer and the session is active', async () => {
      const { daemon, task, id } = await cut({ emptyStatus: true }, { arrives: true });
      await daemon.connect(1);
      daemon.report();
      expect(await ended(id, task, 'running')).not.toHaveProperty('error');
      daemon.finish(task, 'the answer');
      expect(await ended(id, task, 'completed')).toMatchObject({ result: 'the answer' });
      expect((await texts(daemon, id)).filter((text) => text === 'the answer')).toHaveLength(1);
    });

    it('F1: is lost, and not unknown, when the history has it and nothing of the agent', async () => {
      const { daemon, task, id } = await cut({ quietStatus: true, neverActive: true }, { arrives: true });
      daemon.fail(task, 'crashed');
      await daemon.connect(1);
      expect(await ended(id, task, 'failed')).toMatchObject({ error: { code: 'TASK_LOST' } });
    });

    it('F1: differs from the previous turn with the same text', async () => {
      for (const [habits, words] of [
        [{}, 'begin'],
        // Some daemons forward more than the text: these texts contain it.
        [{ newlineResult: true }, 'beg'],
      ] as const) {
        const { daemon, task, id } = await cut(habits, { arrives: false, words });
        await daemon.connect(1);
        expect(await ended(id, task, 'unknown')).toMatchObject({ error: { code: 'DELIVERY_UNKNOWN' } });
      }
    });
  });

  it('F3: of a turn that completed without a text while its connection closed comes with the next connection, and shows once', async () => {
    const { daemon, task, id } = await start({ emptyResult: true, quietStatus: true });
    daemon.finish(task, 'what came of it');
    await daemon.connection!.close();
    await ended(id, task, 'completed');
    await daemon.connect(1);
    await app.next('new_message', (frame) => frame.sessionId === id && messageIn(frame).content === 'what came of it');
    expect(await readTask(relay, task.id)).toMatchObject({ state: 'completed', result: 'what came of it' });
    expect(await texts(daemon, id)).toEqual(['what came of it']);
    const [row] = await relay.database.sql.query<{ instruction: string }>`
      SELECT instruction FROM tasks WHERE id = ${task.id}`;
    expect(row).toEqual({ instruction: '' });
  });

  it('F3, A8: of a turn that completes without a text includes all texts, shown once', async () => {
    for (const textPerEvent of [false, true]) {
      const { daemon, task, id } = await start({ emptyResult: true, textPerEvent });
      daemon.finish(task, 'what I did', 'what came of it');
      await app.next(
        'new_message',
        (frame) => frame.sessionId === id && messageIn(frame).content === 'what came of it',
      );
      await daemon.next('get_messages');
      await daemon.next('get_messages');
      expect(await texts(daemon, id)).toEqual(['what I did', 'what came of it']);
      expect(await readTask(relay, task.id)).toMatchObject({ state: 'completed', result: 'what came of it' });
      expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastMessage: 'what came of it' });
    }
  });

  describe('of a daemon that leaves a question unanswered', () => {
    let patient: { relay: TestRelay; app: TestApp };
    beforeAll(async () => {
      patient = { relay, app };
      relay = await startRelay({ gateways: 2, config: { ...config, daemonReplyTimeoutMs: 400 } });
      app = await connectApp(relay);
    });
    afterAll(async () => {
      await relay.stop();
      ({ relay, app } = patient);
    });

    it('F1: is lost as before when the history lacks it, or is unavailable', async () => {
      for (const habits of [{}, { noHistory: true }]) {
        const { daemon, task, id } = await start(habits);
        await daemon.drop();
        if ('noHistory' in habits) daemon.finish(task, 'never to be found');
        else daemon.fail(task, 'crashed');
        await daemon.connect();
        expect(await ended(id, task, 'failed')).toMatchObject({ error: { code: 'TASK_LOST' } });
      }
    });

    it('F1: is found by a later page when its daemon was too busy to answer before', async () => {
      const habits: Habits = { noHistory: true };
      const { daemon, task, id } = await start(habits);
      await daemon.drop();
      daemon.finish(task, 'the answer');
      await daemon.connect();
      await daemon.next('get_messages');
      habits.noHistory = false;
      expect(await ended(id, task, 'completed')).toMatchObject({ result: 'the answer' });
      expect(await texts(daemon, id)).toEqual(['the answer']);
    });

    it('F1: is completed by a later page when its daemon was too busy to answer before', async () => {
      const habits: Habits = { emptyStatus: true, hidesItsSessions: true };
      const { daemon, task, id } = await cut(habits, { arrives: true });
      daemon.finish(task, 'the answer');
      habits.noHistory = true;
      await daemon.connect(1);
      await daemon.next('get_messages');
      habits.noHistory = false;
      expect(await ended(id, task, 'completed')).toMatchObject({ result: 'the answer', note: expect.any(String) });
      expect(daemon.inbox.all.filter((frame) => frame.task_id === task.id)).toHaveLength(1);
    });

    it('F1: is unknown, and never written again, when the history does not have it or cannot be asked', async () => {
      for (const habits of [{}, { noHistory: true }]) {
        const { daemon, task, id } = await cut(habits, { arrives: false });
        await daemon.connect(1);
        expect(await ended(id, task, 'unknown')).toMatchObject({ error: { code: 'DELIVERY_UNKNOWN' } });
        const behind = await say(relay, id, 'are you there?');
        expect(await daemon.nextTask()).toMatchObject({ id: behind });
      }
    });

    it('F3: of a turn that completed without a text comes later if its daemon was too busy to answer', async () => {
      const habits: Habits = { emptyResult: true };
      const { daemon, task, id } = await start(habits);
      habits.noHistory = true;
      daemon.finish(task, 'the answer');
      // Leaves two requests unanswered, which would stop the search if silence counted.
      for (let nth = 0; nth < 2; nth += 1) await daemon.next('get_messages');
      habits.noHistory = false;
      await app.next('new_message', (frame) => frame.sessionId === id && messageIn(frame).content === 'the answer');
      expect(await readTask(relay, task.id)).toMatchObject({ state: 'completed', result: 'the answer' });
      expect(await texts(daemon, id)).toEqual(['the answer']);
    });
  });
});

describe('a silent task', () => {
  it('F1: needs no more search when it completed over an earlier connection, and takes no answer of a later turn', async () => {
    const relay = await startRelay({ config: { taskSilenceMs: 1, outcomeAskMs: 20 } });
    try {
      const app = await connectApp(relay);
      const daemon = await startFieldDaemon(relay, { habits: { neverActive: true, growingStatus: true } });
      const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'build it' } });
      const task = await daemon.nextTask();
      await app.next('session_update', (frame) => frame.previousId === body.id);
      // As an instance that leaves writes it down, while the daemon is here already.
      await withDevice(relay.database, daemon.deviceId, (tx) =>
        endTask(tx, task.id, {
          kind: 'waiting',
          prompt: { prompt: 'Really?', result: '', options: [], at: new Date().toISOString() },
        }),
      );
      daemon.atDesk(task.native, 'USER', 'never mind');
      daemon.atDesk(task.native, 'AGENT', 'as you like');
      for (let n = 0; n < 40; n += 1) {
        daemon.report();
        await relay.call('listSessions');
      }
      expect(await readTask(relay, task.id)).toMatchObject({ state: 'waiting' });
      await daemon.stop();
    } finally {
      await relay.stop();
    }
  });

  it('F1: is lost if its session was never named and its completion could be in a gap; a late completion settles it', async () => {
    const relay = await startRelay({ config: { taskSilenceMs: 1, outcomeAskMs: 20 } });
    try {
      const habits = { growingStatus: true, hidesItsSessions: true, neverNames: true, neverActive: true };
      const daemon = await startFieldDaemon(relay, { habits });
      const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'build it' } });
      const task = await daemon.nextTask();
      const reportUntil = (state: string) =>
        until(async () => {
          daemon.report();
          return (await readTask(relay, task.id)).state === state;
        });
      await reportUntil('running');
      for (let n = 0; n < 20; n += 1) daemon.report();
      // There was no gap yet, so the task still runs.
      await reportUntil('running');
      const behind = await say(relay, body.id, 'and then?');
      await daemon.drop();
      daemon.finish(task, 'built');
      await daemon.connect();
      await reportUntil('failed');
      expect(await readTask(relay, task.id)).toMatchObject({ error: { code: 'TASK_LOST' } });
      expect(await readTask(relay, behind)).toMatchObject({ error: { code: 'SESSION_NOT_RESOLVED' } });
      daemon.send({
        type: 'event',
        task_id: task.id,
        event_type: 'TASK_COMPLETE',
        result: 'built',
        session_id: 'late',
      });
      await reportUntil('completed');
      expect(await readTask(relay, task.id)).toMatchObject({ result: 'built', note: expect.any(String) });
      expect(daemon.inbox.all.filter(({ type }) => type === 'task_start' || type === 'task_resume')).toHaveLength(1);
      await daemon.stop();
    } finally {
      await relay.stop();
    }
  });

  it('F14: survives a report that marks it inactive; its late answer counts', async () => {
    const relay = await startRelay({ config: { taskSilenceMs: 1, outcomeAskMs: 20 } });
    try {
      const app = await connectApp(relay);
      const daemon = await startFieldDaemon(relay, { habits: { neverActive: true } });
      const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'build it' } });
      const task = await daemon.nextTask();
      await app.next('session_update', (frame) => frame.previousId === body.id);
      daemon.say(task, 'I run the build');
      daemon.send({ type: 'event', task_id: task.id, event_type: 'PROGRESS', action: 'Running', target: 'make' });
      for (let n = 0; n < 3; n += 1) {
        // Searched only once per silence: by one report or by the next one.
        await until(async () => {
          daemon.report();
          await relay.call('listSessions');
          return daemon.inbox.count('get_messages') > n;
        });
      }
      expect((await relay.call('readSession', { params: { id: body.id } })).body).toMatchObject({
        status: 'active',
        lastTask: { state: 'running' },
      });
      daemon.finish(task, 'built');
      await app.next('new_message', (frame) => messageIn(frame).content === 'built');
      expect(await readTask(relay, task.id)).toMatchObject({ state: 'completed', result: 'built' });
      await daemon.stop();
    } finally {
      await relay.stop();
    }
  });
});
