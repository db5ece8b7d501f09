/**
 * Promise: a client that starts `relay acp`, or connects to `/acp/<deviceId>`, has the agent of another machine as if it ran beside it. A real
 * relay process, the built program, the client of the SDK at its standard input and output or on a WebSocket.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type RelayProcess, freePort, startFieldDaemon, startRelayProcess } from '@relay/testing';
import { type EditorOptions, type Visitor, acpScene } from './acp-scene.ts';

const scene = acpScene();
let relay: RelayProcess;
beforeAll(async () => {
  relay = await startRelayProcess({ env: { PORT: String(await freePort()) } });
});
afterAll(() => relay.end('SIGTERM'));
afterEach(() => scene.clear());

const prompt = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: 'text' as const, text }] });
const choose = (optionId: string) => () => Promise.resolve({ outcome: { outcome: 'selected' as const, optionId } });
const allow = choose('y');

type Connect = (relay: RelayProcess, deviceId: string, options?: EditorOptions) => Promise<Visitor>;
const doors: readonly [name: string, connect: Connect][] = [
  ['relay acp', (...given) => scene.relayAcp(...given)],
  ['/acp/<deviceId>', (...given) => scene.acpSocket(...given)],
];

describe.each(doors)('%s with the demonstration agent', (_name, connect) => {
  it('says which agent it is, and what it can', async () => {
    const { deviceId } = await scene.machine(relay);
    const { initialized } = await connect(relay, deviceId);
    expect(initialized).toMatchObject({
      protocolVersion: 1,
      agentInfo: { title: expect.stringContaining('laptop') as unknown },
      authMethods: [],
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: false },
        sessionCapabilities: { list: {}, resume: {} },
      },
    });
    expect(initialized.agentCapabilities?.sessionCapabilities).not.toHaveProperty('close');
  });

  it('answers a prompt when the turn has ended, with every part as an update and each text once', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, said, updates } = await connect(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    expect(await agent.request('session/prompt', prompt(sessionId, 'all'))).toEqual({ stopReason: 'end_turn' });
    expect(said(sessionId).replace(/\s+/g, ' ').trim()).toBe('Looking at the parserFirst.Second.');
    const kinds = updates.map(({ update }) => update.sessionUpdate);
    expect(kinds).toEqual(expect.arrayContaining(['tool_call', 'agent_thought_chunk', 'notice']));
    expect(kinds).not.toContain('user_message_chunk');
    const calls = updates.flatMap(({ update }) => ('toolCallId' in update ? [update] : []));
    expect(calls.findLast(({ toolCallId }) => toolCallId === 'long')?.status).toBe('completed');
    const diff = calls.flatMap(({ content }) => content ?? []).find(({ type }) => type === 'diff');
    expect(diff).toEqual({ type: 'diff', path: `${folder}/src/a.ts`, oldText: 'one', newText: 'two' });
    // The second prompt goes into the same session.
    expect(await agent.request('session/prompt', prompt(sessionId, 'two'))).toEqual({ stopReason: 'end_turn' });
    expect(said(sessionId)).toContain('first message');
    const { sessions } = await agent.request('session/list', {});
    expect(sessions).toEqual([expect.objectContaining({ sessionId, cwd: folder })]);
  });

  it('asks for permission, and the answer is bound to the question and its option', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, said, asked, updates } = await connect(relay, deviceId, { permission: allow });
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    expect(await agent.request('session/prompt', prompt(sessionId, 'perm'))).toEqual({ stopReason: 'end_turn' });
    expect(asked).toHaveLength(1);
    expect(asked[0]!.request).toMatchObject({
      sessionId,
      toolCall: { toolCallId: 'c2', rawInput: { command: 'rm -r build' } },
      options: [
        { optionId: 'y', name: 'Allow', kind: 'allow_once' },
        { optionId: 'n', name: 'Reject', kind: 'reject_once' },
      ],
    });
    expect(said(sessionId)).toContain('permission: y');
    expect(updates.map(({ update }) => update.sessionUpdate)).not.toContain('user_message_chunk');
  });

  it('takes a question back that another app answered, and the turn goes on', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, said, asked } = await connect(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = agent.request('session/prompt', prompt(sessionId, 'perm'));
    const session = await waiting(deviceId);
    const params = { id: session.id, uuid: session.prompt!.id! };
    const { status } = await relay.call('answerPrompt', { params, body: { option: 'n' } });
    expect(status).toBe(202);
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(said(sessionId)).toContain('permission: n');
  });

  it('shows a form where the editor has forms', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const form = () => Promise.resolve({ action: 'accept' as const, content: { color: 'Blue' } });
    const { agent, said } = await connect(relay, deviceId, { form });
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    expect(await agent.request('session/prompt', prompt(sessionId, 'ask'))).toEqual({ stopReason: 'end_turn' });
    expect(said(sessionId)).toContain('elicited: {"action":"accept","content":{"color":"Blue"}}');
  });

  it('cancels the prompt, which is answered as cancelled', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, update } = await connect(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = agent.request('session/prompt', prompt(sessionId, 'slow'));
    await update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    await agent.notify('session/cancel', { sessionId });
    expect(await ended).toEqual({ stopReason: 'cancelled' });
  });

  it('rejects the prompt of a turn that fails, with the code of the relay', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent } = await connect(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    await expect(agent.request('session/prompt', prompt(sessionId, 'fail'))).rejects.toMatchObject({
      code: -32603,
      data: { code: 'AGENT_ERROR' },
    });
    await expect(agent.request('session/prompt', prompt('no such session', 'hi'))).rejects.toMatchObject({
      code: -32002,
    });
  });

  it('sends an image, and the settings of the session', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, said, update } = await connect(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const image = { type: 'image' as const, mimeType: 'image/png', data };
    const sent = { sessionId, prompt: [{ type: 'text' as const, text: 'look' }, image] };
    expect(await agent.request('session/prompt', sent)).toEqual({ stopReason: 'end_turn' });
    expect(said(sessionId)).toContain('seen: image/png of 70 bytes');
    await update(({ sessionUpdate }) => sessionUpdate === 'config_option_update');
    const { configOptions } = await agent.request('session/set_config_option', {
      sessionId,
      configId: 'mode',
      value: 'code',
    });
    expect(configOptions.find(({ id }) => id === 'mode')).toMatchObject({ currentValue: 'code' });
    await agent.request('session/set_mode', { sessionId, modeId: 'ask' });
    await agent.request('session/prompt', prompt(sessionId, 'settings'));
    expect(said(sessionId)).toContain('ask');
  });

  it('shows the pictures of the agent', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, updates } = await connect(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    await agent.request('session/prompt', prompt(sessionId, 'media'));
    const pictures = updates.flatMap(({ update }) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'image' ? [update.content] : [],
    );
    expect(pictures).toEqual([{ type: 'image', mimeType: 'image/png', data: Buffer.alloc(3000).toString('base64') }]);
  });

  it('loads a session that began here in another process: all that was said, once and in order', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const first = await connect(relay, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    await first.agent.request('session/prompt', prompt(sessionId, 'all'));
    first.hangUp();
    expect(await first.exit).toBe(0);

    const second = await connect(relay, deviceId);
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(second.said(sessionId)).toBe(first.said(sessionId));
    const texts = second.updates.map(({ update }) => update.sessionUpdate);
    expect(texts.filter((kind) => kind === 'user_message_chunk')).toHaveLength(1);
    // And it goes on.
    await second.agent.request('session/prompt', prompt(sessionId, 'two'));
    expect(second.said(sessionId)).toContain('first message');

    const third = await connect(relay, deviceId);
    await third.agent.request('session/resume', { sessionId, cwd: folder });
    expect(third.said(sessionId)).toBe('');
    await third.agent.request('session/prompt', prompt(sessionId, 'think'));
    expect(third.said(sessionId)).toBe('thought');
  });

  it('asks an open question again after a load, and shows what another app says', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const first = await connect(relay, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    void first.agent.request('session/prompt', prompt(sessionId, 'perm')).catch(() => undefined);
    const { id } = await waiting(deviceId);
    first.hangUp();
    expect(await first.exit).toBe(0);

    const second = await connect(relay, deviceId, { permission: allow });
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await second.update((update) => 'content' in update && JSON.stringify(update.content).includes('permission: y'));
    await relay.call('sendMessage', { params: { id }, body: { content: 'two' } });
    await second.update(
      (update) => update.sessionUpdate === 'user_message_chunk' && JSON.stringify(update).includes('"two"'),
    );
    await second.update(
      (update) => update.sessionUpdate === 'agent_message_chunk' && JSON.stringify(update).includes('second'),
    );
  });
});

describe.each(doors)('%s with a daemon of the field', (_name, connect) => {
  it('shows each message once, and asks its question by label', async () => {
    const daemon = await startFieldDaemon(relay, { agentType: 'field' });
    scene.later(() => daemon.stop());
    const { agent, said, asked } = await connect(relay, daemon.deviceId, { permission: choose('2') });
    const { sessionId } = await agent.request('session/new', { cwd: '/home/dev/project', mcpServers: [] });
    const ended = agent.request('session/prompt', prompt(sessionId, 'go'));
    const task = await daemon.nextTask();
    expect(task.instruction).toBe('go');
    daemon.ask(task, 'Which one?', 'Red', 'Blue');
    const answer = await daemon.nextTask();
    expect(answer.instruction).toBe('Blue');
    daemon.finish(answer, 'It is done.');
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect(asked[0]!.request.options.map(({ name }) => name)).toEqual(['Red', 'Blue']);
    expect(said(sessionId).split('It is done.')).toHaveLength(2);

    const second = await connect(relay, daemon.deviceId);
    await second.agent.request('session/load', { sessionId, cwd: '/home/dev/project', mcpServers: [] });
    expect(second.said(sessionId)).toContain('It is done.');
  });
});

describe('a relay that goes away in the middle of a prompt', () => {
  it('is not noticed by the editor: the call ends once, with the whole text', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, said, update } = await scene.relayAcp(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    let ends = 0;
    const ended = agent.request('session/prompt', prompt(sessionId, 'slow')).finally(() => (ends += 1));
    await update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    const { dataDir, url } = relay;
    await relay.end('SIGKILL');
    expect(ends).toBe(0);
    relay = await startRelayProcess({ dataDir, env: { PORT: new URL(url).port } });
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    const words = Array.from({ length: 400 }, (_, n) => `w${n}`).join(' ');
    expect(said(sessionId).trim()).toBe(words);
    expect(ends).toBe(1);
  });

  it('gets a prompt that was given while it was away, once', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, said } = await scene.relayAcp(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    await agent.request('session/prompt', prompt(sessionId, 'think'));
    const { dataDir, url } = relay;
    await relay.end('SIGKILL');
    const ended = agent.request('session/prompt', prompt(sessionId, 'two'));
    relay = await startRelayProcess({ dataDir, env: { PORT: new URL(url).port } });
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect(said(sessionId)).toBe('thoughtfirst messagesecond');
  });
});

interface Waiting {
  id: string;
  status: string;
  prompt?: { id?: string };
}

/** The session of the device that asks. */
async function waiting(deviceId: string): Promise<Waiting> {
  for (;;) {
    const { body } = await relay.call('listSessions', { query: { deviceId, status: 'waiting' } });
    const [session] = (body as { sessions: Waiting[] }).sessions;
    if (session) return session;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
