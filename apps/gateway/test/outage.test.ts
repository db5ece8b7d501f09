import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { createUnfoundEnds } from '../src/history/unfound-outcomes.ts';
import { begin, idOf, messageIn, nextStart, readTask, run, sessionIn, until } from './conversation.ts';
import { type OutageDatabase, openOutageDatabase } from './outage-database.ts';

const png = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR and more IEND', 'latin1').toString('base64')}`;

describe('an outage of the database', () => {
  const completions = async () =>
    (await relay.gateways[0]!.metrics.text())
      .split('\n')
      .find((line) => /^relay_tasks_total\{.*state="completed"/.test(line));
  /** No clock of the relay helps: neither a late first `status` nor a sweep. */
  const config = { statusWaitMs: 60_000, sweepIntervalMs: 3_600_000 };
  let database: OutageDatabase;
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  beforeAll(async () => {
    database = await openOutageDatabase();
    relay = await startRelay({ database, config });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(async () => {
    await relay.stop();
    await database.close();
  });

  it('loses no event of a daemon: each counts afterwards, in order and once', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'patient');
    database.setDown(true);
    const before = database.failures;
    daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'patient', uuid: 'a', content: 'nearly' });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    daemon.send({ type: 'status', running_tasks: [] });
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'patient', title: 'After it all' }] });
    // The second attempt has failed too.
    await until(() => Promise.resolve(database.failures > before + 1));
    database.setDown(false);
    await app.next('session_update', (frame) => sessionIn(frame).title === 'After it all');
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'completed', result: 'done' });
    const said = app.inbox.all.filter((frame) => frame.type === 'new_message' && frame.sessionId === id);
    expect(said.map((frame) => messageIn(frame).content)).toEqual(['nearly', 'done']);
    expect(daemon.socket.readyState).toBe(daemon.socket.OPEN);
  });

  it('that hides the commit of a completion does not hide the completion: apps get it once', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'hidden');
    const before = database.failures;
    database.breakAfter((result) => (result as { ended?: string } | undefined)?.ended === 'ended', false);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'told after all' });
    await until(() => Promise.resolve(database.failures > before + 1));
    database.setDown(false);
    await app.next('session_update', (frame) => sessionIn(frame).id === id && sessionIn(frame).status === 'idle');
    const said = app.inbox.all.filter((frame) => frame.type === 'new_message' && frame.sessionId === id);
    expect(said.map((frame) => messageIn(frame).content)).toEqual(['told after all']);
  });

  it('K2: publishes and counts a completion once when its daemon repeats it while the database refuses writes', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'repeated');
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'only once' });
    await app.next('session_update', (frame) => sessionIn(frame).id === id && sessionIn(frame).status === 'idle');
    const counted = await completions();
    database.setReadOnly(true);
    const before = database.failures;
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'only once' });
    await until(() => Promise.resolve(database.failures > before + 1));
    database.setReadOnly(false);
    daemon.event('', 'AGENT_RESPONSE', { session_id: 'repeated', uuid: 'after-k2', content: 'after it' });
    await app.next('new_message', (frame) => messageIn(frame).content === 'after it');
    const said = app.inbox.all.filter((frame) => frame.type === 'new_message' && frame.sessionId === id);
    expect(said.map((frame) => messageIn(frame).content)).toEqual(['only once', 'after it']);
    expect(await completions()).toBe(counted);
  });

  it('does not lose a final text that an earlier connection did not find', async () => {
    const { taskId } = await run(relay, daemon, app, 'wordless');
    daemon.event(taskId, 'TASK_COMPLETE', { result: '' });
    await until(async () => (await readTask(relay, taskId)).state === 'completed');
    const asked: string[] = [];
    const outcomes = { ofWordless: (_: unknown, { id }: { id: string }) => void asked.push(id) };
    const connection = { deviceId: daemon.deviceId, live: true, logger: { warn: () => undefined } };
    const find = createUnfoundEnds({ database, outcomes: outcomes as never, unnamed: {} as never });
    database.setDown(true);
    const before = database.failures;
    find(connection as never);
    await until(() => Promise.resolve(database.failures > before + 1));
    database.setDown(false);
    await until(() => Promise.resolve(asked.includes(taskId)));
  });

  it('between the question for an outcome and its answer does not leave the task running for ever', async () => {
    const { taskId } = await run(relay, daemon, app, 'asked');
    await daemon.drop();
    daemon = await connectDaemon(relay, {
      registration: daemon.registration,
      hello: [{ type: 'status', running_tasks: [] }],
    });
    const { request_id } = await daemon.next('get_messages');
    daemon.socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
      if (frame.type === 'get_messages')
        daemon.send({ type: 'messages', request_id: frame.request_id, messages: [], has_more: false });
    });
    database.setDown(true);
    const before = database.failures;
    daemon.send({ type: 'messages', request_id, session_id: 'asked', messages: [], has_more: false });
    await until(() => Promise.resolve(database.failures > before + 1));
    database.setDown(false);
    await until(async () => (await readTask(relay, taskId)).state === 'failed');
    expect(await readTask(relay, taskId)).toMatchObject({ error: { code: 'TASK_LOST' } });
  });

  it('leaves an unsaved completion without a receipt: the daemon repeats it, elsewhere', async () => {
    const two = await startRelay({ database, gateways: 2, config });
    try {
      const headers = { 'X-Daemon-Capabilities': 'receipts' };
      const first = await connectDaemon(two, { headers });
      const { taskId } = await begin(two, first);
      const receipts: unknown[] = [];
      first.socket.on('pong', (payload) => receipts.push(payload));
      database.setDown(true);
      const before = database.failures;
      first.event(taskId, 'TASK_COMPLETE', { session_id: 'kept', result: 'done' });
      first.socket.ping('1');
      await until(() => Promise.resolve(database.failures > before + 1));
      await two.gateways[0]!.kill();
      await first.closed;
      expect(receipts).toEqual([]);
      database.setDown(false);
      const second = await connectDaemon(two, { registration: first.registration, headers, gateway: 1, hello: [] });
      second.event(taskId, 'TASK_COMPLETE', { session_id: 'kept', result: 'done' });
      second.socket.ping('2');
      await once(second.socket, 'pong');
      expect(await readTask(two, taskId)).toMatchObject({ state: 'completed', result: 'done' });
    } finally {
      database.setDown(false);
      await two.stop();
    }
  });

  it('R1: a frame that fails for an unknown reason closes 1013 and gets no receipt; sent again, it counts', async () => {
    const two = await startRelay({ database, config });
    try {
      const headers = { 'X-Daemon-Capabilities': 'receipts' };
      const first = await connectDaemon(two, { headers });
      const { taskId } = await begin(two, first);
      const receipts: unknown[] = [];
      first.socket.on('pong', (payload) => receipts.push(payload));
      database.setDown(true, () => Object.assign(new Error('relation "tasks" does not exist'), { code: '42P01' }));
      first.event(taskId, 'TASK_COMPLETE', { session_id: 'kept', result: 'done' });
      first.socket.ping('1');
      expect(await first.closed).toMatchObject({ code: 1013 });
      expect(receipts).toEqual([]);
      database.setDown(false);
      const second = await connectDaemon(two, { registration: first.registration, headers, hello: [] });
      second.event(taskId, 'TASK_COMPLETE', { session_id: 'kept', result: 'done' });
      second.socket.ping('2');
      await once(second.socket, 'pong');
      expect(await readTask(two, taskId)).toMatchObject({ state: 'completed', result: 'done' });
    } finally {
      database.setDown(false);
      await two.stop();
    }
  });

  it('R1: a frame that can never be handled does not keep its daemon away: the third time it is dropped', async () => {
    const { registration } = await connectDaemon(relay);
    for (const answer of ['closed', 'closed', 'receipt', 'refused']) {
      const poisoned = await connectDaemon(relay, { registration, headers: { 'X-Daemon-Capabilities': 'receipts' } });
      poisoned.socket.ping('before it');
      await once(poisoned.socket, 'pong');
      const code = answer === 'refused' ? '22021' : undefined;
      database.setDown(true, () => Object.assign(new Error('no way to handle that'), { code }));
      poisoned.send({ type: 'session_activity', session_id: 'poison', last_activity: '2026-01-01T00:00:00Z' });
      poisoned.socket.ping('after it');
      const heard = await Promise.race([poisoned.closed, once(poisoned.socket, 'pong')]);
      expect({ answer, heard }).toMatchObject({
        answer,
        heard: answer === 'closed' ? { code: 1013 } : [Buffer.from('after it')],
      });
      database.setDown(false);
      await poisoned.close();
    }
  });

  it('while a daemon connects closes 1013: it comes back later', async () => {
    const { registration } = daemon;
    database.setDown(true);
    try {
      const early = await connectDaemon(relay, { registration });
      expect(await early.closed).toMatchObject({ code: 1013 });
    } finally {
      database.setDown(false);
    }
    daemon = await connectDaemon(relay, { registration });
    await nextStart(relay, daemon);
  });

  it('leaves queued tasks queued, and they are written when it is over', async () => {
    await relay.call('watch', { body: { sessionId: idOf(daemon, 'patient') } });
    await daemon.close();
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'wait' } });
    daemon = await connectDaemon(relay, { registration: daemon.registration, hello: [] });
    await daemon.next('watch_session');
    database.setDown(true);
    const before = database.failures;
    daemon.send({ type: 'status', running_tasks: [] });
    await until(() => Promise.resolve(database.failures > before));
    expect(daemon.inbox.count('task_start')).toBe(0);
    database.setDown(false);
    expect(await daemon.next('task_start')).toMatchObject({ task_id: created.body.taskId });
  });

  /** Queues messages while the daemon is away, and lets the database break when all of them were claimed. */
  const breakWhenClaimed = async (answered: boolean, messages: { message: string; images?: string[] }[]) => {
    const known = { registration: daemon.registration, headers: { 'X-Daemon-Capabilities': 'images' } };
    daemon = await connectDaemon(relay, known);
    await nextStart(relay, daemon);
    await daemon.close();
    const taskIds: string[] = [];
    for (const body of messages) {
      const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, ...body } });
      expect(created.status).toBe(201);
      taskIds.push(created.body.taskId);
    }
    daemon = await connectDaemon(relay, { ...known, hello: [] });
    const before = database.failures;
    database.breakAfter((result) => {
      const claimed = (result as { tasks?: { id: string }[] } | undefined)?.tasks?.map(({ id }) => id) ?? [];
      return taskIds.every((id) => claimed.includes(id));
    }, answered);
    daemon.send({ type: 'status', running_tasks: [] });
    await until(() => Promise.resolve(database.failures > before + 1));
    database.setDown(false);
    return taskIds;
  };

  it('a task whose claim was committed and not answered is written when the database is back, once', async () => {
    const [taskId] = await breakWhenClaimed(false, [{ message: 'unanswered' }]);
    expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId, instruction: 'unanswered' });
    await nextStart(relay, daemon);
    expect(daemon.inbox.count('task_start', (frame) => frame.task_id === taskId)).toBe(1);
  });

  it('two messages with images survive an outage between claim and reading', async () => {
    const taskIds = await breakWhenClaimed(true, [
      { message: 'one', images: [png] },
      { message: 'two', images: [png] },
      { message: 'written before them' },
    ]);
    for (const taskId of taskIds.slice(0, 2)) {
      const start = await daemon.next('task_start', (frame) => frame.task_id === taskId);
      expect(start.images).toEqual([png]);
    }
    await nextStart(relay, daemon);
    for (const taskId of taskIds) {
      expect(daemon.inbox.count('task_start', (frame) => frame.task_id === taskId)).toBe(1);
    }
  });
});
