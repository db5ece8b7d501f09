import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '@relay/protocol';
import { type TestApp, connectApp } from '@relay/testing';
import { type Scene, begin, openScene, report, updateOf } from '../scene.ts';
import { expectFrame } from './frames.ts';

describe('session_update', () => {
  let scene: Scene;
  let modern: TestApp;
  beforeAll(async () => {
    scene = await openScene();
    modern = await connectApp(scene.relay, { since: '' });
  });
  afterAll(() => scene.relay.stop());

  const listed = async (id: string) =>
    ((await scene.relay.call('listSessions')).body.sessions as Session[]).find((session) => session.id === id)!;

  it('carries the whole session, exactly as REST shows it', async () => {
    const id = await report(scene, 'whole', {
      title: 'A title',
      project: '/home',
      message_count: 3,
      last_message: 'hi',
    });
    await scene.relay.call('updateSession', { params: { id }, body: { title: 'Another' } });
    const { session } = expectFrame(
      'session_update',
      await updateOf(scene.app, id, ({ title }) => title === 'Another'),
    );
    expect(session).toEqual(await listed(id));
  });

  it('has an offset only for clients that understand offsets', async () => {
    const id = await report(scene, 'both');
    await scene.relay.call('updateSession', { params: { id }, body: { title: 'x' } });
    expectFrame('session_update', await updateOf(scene.app, id, ({ title }) => title === 'x'));
    expectFrame('session_update', await updateOf(modern, id, ({ title }) => title === 'x'), { offset: true });
  });

  it('carries the previous id of a session, once', async () => {
    const begun = await begin(scene, 'named');
    const named = await modern.next('session_update', ({ previousId }) => previousId === begun.placeholder);
    expect(expectFrame('session_update', named, { offset: true }).session.id).toBe(begun.id);
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'ok' });
    expect(await updateOf(modern, begun.id, ({ status }) => status === 'idle')).not.toHaveProperty('previousId');
  });

  it('carries the previous id when the daemon replaces it with another', async () => {
    const begun = await begin(scene, 'first name');
    scene.daemon.event(begun.taskId, 'SESSION_STARTED', { session_id: 'second name' });
    const renamed = await scene.app.next('session_update', ({ previousId }) => previousId === begun.id);
    expect(expectFrame('session_update', renamed).session.id).toBe(`${scene.daemon.deviceId}:scripted:second name`);
  });

  it('follows a task: pending, active, waiting with its prompt, active, idle', async () => {
    const begun = await begin(scene, 'followed');
    scene.daemon.event(begun.taskId, 'WAIT_FOR_USER', { prompt: 'Which?', options: [{ label: 'A' }] });
    const waiting = expectFrame(
      'session_update',
      await updateOf(scene.app, begun.id, ({ status }) => status === 'waiting'),
    );
    expect(waiting.session.prompt).toMatchObject({ prompt: 'Which?', options: [{ label: 'A' }] });
    const { body } = await scene.relay.call('sendMessage', { params: { id: begun.id }, body: { content: 'A' } });
    const active = expectFrame(
      'session_update',
      await updateOf(
        scene.app,
        begun.id,
        ({ lastTask, status }) => status === 'active' && lastTask?.id === body.taskId,
      ),
    );
    expect(active.session).not.toHaveProperty('prompt');
    await scene.daemon.next('task_resume');
    scene.daemon.event(body.taskId, 'TASK_COMPLETE', { result: 'A it is' });
    const idle = expectFrame('session_update', await updateOf(scene.app, begun.id, ({ status }) => status === 'idle'));
    expect(idle.session).toMatchObject({ lastMessage: 'A it is', lastTask: { id: body.taskId, state: 'completed' } });
  });

  it('follows every change over REST: title, archive, watch', async () => {
    const id = await report(scene, 'changed');
    await scene.relay.call('updateSession', { params: { id }, body: { archived: true } });
    await updateOf(scene.app, id, ({ archived }) => archived);
    await scene.relay.call('watch', { body: { sessionId: id } });
    await updateOf(scene.app, id, ({ watched }) => watched);
    await scene.relay.call('unwatch', { body: { sessionId: id } });
    await updateOf(scene.app, id, ({ watched }) => !watched);
  });
});
