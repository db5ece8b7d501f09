import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  quickSweeps,
  startRelay,
} from '@relay/testing';
import {
  begin,
  end,
  idleSession,
  messageIn,
  nextStart,
  readSession,
  readTask,
  run,
  say,
  sessionIn,
} from './conversation.ts';

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const hour = () => inMs(3_600_000);

describe('a message with a time', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let number = 0;

  beforeAll(async () => {
    relay = await startRelay({ gateways: 2, config: { statusWaitMs: 60_000, ...quickSweeps } });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  const name = () => `later-${++number}`;
  const later = (id: string, content: string, more: object = {}) =>
    say(relay, id, content, { notBefore: hour(), ...more });
  const comeDue = (taskId: string) =>
    relay.database.sql
      .execute`UPDATE tasks SET not_before = now(), expires_at = now() + interval '1 hour' WHERE id = ${taskId}`;
  const resumed = (taskId: string) => daemon.next('task_resume', (frame) => frame.task_id === taskId);
  const resumes = (taskId: string) => daemon.inbox.count('task_resume', (frame) => frame.task_id === taskId);
  const published = (content: string) =>
    app.inbox.count('new_message', (frame) => messageIn(frame).content === content);
  const queueOf = async (id: string, user?: string) =>
    relay.call('readQueue', { params: { id }, ...(user === undefined ? {} : { user }) });
  const send = (id: string, body: object) =>
    relay.call('sendMessage', { params: { id }, body: { content: 'x', ...body } });

  it('is in no conversation until its time, and then is sent once', async () => {
    const id = await idleSession(relay, daemon, app, name());
    const before = (await readSession(relay, id))!;
    const notBefore = hour();
    const sent = await send(id, { content: 'run it tonight', notBefore });
    expect(sent).toMatchObject({ status: 202, body: { state: 'later' } });
    const { taskId } = sent.body;
    const { session } = await app.next('session_update', (frame) => 'later' in (frame.session as object));
    expect(session).toMatchObject({ id, later: { count: 1, next: notBefore }, lastTask: before.lastTask });
    expect(await readSession(relay, id)).toMatchObject({
      lastMessage: before.lastMessage,
      messageCount: before.messageCount,
      updatedAt: before.updatedAt,
    });
    const later = { taskId, content: 'run it tonight', kind: 'resume', notBefore };
    expect((await queueOf(id)).body).toMatchObject({ tasks: [], later: [later] });
    expect((await relay.call('listLater', {})).body.tasks).toEqual([
      expect.objectContaining({ sessionId: id, ...later }),
    ]);
    await nextStart(relay, daemon);
    expect(resumes(taskId)).toBe(0);
    expect(published('run it tonight')).toBe(0);
    await comeDue(taskId);
    expect(await resumed(taskId)).toMatchObject({ message: 'run it tonight' });
    await app.next('new_message', (frame) => messageIn(frame).content === 'run it tonight');
    const after = await readSession(relay, id);
    expect(after).toMatchObject({ lastMessage: 'run it tonight', lastTask: { id: taskId } });
    expect(after).not.toHaveProperty('later');
    await end(daemon, app, taskId);
    await nextStart(relay, daemon);
    expect([resumes(taskId), published('run it tonight')]).toEqual([1, 1]);
    expect((await relay.call('listLater', {})).body.tasks).toEqual([]);
  });

  it('3.9: reaches a plain daemon as an ordinary message', async () => {
    const id = await idleSession(relay, daemon, app, name());
    const ordinary = await say(relay, id, 'now');
    const frame = await resumed(ordinary);
    await end(daemon, app, ordinary);
    const taskId = await later(id, 'then');
    await comeDue(taskId);
    expect(await resumed(taskId)).toEqual({ ...frame, task_id: taskId, message: 'then' });
    await end(daemon, app, taskId);
  });

  it('never answers a question, and waits behind it', async () => {
    const { taskId, id } = await run(relay, daemon, app, name());
    const delayed = await later(id, 'later');
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'Which?' });
    await comeDue(delayed);
    await app.next('new_message', (frame) => messageIn(frame).content === 'later');
    await nextStart(relay, daemon);
    expect(resumes(delayed)).toBe(0);
    const answer = await say(relay, id, 'b');
    await resumed(answer);
    daemon.event(answer, 'TASK_COMPLETE', { result: 'done' });
    await resumed(delayed);
    daemon.event(delayed, 'TASK_COMPLETE', { result: 'done' });
  });

  it('gets another text and time, and can be removed', async () => {
    const id = await idleSession(relay, daemon, app, name());
    const taskId = await later(id, 'at nine');
    const change = (body: object, user?: string) =>
      relay.call('changeQueued', { params: { id, taskId }, body, ...(user === undefined ? {} : { user }) });
    const notBefore = inMs(7_200_000);
    expect((await change({ content: 'at ten', notBefore })).body).toMatchObject({
      tasks: [],
      later: [{ taskId, content: 'at ten', notBefore }],
    });
    expect(await change({ content: 'x' }, 'mallory')).toMatchObject({ status: 404 });
    expect(await change({ notBefore: inMs(1000) })).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    const other = await later(id, 'other');
    expect(await change({ before: other })).toMatchObject({ status: 409, body: { code: 'TASK_NOT_CHANGEABLE' } });
    const now = await relay.call('sendQueuedNow', { params: { id, taskId } });
    expect(now.body).toMatchObject({ code: expect.stringMatching('TASK_NOT_CHANGEABLE|NOT_SUPPORTED_BY_DEVICE') });
    for (const one of [taskId, other])
      expect(await relay.call('removeQueued', { params: { id, taskId: one } })).toMatchObject({ status: 204 });
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'cancelled', notBefore });
    expect(await readSession(relay, id)).not.toHaveProperty('later');
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle' });
  });

  it('that continues after a limit is cancelled by a message before its time', async () => {
    const id = await idleSession(relay, daemon, app, name());
    const limit = await later(id, 'continue', { because: 'limit' });
    const now = await say(relay, id, 'I am back');
    await resumed(now);
    expect(await readTask(relay, limit)).toMatchObject({ state: 'cancelled', error: { code: 'OVERTAKEN' } });
    await end(daemon, app, now);
  });

  it('is cancelled with its reason when its session is archived, alone or among many', async () => {
    const archived = async (id: string) => {
      const { sessions } = (await relay.call('listSessions', { query: { archived: 'true' } })).body;
      return sessions.find((one) => one.id === id);
    };
    for (const archive of ['updateSession', 'changeSessions'] as const) {
      const id = await idleSession(relay, daemon, app, name());
      const taskId = await later(id, 'never');
      if (archive === 'updateSession') await relay.call(archive, { params: { id }, body: { archived: true } });
      else await relay.call(archive, { body: { action: 'archive', filter: { ids: [id] } } });
      expect(await readTask(relay, taskId)).toMatchObject({ state: 'cancelled', error: { code: 'SESSION_ARCHIVED' } });
      expect(await archived(id)).not.toHaveProperty('later');
    }
    const { body } = await relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'begin at nine', notBefore: hour() },
    });
    await relay.call('updateSession', { params: { id: body.id }, body: { archived: true } });
    expect(await readTask(relay, body.taskId)).toMatchObject({ error: { code: 'SESSION_ARCHIVED' } });
    expect(await archived(body.id)).toMatchObject({
      status: 'idle',
      archived: true,
    });
    expect((await relay.call('listLater', {})).body.tasks).toEqual([]);
  });

  it('begins a session at its time', async () => {
    const notBefore = hour();
    const created = await relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'begin at nine', notBefore },
    });
    expect(created).toMatchObject({ status: 201, body: { status: 'pending', startsAt: notBefore, lastMessage: '' } });
    const { id, taskId } = created.body;
    await nextStart(relay, daemon);
    expect(daemon.inbox.count('task_start', (frame) => frame.task_id === taskId)).toBe(0);
    await comeDue(taskId);
    expect(await daemon.next('task_start', (frame) => frame.task_id === taskId)).toMatchObject({
      instruction: 'begin at nine',
    });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: name() });
    const { session } = await app.next('session_update', (frame) => frame.previousId === id);
    expect(session).not.toHaveProperty('startsAt');
    expect(sessionIn({ type: '', session })).toMatchObject({ lastMessage: 'begin at nine', title: 'begin at nine' });
  });

  it('is refused with a time that is too near or too far, with images, and beside other ways', async () => {
    const id = await idleSession(relay, daemon, app, name());
    const image = 'data:image/png;base64,iVBORw0KGgo=';
    for (const body of [
      { notBefore: inMs(20_000) },
      { notBefore: inMs(91 * 86_400_000) },
      { notBefore: hour(), deliver: 'now' },
      { notBefore: hour(), queueTtlSeconds: 0 },
      { because: 'limit' },
    ])
      expect(await send(id, body)).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    expect(await send(id, { notBefore: hour(), images: [image] })).toMatchObject({
      status: 409,
      body: { code: 'NOT_SUPPORTED_BY_DEVICE' },
    });
    for (let n = 0; n < 20; n += 1) await later(id, `${n}`);
    expect(await send(id, { notBefore: hour() })).toMatchObject({ status: 409, body: { code: 'TOO_MANY_LATER' } });
  });

  it('goes with its session', async () => {
    const id = await idleSession(relay, daemon, app, name());
    const taskId = await later(id, 'a secret of tomorrow');
    await relay.call('deleteSession', { params: { id } });
    await comeDue(taskId);
    await nextStart(relay, daemon);
    expect(await readTask(relay, taskId)).toMatchObject({ state: 'cancelled' });
    const rows = await relay.database.sql.query`SELECT 1 FROM tasks WHERE instruction LIKE '%secret of tomorrow%'`;
    expect(rows).toEqual([]);
  });

  it('outlives the first task of a session that never gets a name as a cancelled one', async () => {
    const { taskId, pendingId } = await begin(relay, daemon, { message: 'unnamed' });
    const delayed = await later(pendingId, 'then');
    daemon.event(taskId, 'ERROR', { error: 'no' });
    await app.next(
      'session_update',
      (frame) => sessionIn(frame).id === pendingId && sessionIn(frame).status === 'failed',
    );
    expect(await readTask(relay, delayed)).toMatchObject({
      state: 'cancelled',
      error: { code: 'SESSION_NOT_RESOLVED' },
    });
  });
});
