/**
 * Promise: an MCP agent can use the other machines of its person as tools. A real relay process, the client of the
 * official library, the demonstration agent and a field daemon.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type RelayProcess, startFieldDaemon, startRelayProcess } from '@relay/testing';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { prompt } from './acp-rows.ts';
import { acpScene } from './acp-scene.ts';
import { type TestAgent, connectAgent } from './mcp-scene.ts';

const scene = acpScene();
let relay: RelayProcess;
beforeAll(async () => {
  relay = await startRelayProcess({ env: { AGENT_TURNS_PER_HOUR: '1000', SESSION_CREATE_PER_MINUTE: '1000' } });
});
afterAll(() => relay.end('SIGTERM'));
afterEach(() => scene.clear());

describe.each([
  ['with a handshake', false],
  ['of 2026-07-28', true],
])('the tools, in the protocol %s', (_name, modern) => {
  let agent: TestAgent;
  beforeAll(async () => {
    agent = await connectAgent(relay, { modern });
  });
  afterAll(() => agent.close());

  it('have short descriptions', async () => {
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['list_devices', 'list_sessions', 'start_session', 'send_message'],
      ...['wait_for_turn', 'read_messages', 'read_changes', 'answer', 'cancel'],
    ]);
    for (const { description } of tools) expect(description!.length).toBeLessThan(300);
  });

  it('support a whole conversation on another machine', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { value: listed } = await agent.tool('list_devices');
    expect(listed['devices']).toContainEqual(expect.objectContaining({ id: deviceId, status: 'online' }));

    const { value: started } = await agent.tool('start_session', { deviceId, message: 'think', projectPath: folder });
    const first = await agent.ended(pick(started));
    expect(first).toMatchObject({ state: 'completed', taskId: started['taskId'], result: 'thought' });

    const sessionId = first['sessionId'] as string;
    const sent = { sessionId, content: 'two', idempotencyKey: `two ${sessionId}` };
    const { value: followed } = await agent.tool('send_message', sent);
    // A repeated key does not send the message again.
    expect((await agent.tool('send_message', sent)).value['taskId']).toBe(followed['taskId']);
    expect(await agent.ended({ sessionId, taskId: followed['taskId'] })).toMatchObject({ state: 'completed' });

    const { value: read } = await agent.tool('read_messages', { sessionId });
    const roles = (read['messages'] as { role: string; content: string }[]).map(({ role }) => role);
    expect(roles.filter((role) => role === 'USER')).toHaveLength(2);
    const { value: sessions } = await agent.tool('list_sessions', { deviceId });
    expect(sessions['sessions']).toEqual([expect.objectContaining({ id: sessionId, status: 'idle' })]);
  });

  it('show a question with its options, and accept one answer by its id', async () => {
    const { deviceId } = await scene.machine(relay);
    const { value: started } = await agent.tool('start_session', { deviceId, message: 'perm' });
    const asked = await agent.ended(pick(started));
    expect(asked).toMatchObject({ state: 'needs_answer' });
    const [question] = asked['questions'] as { id: string; options: { id: string }[] }[];
    expect(question!.options.map(({ id }) => id)).toEqual(['y', 'n']);
    const { sessionId } = asked as { sessionId: string };

    const wrong = await agent.tool('answer', { sessionId, questionId: question!.id, option: 'other' });
    expect(wrong).toMatchObject({ isError: true, value: { code: 'INVALID_ANSWER' } });
    const given = { sessionId, questionId: question!.id, option: 'y' };
    const { value: answered } = await agent.tool('answer', given);
    expect(await agent.tool('answer', given)).toMatchObject({
      isError: true,
      value: { code: 'PROMPT_ALREADY_ANSWERED' },
    });
    // The id of the asking task works, and so does the id of the answering task.
    for (const taskId of [answered['taskId'], started['taskId']])
      expect(await agent.ended({ sessionId, taskId })).toMatchObject({
        state: 'completed',
        result: expect.stringContaining('permission: y'),
      });
  });

  it('cancel a turn that another call waits for', async () => {
    const { deviceId } = await scene.machine(relay);
    const { value: started } = await agent.tool('start_session', { deviceId, message: 'slow' });
    const ended = agent.ended(pick(started));
    for (let state; state !== 'running';)
      ({ state } = (await agent.tool('wait_for_turn', { ...pick(started), seconds: 0 })).value);
    expect((await agent.tool('cancel', { sessionId: started['sessionId'] })).value).toMatchObject({
      taskId: started['taskId'],
    });
    expect(await ended).toMatchObject({ state: 'cancelled' });
    expect(await agent.tool('cancel', { sessionId: started['sessionId'] })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^NO_RUNNING_TASK: /),
    });
  });

  it('return the error code of a failed turn', async () => {
    const { deviceId } = await scene.machine(relay);
    const { value: started } = await agent.tool('start_session', { deviceId, message: 'fail' });
    expect(await agent.ended(pick(started))).toMatchObject({ state: 'failed', code: 'AGENT_ERROR' });
  });
});

describe('the tools', () => {
  it('work with a field daemon, and return the answering task of a question that an app answered', async () => {
    const agent = await connectAgent(relay);
    const daemon = await startFieldDaemon(relay, { agentType: 'field' });
    scene.later(() => daemon.stop());
    const { value: started } = await agent.tool('start_session', { deviceId: daemon.deviceId, message: 'go' });
    const task = await daemon.nextTask();
    daemon.ask(task, 'Which one?', 'Red', 'Blue');
    const asked = await agent.ended(pick(started));
    expect(asked).toMatchObject({ state: 'needs_answer', questions: [{ prompt: 'Which one?' }] });
    const [question] = asked['questions'] as { id: string; options: { id: string }[] }[];
    const params = { id: asked['sessionId'] as string, uuid: question!.id };
    await relay.call('answerPrompt', { params, body: { option: question!.options[1]!.id } });
    const answered = await daemon.nextTask();
    expect(answered.instruction).toBe('Blue');
    const ended = agent.ended(pick(started));
    daemon.finish(answered, 'It is blue.');
    expect(await ended).toMatchObject({ state: 'completed', result: 'It is blue.', taskId: answered.id });
    await agent.close();
  });

  it('return the current state after the given time, and the result in a later call', async () => {
    const agent = await connectAgent(relay);
    const daemon = await startFieldDaemon(relay, { agentType: 'field' });
    scene.later(() => daemon.stop());
    const { value: started } = await agent.tool('start_session', { deviceId: daemon.deviceId, message: 'go' });
    const task = await daemon.nextTask();
    expect((await agent.tool('wait_for_turn', { ...pick(started), seconds: 1 })).value).toMatchObject({
      state: expect.stringMatching(/^(queued|running)$/),
    });
    const waiting = agent.tool('wait_for_turn', pick(started));
    daemon.finish(task, 'done');
    expect((await waiting).value).toMatchObject({ state: 'completed', result: 'done' });
    await agent.close();
  });

  it('return no machine or session of another person', async () => {
    const { deviceId } = await scene.machine(relay);
    const alice = await connectAgent(relay);
    const { value: started } = await alice.tool('start_session', { deviceId, message: 'think' });
    await alice.ended(pick(started));
    const { sessionId, taskId } = started as { sessionId: string; taskId: string };

    const bob = await connectAgent(relay, { user: 'bob' });
    expect((await bob.tool('list_devices')).value).toEqual({ devices: [] });
    expect((await bob.tool('list_sessions')).value).toEqual({ sessions: [] });
    const codeOf = async (name: string, given: Record<string, unknown>) => (await bob.tool(name, given)).value['code'];
    expect(await codeOf('start_session', { deviceId, message: 'hi' })).toBe('DEVICE_NOT_FOUND');
    for (const [name, given] of [
      ['send_message', { content: 'hi' }],
      ['wait_for_turn', { taskId }],
      ['read_messages', {}],
      ['answer', { questionId: 'q', option: 'y' }],
      ['cancel', {}],
    ] as const)
      expect(await codeOf(name, { sessionId, ...given })).toBe('SESSION_NOT_FOUND');
    await alice.close();
    await bob.close();
  });
});

const pick = ({ sessionId, taskId }: Record<string, unknown>) => ({ sessionId, taskId });

/** Runs `relay`, the built program, and returns its output. */
async function runRelay(...args: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'relay-cli-'));
  try {
    const program = fileURLToPath(new URL('../apps/cli/dist/bundle.js', import.meta.url));
    const login = { RELAY_CLI_URL: relay.apis[0]!.url, RELAY_CLI_TOKEN: relay.token('alice') };
    const env = { ...process.env, ...login, RELAY_CLI_CONFIG_DIR: folder };
    return (await promisify(execFile)(process.execPath, [program, ...args], { env })).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('43, 1.3: a default of the machine holds in sessions of an agent, an ACP client and the command line', async () => {
  const { deviceId, folder } = await scene.machine(relay);
  const agent = await connectAgent(relay);
  const begin = async () => {
    const { value } = await agent.tool('start_session', { deviceId, message: 'settings', projectPath: folder });
    return (await agent.ended(pick(value)))['result'];
  };
  expect(await begin()).toBe('ask large low');
  const body = { id: 'effort', value: 'high' };
  expect((await relay.call('changeDeviceSetting', { params: { id: deviceId }, body })).status).toBe(200);
  expect(await begin()).toBe('ask large high');
  const { agent: editor, said } = await scene.relayAcp(relay, deviceId);
  const { sessionId } = await editor.request('session/new', { cwd: folder, mcpServers: [] });
  await editor.request('session/prompt', prompt(sessionId, 'settings'));
  expect(said(sessionId)).toBe('ask large high');
  expect(await runRelay('new', deviceId, 'settings', '--watch')).toContain('ask large high');
  await agent.close();
});
