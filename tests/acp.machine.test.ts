/**
 * Promise: a client that starts `relay acp`, or connects to `/acp/<deviceId>`, uses the agent of another machine like a
 * local one. A real relay process, the built program, the client of the SDK on its standard input and output or on a
 * WebSocket.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type RelayProcess, freePort, startRelayProcess } from '@relay/testing';
import { acpRows, prompt, words } from './acp-rows.ts';
import { acpScene } from './acp-scene.ts';

const scene = acpScene();
let relay: RelayProcess;
beforeAll(async () => {
  relay = await startRelayProcess({ env: { PORT: String(await freePort()) } });
});
afterAll(() => relay.end('SIGTERM'));
afterEach(() => scene.clear());

acpRows(
  'relay acp',
  () => relay,
  scene,
  (...given) => scene.relayAcp(...given),
);
acpRows(
  '/acp/<deviceId>',
  () => relay,
  scene,
  (...given) => scene.acpSocket(...given),
);

describe('the folders of an editor', () => {
  it('map to folders of the device, in both directions', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, updates } = await scene.relayAcp(relay, deviceId, { args: ['--map', `/here/project=${folder}`] });
    const { sessionId } = await agent.request('session/new', { cwd: '/here/project', mcpServers: [] });
    const link = { type: 'resource_link' as const, name: 'a.ts', uri: 'file:///here/project/src/a.ts' };
    await agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'all' }, link] });
    const content = updates.flatMap(({ update }) => ('toolCallId' in update ? (update.content ?? []) : []));
    expect(content).toContainEqual(expect.objectContaining({ type: 'diff', path: '/here/project/src/a.ts' }));
    expect((await agent.request('session/list', {})).sessions).toMatchObject([{ sessionId, cwd: '/here/project' }]);
    const [session] = (await relay.call('listSessions', { query: { deviceId } })).body.sessions;
    expect(session).toMatchObject({ projectPath: folder });
    const page = await relay.call('readMessages', { params: { id: session!.id } });
    expect(page.body.messages[0]!.content).toContain(`${folder}/src/a.ts`);
  });

  it('are all replaced by the folder of --cwd; without it, an unknown folder is an error', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const placed = await scene.relayAcp(relay, deviceId, { args: ['--cwd', folder] });
    await placed.agent.request('session/new', { cwd: '/here/project', mcpServers: [] });
    const { agent } = await scene.relayAcp(relay, deviceId);
    await expect(agent.request('session/new', { cwd: `${folder}/none`, mcpServers: [] })).rejects.toMatchObject({
      code: -32602,
      data: { code: 'FOLDER_NOT_FOUND' },
      message: expect.stringContaining('--cwd') as unknown,
    });
  });
});

describe('a relay that restarts in the middle of a prompt', () => {
  it('does not fail the call of the editor, which completes once and has the whole text', async () => {
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
    expect(said(sessionId).trim()).toBe(words);
    expect(ends).toBe(1);
  });

  it('gets a prompt that the editor sent while it was down, once', async () => {
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

describe('a device that is removed in the middle of a prompt', () => {
  it('fails the prompt', async () => {
    const { deviceId, folder } = await scene.machine(relay);
    const { agent, question } = await scene.relayAcp(relay, deviceId);
    const { sessionId } = await agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = agent.request('session/prompt', prompt(sessionId, 'perm'));
    ended.catch(() => undefined);
    await question(sessionId);
    expect((await relay.call('deleteDevice', { params: { id: deviceId } })).status).toBe(204);
    await expect(ended).rejects.toMatchObject({ data: { code: 'DEVICE_NOT_FOUND' } });
  });
});
