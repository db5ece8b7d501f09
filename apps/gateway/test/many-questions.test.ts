/** More questions at a time than the limit of open ones per session (rules, 5.1). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { idOf, until } from './conversation.ts';

describe('the 21st open question of a session', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  it('is a message, is counted, and is opened when its daemon asks again after an answer', async () => {
    const daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'prompts' } });
    const app = await connectApp(relay);
    const { taskId } = (await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'Ask much' } }))
      .body;
    await daemon.next('task_start', ({ task_id }) => task_id === taskId);
    const question = (n: number) => ({
      ...{ uuid: `q${n}`, title: `Question ${n}?`, kind: 'permission' },
      options: [{ id: 'y', label: 'Yes' }],
    });
    daemon.event(taskId, 'WAIT_FOR_USER', { session_id: 'many', prompt: 'Question 1?', question: question(1) });
    for (let n = 2; n <= 21; n += 1) daemon.event(taskId, 'PROMPT_OPEN', { session_id: 'many', question: question(n) });
    await app.next('new_message', ({ message }) => (message as { content: string }).content === 'Question 21?');
    const id = idOf(daemon, 'many');
    // Read the list: reading the session would also query the daemon.
    const open = async () =>
      (await relay.call('listSessions')).body.sessions.find((one) => one.id === id)?.prompts?.map((one) => one.id);
    expect(await open()).toEqual(Array.from({ length: 20 }, (_, n) => `q${n + 1}`));
    expect(await relay.gateways[0]!.metrics.text()).toMatch(
      /relay_daemon_frames_ignored_total\{.*cause="question beyond the bound".*\} 1$/m,
    );
    // A repetition of an open question does not count again.
    daemon.event(taskId, 'PROMPT_OPEN', { session_id: 'many', question: question(20) });
    const { status } = await relay.call('answerPrompt', { params: { id, uuid: 'q1' }, body: { option: 'y' } });
    expect(status).toBe(202);
    const { task_id: next } = await daemon.next('task_resume');
    daemon.event(next as string, 'WAIT_FOR_USER', {
      session_id: 'many',
      prompt: 'Question 21?',
      question: question(21),
    });
    await until(async () => (await open())?.at(-1) === 'q21');
    expect(await open()).toHaveLength(20);
    expect(await relay.gateways[0]!.metrics.text()).toMatch(/cause="question beyond the bound".*\} 1$/m);
    await Promise.all([app.close(), daemon.close()]);
  });
});
