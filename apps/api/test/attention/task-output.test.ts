import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { limits } from '@relay/protocol';
import { type TestApp, connectApp } from '@relay/testing';
import { type Scene, begin, openScene, report } from '../scene.ts';
import { expectFrame } from './frames.ts';

describe('task_output', () => {
  let scene: Scene;
  let asking: TestApp;
  let modern: TestApp;
  beforeAll(async () => {
    scene = await openScene();
    asking = await connectApp(scene.relay, { output: true });
    modern = await connectApp(scene.relay, { output: true, since: '' });
  });
  afterAll(() => scene.relay.stop());

  const saying = (output: string, app = asking) => app.next('task_output', (frame) => frame.output === output);

  it('reaches sockets that asked, in order, with its task', async () => {
    const begun = await begin(scene, 'loud');
    for (const output of ['line 1', 'line 2', 'line 3']) scene.daemon.event(begun.taskId, 'OUTPUT', { output });
    await saying('line 3', modern);
    expect(expectFrame('task_output', await saying('line 1'))).toEqual({
      type: 'task_output',
      sessionId: begun.id,
      taskId: begun.taskId,
      output: 'line 1',
      sequence: 1,
    });
    await saying('line 3');
    expect(asking.inbox.all.filter(({ type }) => type === 'task_output').map(({ output }) => output)).toEqual([
      'line 1',
      'line 2',
      'line 3',
    ]);
    expectFrame('task_output', await saying('line 2', modern), { offset: true });
  });

  it('reaches no other sockets', async () => {
    const begun = await begin(scene, 'unheard');
    scene.daemon.event(begun.taskId, 'OUTPUT', { output: 'unheard' });
    await report(scene, 'marker of unheard');
    await saying('unheard');
    expect(scene.app.inbox.count('task_output')).toBe(0);
  });

  it('also carries VERBOSE, in both spellings', async () => {
    const begun = await begin(scene, 'verbose');
    scene.daemon.event(begun.taskId, 'VERBOSE', { output: 'as output' });
    scene.daemon.event(begun.taskId, 'VERBOSE', { content: 'as content' });
    for (const output of ['as output', 'as content'])
      expect(expectFrame('task_output', await saying(output)).taskId).toBe(begun.taskId);
  });

  it('omits the task if it belongs to the live transcript of a session started locally', async () => {
    const id = await report(scene, 'desk');
    scene.daemon.event('', 'OUTPUT', { session_id: 'desk', output: 'at the desk' });
    expect(expectFrame('task_output', await saying('at the desk'))).toEqual({
      type: 'task_output',
      sessionId: id,
      output: 'at the desk',
    });
  });

  it('is cut at 256 KiB', async () => {
    const begun = await begin(scene, 'endless');
    scene.daemon.event(begun.taskId, 'OUTPUT', { output: 'x'.repeat(limits.messageBytes + 1) });
    const { output } = expectFrame(
      'task_output',
      await asking.next('task_output', (frame) => frame.sessionId === begun.id),
    );
    expect(output).toHaveLength(limits.messageBytes);
  });

  it('is not in the history: a client that was away missed it', async () => {
    const away = await connectApp(scene.relay, { output: true, since: '' });
    const begun = await begin(scene, 'while away');
    const { offset } = await away.next('session_update', (frame) => frame.previousId === begun.placeholder);
    await away.close();
    scene.daemon.event(begun.taskId, 'OUTPUT', { output: 'missed' });
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'not missed' });
    await saying('missed');
    const back = await connectApp(scene.relay, { output: true, since: offset as string });
    await back.next('new_message');
    expect(back.inbox.count('task_output')).toBe(0);
    await back.close();
  });

  it.each([
    ['output', true],
    ['other,output', true],
    ['outputs', false],
    ['', false],
  ])('is requested by ?events=%s: %s', async (events, asked) => {
    const url = `${scene.relay.url.replace('http', 'ws')}/ws/attention?events=${events}`;
    const { WebSocket } = await import('ws');
    const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${scene.relay.token()}` } });
    const types: string[] = [];
    const updated = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const { type, session } = JSON.parse(data.toString('utf8')) as { type: string; session?: { id: string } };
        types.push(type);
        if (type === 'session_update' && session?.id.endsWith(`after ${events}`)) resolve();
      });
    });
    await new Promise((resolve) => socket.once('open', resolve));
    const witness = await connectApp(scene.relay, { output: true });
    scene.daemon.event('', 'OUTPUT', { session_id: 'desk', output: `for ${events}` });
    await witness.next('task_output', ({ output }) => output === `for ${events}`);
    scene.daemon.send({ type: 'report_sessions', sessions: [{ session_id: `after ${events}` }] });
    await updated;
    expect(types.includes('task_output')).toBe(asked);
    socket.close();
    await witness.close();
  });
});
