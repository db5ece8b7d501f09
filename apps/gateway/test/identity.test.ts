import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { endItemUuid, userItemUuid } from '@relay/protocol/identity';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, end, idOf, idleSession, messageIn, path, run, tick } from './conversation.ts';

/**
 * ADR 35: an item has one uuid, live and stored, and for a daemon with `transcript` only the uuid decides about
 * duplicates.
 */
describe('the uuid of a message', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let plain: TestDaemon;
  let app: TestApp;

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay, { capabilities: ['transcript'] });
    plain = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  const said = (sessionId: string) =>
    app.inbox.all.filter((frame) => frame.type === 'new_message' && frame.sessionId === sessionId).map(messageIn);

  it('of a message over REST goes to the daemon with its task, and to apps once', async () => {
    const created = await relay.call('POST', '/api/sessions', {
      body: { deviceId: daemon.deviceId, message: 'hello' },
    });
    const { taskId, message } = created.body;
    expect(message.uuid).toBe(userItemUuid(taskId as string));
    const start = await daemon.next('task_start', (frame) => frame.task_id === taskId);
    expect(start.message_uuid).toBe(message.uuid);
    daemon.event(taskId as string, 'SESSION_STARTED', { session_id: 'rest' });
    daemon.event(taskId as string, 'USER_MESSAGE', { session_id: 'rest', uuid: message.uuid, content: 'hello' });
    await end(daemon, app, taskId as string);
    const sent = await relay.call('POST', path(idOf(daemon, 'rest'), '/messages'), { body: { content: 'go on' } });
    const resume = await daemon.next('task_resume', (frame) => frame.task_id === sent.body.taskId);
    expect(resume.message_uuid).toBe(sent.body.message.uuid);
    daemon.event(sent.body.taskId as string, 'USER_MESSAGE', {
      session_id: 'rest',
      uuid: sent.body.message.uuid,
      content: 'go on',
    });
    await end(daemon, app, sent.body.taskId as string);
    const { body } = await relay.call('GET', '/api/sessions');
    expect(body.sessions.length).toBeGreaterThan(0);
    const users = app.inbox.all
      .filter((frame) => frame.type === 'new_message')
      .map(messageIn)
      .filter(({ role, content }) => role === 'USER' && ['hello', 'go on'].includes(content));
    expect(users.map(({ uuid }) => uuid)).toEqual([message.uuid, sent.body.message.uuid]);
  });

  it('is not sent to a daemon without it', async () => {
    const { taskId } = await begin(relay, plain);
    const [start] = plain.inbox.all.filter((frame) => frame.type === 'task_start' && frame.task_id === taskId);
    expect(start).not.toHaveProperty('message_uuid');
  });

  it("of a final message is the daemon's item uuid", async () => {
    const first = await run(relay, daemon, app, 'named ends');
    await end(daemon, app, first.taskId, 'TASK_COMPLETE', { result: 'done', message_uuid: 'item-1' });
    const failed = await run(relay, daemon, app, 'named error');
    await end(daemon, app, failed.taskId, 'ERROR', { error: 'broken', message_uuid: 'item-2' });
    const asked = await run(relay, daemon, app, 'named question');
    await end(daemon, app, asked.taskId, 'WAIT_FOR_USER', { prompt: 'Sure?', message_uuid: 'item-3' });
    const uuids = [first, failed, asked].map(({ id }) => said(id).at(-1)!.uuid);
    expect(uuids).toEqual(['item-1', 'item-2', 'item-3']);
  });

  it('of a final message without one derives from the task, for every daemon', async () => {
    for (const one of [daemon, plain]) {
      const { taskId, id } = await run(relay, one, app, 'unnamed');
      await end(one, app, taskId, 'ERROR', { error: 'broken' });
      expect(said(id).at(-1)!.uuid).toBe(endItemUuid(taskId, 'ERROR'));
    }
  });

  it('decides alone: the same text twice is two messages, the same uuid is one', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'twice');
    for (const uuid of ['a', 'b', 'a'])
      daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'twice', uuid, content: 'Done.' });
    for (const uuid of ['c', 'd'])
      daemon.event(taskId, 'USER_MESSAGE', { session_id: 'twice', uuid, content: 'again' });
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'Done.', message_uuid: 'e' });
    expect(said(id).map(({ uuid }) => uuid)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(said(id)[0]).toMatchObject({ role: 'AGENT', content: 'Done.' });
  });

  it('of a final message that came as a text already is one message', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'said before');
    daemon.event(taskId, 'AGENT_RESPONSE', { session_id: 'said before', uuid: 'last', content: 'Done.' });
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'Done.', message_uuid: 'last' });
    expect(said(id).map(({ uuid }) => uuid)).toEqual(['last']);
  });

  it('of a local turn is that of session_activity, also right after a task', async () => {
    const id = await idleSession(relay, daemon, app, 'desk');
    const activity = {
      type: 'session_activity',
      session_id: 'desk',
      is_completion: true,
      last_message: 'Locally.',
    };
    daemon.send({ ...activity, message_uuid: 'desk-1' });
    daemon.send({ ...activity, message_uuid: 'desk-1' });
    daemon.send({ ...activity, message_uuid: 'desk-2' });
    await tick(daemon, app);
    expect(said(id).map(({ uuid }) => uuid).slice(-2)).toEqual(['desk-1', 'desk-2']); // prettier-ignore
  });

  it('without a declaration the text counts, as before', async () => {
    const { taskId, id } = await run(relay, plain, app, 'words');
    plain.event(taskId, 'AGENT_RESPONSE', { session_id: 'words', uuid: 'a', content: 'Done.' });
    await end(plain, app, taskId, 'TASK_COMPLETE', { result: 'Done.' });
    expect(said(id).map(({ uuid }) => uuid)).toEqual(['a']);
  });
});
