import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { limits } from '@relay/protocol';
import { type TestApp, connectApp } from '@relay/testing';
import { type Scene, begin, messageOf, openScene, report } from '../scene.ts';
import { expectFrame } from './frames.ts';

describe('new_message', () => {
  let scene: Scene;
  let modern: TestApp;
  beforeAll(async () => {
    scene = await openScene();
    modern = await connectApp(scene.relay, { since: '' });
  });
  afterAll(() => scene.relay.stop());

  const saying = (content: string, app = scene.app) =>
    app.next('new_message', (frame) => messageOf(frame).content === content);
  const transcript = (nativeId: string, event: string, content: string, more: Record<string, unknown> = {}) =>
    scene.daemon.event('', event, { session_id: nativeId, content, ...more });

  it('carries a message sent over REST to all sockets of the user, with the uuid of the answer', async () => {
    const begun = await begin(scene, 'said');
    const { body } = await scene.relay.call('sendMessage', {
      params: { id: begun.id },
      body: { content: 'over REST' },
    });
    const frame = expectFrame('new_message', await saying('over REST'));
    expect(frame).toEqual({ type: 'new_message', sessionId: begun.id, message: body.message });
    expectFrame('new_message', await saying('over REST', modern), { offset: true });
  });

  it("carries the agent's answer, and an error as SYSTEM", async () => {
    const begun = await begin(scene, 'answered');
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'the answer' });
    expect(expectFrame('new_message', await saying('the answer'))).toMatchObject({
      sessionId: begun.id,
      message: { role: 'AGENT' },
    });
    const failing = await begin(scene, 'failing');
    scene.daemon.event(failing.taskId, 'ERROR', { error: 'the error' });
    expect(expectFrame('new_message', await saying('the error')).message.role).toBe('SYSTEM');
  });

  it('carries the live transcript of a session started locally, as the daemon wrote it', async () => {
    const id = await report(scene, 'desk');
    transcript('desk', 'USER_MESSAGE', 'typed locally', { uuid: 'u1', timestamp: '2026-01-02T03:04:05+01:00' });
    transcript('desk', 'AGENT_RESPONSE', 'answered locally', { uuid: 'u2', timestamp: 'not a time' });
    expect(expectFrame('new_message', await saying('typed locally'))).toEqual({
      type: 'new_message',
      sessionId: id,
      message: { uuid: 'u1', role: 'USER', content: 'typed locally', timestamp: '2026-01-02T02:04:05.000Z' },
    });
    expect(expectFrame('new_message', await saying('answered locally')).message).toMatchObject({
      uuid: 'u2',
      role: 'AGENT',
    });
  });

  it('arrives once for a text that arrives several ways, in any order', async () => {
    const begun = await begin(scene, 'once', 'said over REST');
    // Some daemons repeat a message that the relay itself delivered.
    transcript('once', 'USER_MESSAGE', 'said over REST', { uuid: 'echo' });
    transcript('once', 'AGENT_RESPONSE', 'only once', { uuid: 'a1' });
    scene.daemon.event(begun.taskId, 'AGENT_RESPONSE', { session_id: 'once', content: 'only once', uuid: 'a1' });
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'only once' });
    scene.daemon.send({
      type: 'session_activity',
      session_id: 'once',
      last_message: 'only once',
      is_completion: true,
      message_count: 0,
    });
    transcript('once', 'AGENT_RESPONSE', 'same uuid, other text', { uuid: 'a1' });
    transcript('once', 'AGENT_RESPONSE', 'the last', { uuid: 'a3' });
    await saying('the last');
    const contents = scene.app.inbox.all
      .filter(
        (frame) => frame.type === 'new_message' && [begun.id, begun.placeholder].includes(frame.sessionId as string),
      )
      .map((frame) => messageOf(frame).content);
    expect(contents).toEqual(['said over REST', 'only once', 'the last']);
  });

  it("takes user_message_uuid as the uuid of the user's message, on any event", async () => {
    const begun = await begin(scene, 'by uuid');
    scene.daemon.event(begun.taskId, 'PROGRESS', { action: 'Reading', user_message_uuid: 'mine' });
    transcript('by uuid', 'USER_MESSAGE', 'what the daemon made of it', { uuid: 'mine' });
    transcript('by uuid', 'AGENT_RESPONSE', 'marker of uuid', { uuid: 'other' });
    await saying('marker of uuid');
    expect(
      scene.app.inbox.count('new_message', (frame) => messageOf(frame).content === 'what the daemon made of it'),
    ).toBe(0);
  });

  it('repeats equal texts of different sessions and of different users', async () => {
    for (const nativeId of ['here', 'there']) {
      await report(scene, nativeId);
      transcript(nativeId, 'AGENT_RESPONSE', 'same words');
      transcript(nativeId, 'USER_MESSAGE', 'same words');
      await saying('same words');
      await saying('same words');
    }
  });

  it('is cut at 256 KiB and marked as truncated', async () => {
    await report(scene, 'long');
    transcript('long', 'AGENT_RESPONSE', `${'é'.repeat(limits.messageBytes / 2)}!`, { uuid: 'long' });
    const { message } = expectFrame(
      'new_message',
      await scene.app.next('new_message', (frame) => messageOf(frame).uuid === 'long'),
    );
    expect(message.truncated).toBe(true);
    expect(message.content).toBe('é'.repeat(limits.messageBytes / 2));
  });

  it('is not sent for an empty result', async () => {
    const begun = await begin(scene, 'empty');
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: '' });
    transcript('empty', 'AGENT_RESPONSE', 'marker of empty');
    await saying('marker of empty');
    expect(scene.app.inbox.count('new_message', (frame) => messageOf(frame).content === '')).toBe(0);
  });
});
