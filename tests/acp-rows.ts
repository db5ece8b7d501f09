/**
 * The rows of ACP: each method, question and update of an agent on another machine, with the demonstration agent and
 * with a field daemon. Every transport and every size of the relay runs the same rows.
 */
import type { ListSessionsResponse, NewSessionResponse } from '@agentclientprotocol/sdk';
import { describe, expect, it } from '@jest/globals';
import type { Item } from '@relay/protocol';
import { type RelayAddress, registerDevice, startFieldDaemon } from '@relay/testing';
import type { AcpScene, EditorOptions, Visitor } from './acp-scene.ts';
import { until } from './cluster/until.ts';

export type Connect = (relay: RelayAddress, deviceId: string, options?: EditorOptions) => Promise<Visitor>;

export const prompt = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: 'text' as const, text }] });
export const choose = (optionId: string) => () =>
  Promise.resolve({ outcome: { outcome: 'selected' as const, optionId } });
const allow = choose('y');
/** The demonstration agent sends these one after the other for the prompt "slow". */
export const words = Array.from({ length: 400 }, (_, n) => `w${n}`).join(' ');

/** `relay` is a function, because the relay starts after this call. */
export function acpRows(name: string, relay: () => RelayAddress, scene: AcpScene, connect: Connect): void {
  describe(`${name} with the demonstration agent`, () => {
    it('names the agent and its capabilities', async () => {
      const { deviceId } = await scene.machine(relay());
      const { initialized } = await connect(relay(), deviceId);
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

    it('answers a prompt after the turn, with every part as an update and each text once', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, said, updates } = await connect(relay(), deviceId);
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
      // The second prompt continues the same session.
      expect(await agent.request('session/prompt', prompt(sessionId, 'two'))).toEqual({ stopReason: 'end_turn' });
      expect(said(sessionId)).toContain('first message');
      const { sessions } = await agent.request('session/list', {});
      const at = { title: expect.any(String) as unknown, updatedAt: expect.any(String) as unknown };
      expect(sessions).toEqual([{ sessionId, cwd: folder, ...at, _meta: { relay: { status: 'idle' } } }]);
    });

    it('asks for permission, and binds the answer to the question and its option', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, said, asked, updates } = await connect(relay(), deviceId, { permission: allow });
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
      // Other apps see who answered it.
      const listed = await relay().call('listSessions', { query: { deviceId } });
      const [session] = (listed.body as { sessions: Waiting[] }).sessions;
      const page = await relay().call('readMessages', { params: { id: session!.id }, query: { parts: '1' } });
      const parts = (page.body as { messages: Partial<Item>[] }).messages.map(({ part }) => part);
      const answers = parts.flatMap((part) => (part?.kind === 'question' ? part.answer : []));
      expect(answers).toMatchObject([{ option: 'y', by: 'test editor' }]);
    });

    it('withdraws a question after another app answered it, and the turn continues', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, said, asked } = await connect(relay(), deviceId);
      const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
      const ended = agent.request('session/prompt', prompt(sessionId, 'perm'));
      const session = await waiting(relay(), deviceId);
      const params = { id: session.id, uuid: session.prompt!.id! };
      const { status } = await relay().call('answerPrompt', { params, body: { option: 'n' } });
      expect(status).toBe(202);
      expect(await ended).toEqual({ stopReason: 'end_turn' });
      expect(asked.map(({ signal }) => signal.aborted)).toEqual([true]);
      expect(said(sessionId)).toContain('permission: n');
    });

    it('leaves a question open for other apps when the editor dismisses it', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const dismiss = () => Promise.resolve({ outcome: { outcome: 'cancelled' as const } });
      const { agent, said, question } = await connect(relay(), deviceId, { permission: dismiss });
      const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
      const ended = agent.request('session/prompt', prompt(sessionId, 'perm'));
      await question(sessionId);
      // The relay handles requests in order: this one completes after the answer of the editor.
      await agent.request('session/list', {});
      const { id, prompt: asked } = await waiting(relay(), deviceId);
      const params = { id, uuid: asked!.id! };
      expect((await relay().call('answerPrompt', { params, body: { option: 'n' } })).status).toBe(202);
      expect(await ended).toEqual({ stopReason: 'end_turn' });
      expect(said(sessionId)).toContain('permission: n');
    });

    it('shows a form in an editor that supports forms', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const form = () => Promise.resolve({ action: 'accept' as const, content: { color: 'Blue' } });
      const { agent, said } = await connect(relay(), deviceId, { form });
      const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
      expect(await agent.request('session/prompt', prompt(sessionId, 'ask'))).toEqual({ stopReason: 'end_turn' });
      expect(said(sessionId)).toContain('elicited: {"action":"accept","content":{"color":"Blue"}}');
    });

    it('answers a cancelled prompt as cancelled', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, update } = await connect(relay(), deviceId);
      const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
      const ended = agent.request('session/prompt', prompt(sessionId, 'slow'));
      await update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      await agent.notify('session/cancel', { sessionId });
      expect(await ended).toEqual({ stopReason: 'cancelled' });
    });

    it('removes its own queued prompt on cancel, and leaves the turn of another app alone', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      await relay().call('createSession', { body: { deviceId, message: 'perm' } });
      const { id } = await waiting(relay(), deviceId);
      const { agent, question } = await connect(relay(), deviceId);
      const { sessions } = await agent.request<ListSessionsResponse>('session/list', {});
      const { sessionId } = sessions[0]!;
      await agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
      await question(sessionId);
      const ended = agent.request('session/prompt', prompt(sessionId, 'two'));
      await until('it waits', async () => (await waiting(relay(), deviceId)).queue?.count === 1);
      await agent.notify('session/cancel', { sessionId });
      expect(await ended).toEqual({ stopReason: 'cancelled' });
      const session = await waiting(relay(), deviceId);
      expect(session).toMatchObject({ id, status: 'waiting' });
      expect(session.queue).toBeUndefined();
    });

    it('sends the plan, and the usage of the context', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, updates } = await connect(relay(), deviceId);
      const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
      await agent.request('session/prompt', prompt(sessionId, 'plan'));
      await agent.request('session/prompt', prompt(sessionId, 'usage'));
      expect(updates.map(({ update }) => update)).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            sessionUpdate: 'plan',
            entries: [
              expect.objectContaining({ content: 'look', status: 'completed' }),
              expect.objectContaining({ content: 'leap', status: 'in_progress' }),
            ],
          }),
          expect.objectContaining({ sessionUpdate: 'usage_update', used: expect.any(Number) as unknown }),
        ]),
      );
    });

    it('reports once that it ignores the MCP servers of the editor, and never touches its files', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, updates, touched } = await connect(relay(), deviceId, { permission: allow });
      const mcpServers = [{ name: 'files', command: '/bin/true', args: [], env: [] }];
      const { sessionId } = await agent.request<NewSessionResponse>('session/new', { cwd: folder, mcpServers });
      for (const text of ['write', 'think']) await agent.request('session/prompt', prompt(sessionId, text));
      const notices = updates.filter(({ update }) => update.sessionUpdate === 'notice');
      expect(notices).toMatchObject([{ sessionId, update: { title: expect.stringContaining('MCP') as unknown } }]);
      expect(touched).toEqual([]);
    });

    it('rejects the prompt of a turn that fails, with the code of the relay', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent } = await connect(relay(), deviceId);
      const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
      await expect(agent.request('session/prompt', prompt(sessionId, 'fail'))).rejects.toMatchObject({
        code: -32603,
        data: { code: 'AGENT_ERROR' },
      });
      await expect(agent.request('session/prompt', prompt('no such session', 'hi'))).rejects.toMatchObject({
        code: -32002,
      });
    });

    it('sends an image, and changes the settings of the session', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, said, update } = await connect(relay(), deviceId);
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

    it('sends an embedded file, and shows a file of the agent as a link to the relay', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, said, updates } = await connect(relay(), deviceId);
      const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
      const resource = {
        uri: 'file:///elsewhere/sales.bin',
        mimeType: 'a/b',
        blob: Buffer.alloc(70).toString('base64'),
      };
      const sent = {
        sessionId,
        prompt: [
          { type: 'text' as const, text: 'files' },
          { type: 'resource' as const, resource },
        ],
      };
      expect(await agent.request('session/prompt', sent)).toEqual({ stopReason: 'end_turn' });
      expect(said(sessionId)).toContain('sales.bin has 70 bytes.');
      const links = () =>
        updates.flatMap(({ update }) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'resource_link'
            ? [update.content]
            : [],
        );
      expect(links()).toEqual([
        expect.objectContaining({
          name: 'copy of sales.bin',
          size: 70,
          uri: expect.stringMatching(/^http.*\/api\/sessions\/.*\/content\/file\?download=1$/),
        }),
      ]);
    });

    it('shows images from the agent', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const { agent, updates } = await connect(relay(), deviceId);
      const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
      await agent.request('session/prompt', prompt(sessionId, 'media'));
      const pictures = updates.flatMap(({ update }) =>
        update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'image' ? [update.content] : [],
      );
      expect(pictures).toEqual([{ type: 'image', mimeType: 'image/png', data: Buffer.alloc(3000).toString('base64') }]);
    });

    it('loads a session of an earlier process: every message, once and in order', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const first = await connect(relay(), deviceId);
      const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
      await first.agent.request('session/prompt', prompt(sessionId, 'all'));
      first.hangUp();
      expect(await first.exit).toBe(0);

      const second = await connect(relay(), deviceId);
      await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
      expect(second.said(sessionId)).toBe(first.said(sessionId));
      const texts = second.updates.map(({ update }) => update.sessionUpdate);
      expect(texts.filter((kind) => kind === 'user_message_chunk')).toHaveLength(1);
      // The loaded session continues.
      await second.agent.request('session/prompt', prompt(sessionId, 'two'));
      expect(second.said(sessionId)).toContain('first message');

      const third = await connect(relay(), deviceId);
      await third.agent.request('session/resume', { sessionId, cwd: folder });
      expect(third.said(sessionId)).toBe('');
      await third.agent.request('session/prompt', prompt(sessionId, 'think'));
      expect(third.said(sessionId)).toBe('thought');
    });

    it('loads a session while its turn streams, with every text once', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const first = await connect(relay(), deviceId);
      const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
      const ended = first.agent.request('session/prompt', prompt(sessionId, 'slow'));
      await first.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      const second = await connect(relay(), deviceId);
      await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
      expect(await ended).toEqual({ stopReason: 'end_turn' });
      await second.update((update) => 'content' in update && JSON.stringify(update.content).includes('w399'));
      expect(first.said(sessionId).trim()).toBe(words);
      expect(second.said(sessionId).trim()).toBe(words);
    });

    it('asks an open question again after a load, and shows messages of other apps', async () => {
      const { deviceId, folder } = await scene.machine(relay());
      const first = await connect(relay(), deviceId);
      const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
      void first.agent.request('session/prompt', prompt(sessionId, 'perm')).catch(() => undefined);
      const { id } = await waiting(relay(), deviceId);
      first.hangUp();
      expect(await first.exit).toBe(0);

      const second = await connect(relay(), deviceId, { permission: allow });
      await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
      await second.update((update) => 'content' in update && JSON.stringify(update.content).includes('permission: y'));
      await relay().call('sendMessage', { params: { id }, body: { content: 'two' } });
      await second.update(
        (update) => update.sessionUpdate === 'user_message_chunk' && JSON.stringify(update).includes('"two"'),
      );
      await second.update(
        (update) => update.sessionUpdate === 'agent_message_chunk' && JSON.stringify(update).includes('second'),
      );
    });
  });

  describe(`${name} with a device that is offline`, () => {
    it('names the agent; a prompt fails at once, and leaves no session', async () => {
      const { deviceId } = await registerDevice(relay(), { user: 'alice' });
      const { agent, initialized } = await connect(relay(), deviceId);
      expect(initialized).toMatchObject({ protocolVersion: 1, agentCapabilities: { loadSession: true } });
      const { sessionId } = await agent.request('session/new', { cwd: '/home/dev', mcpServers: [] });
      const refused = { code: -32603, data: { code: 'DEVICE_OFFLINE' } };
      await expect(agent.request('session/prompt', prompt(sessionId, 'go'))).rejects.toMatchObject(refused);
      expect((await agent.request('session/list', {})).sessions).toEqual([]);
    });

    it('refuses methods that it does not offer, and ignores unknown notifications', async () => {
      const { deviceId } = await registerDevice(relay(), { user: 'alice' });
      const { agent } = await connect(relay(), deviceId);
      const given = { sessionId: 'any', cwd: '/home/dev', mcpServers: [] };
      await agent.notify('$/ping', {});
      for (const method of ['session/close', 'session/fork', 'session/delete', 'authenticate', 'never/heard'])
        await expect(agent.request<unknown>(method, given)).rejects.toMatchObject({ code: -32601 });
      expect((await agent.request('session/list', {})).sessions).toEqual([]);
    });
  });

  describe(`${name} with a field daemon`, () => {
    it('answers a cancelled prompt even if the daemon never replies', async () => {
      const daemon = await startFieldDaemon(relay(), { agentType: 'field' });
      scene.later(() => daemon.stop());
      const { agent } = await connect(relay(), daemon.deviceId);
      const { sessionId } = await agent.request('session/new', { cwd: '/home/dev/project', mcpServers: [] });
      const ended = agent.request('session/prompt', prompt(sessionId, 'go'));
      const { id } = await daemon.nextTask();
      await agent.notify('session/cancel', { sessionId });
      expect(await ended).toEqual({ stopReason: 'cancelled' });
      await daemon.next('task_cancel', (frame) => frame.task_id === id);
    });

    it('shows each message once, and shows the labels of a question', async () => {
      const daemon = await startFieldDaemon(relay(), { agentType: 'field' });
      scene.later(() => daemon.stop());
      const { agent, said, asked } = await connect(relay(), daemon.deviceId, { permission: choose('2') });
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

      const second = await connect(relay(), daemon.deviceId);
      await second.agent.request('session/load', { sessionId, cwd: '/home/dev/project', mcpServers: [] });
      expect(second.said(sessionId)).toContain('It is done.');
    });
  });
}

interface Waiting {
  id: string;
  status: string;
  prompt?: { id?: string };
  queue?: { count: number };
}

/** Waits for the session of the device that has an open question. */
async function waiting(relay: RelayAddress, deviceId: string): Promise<Waiting> {
  let session: Waiting | undefined;
  await until('the agent asks', async () => {
    const { body } = await relay.call('listSessions', { query: { deviceId, status: 'waiting' } });
    [session] = (body as { sessions: Waiting[] }).sessions;
    return session !== undefined;
  });
  return session!;
}
