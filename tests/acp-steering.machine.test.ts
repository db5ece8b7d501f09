/**
 * `_session/steering` on the ACP endpoint: the text reaches the running turn, and the client gets the outcome that
 * agents report.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, registerDevice, startRelay } from '@relay/testing';
import { prompt } from './acp-rows.ts';
import { acpScene } from './acp-scene.ts';
import { connectTranscriptDaemon } from './browser/transcript-daemon.ts';

const scene = acpScene();
let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(() => relay.stop());
afterEach(() => scene.clear());

describe('_session/steering', () => {
  const open = async (user: string, capabilities: readonly 'steer'[] = ['steer']) => {
    const daemon = await connectTranscriptDaemon(relay, await registerDevice(relay, { user }), { capabilities });
    scene.later(() => daemon.close());
    const editor = await scene.acpSocket(relay, daemon.deviceId, { user });
    const { sessionId } = await editor.agent.request('session/new', { cwd: '/', mcpServers: [] });
    const ended = editor.agent.request('session/prompt', prompt(sessionId, 'go'));
    const { task_id: into } = await daemon.next('task_start');
    daemon.event(into as string, 'SESSION_STARTED', { session_id: 'native' });
    daemon.event(into as string, 'PROGRESS', { session_id: 'native', action: 'Thinking' });
    const steer = (text: string) =>
      editor.agent.request<{ outcome: string }>('_session/steering', {
        ...prompt(sessionId, text),
        _meta: { steering: { idleBehavior: 'promptRequired' } },
      });
    const finish = async () => {
      daemon.event(into as string, 'TASK_COMPLETE', { session_id: 'native', result: 'Done.' });
      await ended;
    };
    return { daemon, editor, into, steer, finish };
  };

  it('is offered if the device can steer, and injects the text', async () => {
    const { daemon, editor, steer, finish } = await open('ann');
    expect(editor.initialized._meta).toMatchObject({ steering: { supported: true } });
    const answer = steer('only 20');
    const { task_id: taskId, message } = await daemon.next('task_steer');
    expect(message).toBe('only 20');
    daemon.event(taskId as string, 'STEERED', { session_id: 'native', outcome: 'injected' });
    expect(await answer).toEqual({ outcome: 'injected' });
    await finish();
  });

  it('refuses a text after the turn, and queues nothing', async () => {
    const { daemon, steer, finish } = await open('ben');
    await finish();
    expect(await steer('too late')).toEqual({ outcome: 'promptRequired', reason: 'noRunningTurn' });
    expect(daemon.inbox.count('task_resume') + daemon.inbox.count('task_steer')).toBe(0);
  });

  it('fails when the agent refuses, and queues nothing', async () => {
    const { daemon, steer, finish } = await open('cai');
    const answer = steer('not now').then(
      () => 'taken',
      (error: { data?: { code?: string } }) => error.data?.code,
    );
    const { task_id: taskId } = await daemon.next('task_steer');
    daemon.event(taskId as string, 'STEERED', { session_id: 'native', outcome: 'refused' });
    expect(await answer).toBe('NOT_STEERABLE');
    await finish();
    expect(daemon.inbox.count('task_resume')).toBe(0);
  });

  it('is not offered by a device without the capability', async () => {
    const { editor, finish } = await open('dan', []);
    expect(editor.initialized._meta).toBeUndefined();
    await finish();
  });
});
