/**
 * Promise: a client that starts `relay acp`, or connects to `/acp/<deviceId>`, has the agent of another machine as if it ran beside it. A real
 * relay process, the built program, the client of the SDK at its standard input and output or on a WebSocket.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type RelayProcess, freePort, startRelayProcess } from '@relay/testing';
import { acpRows, prompt } from './acp-rows.ts';
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
