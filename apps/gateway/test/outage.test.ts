import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { idOf, messageIn, nextStart, readTask, run, sessionIn, until } from './conversation.ts';
import { type OutageDatabase, openOutageDatabase } from './outage-database.ts';

describe('an outage of the database', () => {
  let database: OutageDatabase;
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  beforeAll(async () => {
    database = await openOutageDatabase();
    relay = await startRelay({ database, config: { statusWaitMs: 60_000 } });
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(async () => {
    await relay.stop();
    await database.close();
  });

  it('costs nothing of what a daemon says meanwhile: it is heard afterwards, in order and once', async () => {
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
    await relay.call('POST', '/api/watched-sessions', { body: { sessionId: idOf(daemon, 'patient') } });
    await daemon.close();
    const created = await relay.call('POST', '/api/sessions', { body: { deviceId: daemon.deviceId, message: 'wait' } });
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
});
