/**
 * Promise: `/acp/<deviceId>` is the same on every api, and what it began goes on without it. Two apis and two gateways as processes; each is killed in
 * the middle of a prompt.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, startCluster } from '@relay/testing';
import { acpScene } from '../acp-scene.ts';

describe('an ACP client on a WebSocket', () => {
  const scene = acpScene();
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2 });
  }, 180_000);
  afterEach(() => scene.clear());
  afterAll(() => cluster.stop());

  const prompt = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: 'text' as const, text }] });
  const words = Array.from({ length: 400 }, (_, n) => `w${n}`).join(' ');

  it('begins a session on one api, and loads it on the other before its first prompt', async () => {
    const { deviceId, folder } = await scene.machine(cluster);
    const first = await scene.acpSocket(cluster, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const second = await scene.acpSocket(cluster, deviceId, { api: 1 });
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(await second.agent.request('session/prompt', prompt(sessionId, 'think'))).toEqual({
      stopReason: 'end_turn',
    });
    expect(second.said(sessionId)).toBe('thought');
  });

  it('gets the whole turn, once, although each gateway was killed in the middle of it', async () => {
    const { deviceId, folder } = await scene.machine(cluster);
    const client = await scene.acpSocket(cluster, deviceId);
    const { sessionId } = await client.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = client.agent.request('session/prompt', prompt(sessionId, 'slow'));
    await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    for (const gateway of cluster.gateways) {
      await gateway.kill();
      await gateway.start();
    }
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect(client.said(sessionId).trim()).toBe(words);
  }, 120_000);

  it('loses its call with its api, and finds the whole turn on the other', async () => {
    const { deviceId, folder } = await scene.machine(cluster);
    const first = await scene.acpSocket(cluster, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const lost = first.agent.request('session/prompt', prompt(sessionId, 'slow'));
    lost.catch(() => undefined);
    await first.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    const second = await scene.acpSocket(cluster, deviceId, { api: 1 });
    await cluster.apis[0]!.kill();
    await expect(lost).rejects.toThrow();
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    await second.update((update) => 'content' in update && JSON.stringify(update.content).includes('w399'));
    expect(second.said(sessionId).trim()).toBe(words);
    await cluster.apis[0]!.start();
  }, 120_000);

  it('is asked on both apis; the first answer counts, and the other request is taken back', async () => {
    const { deviceId, folder } = await scene.machine(cluster);
    const first = await scene.acpSocket(cluster, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = first.agent.request('session/prompt', prompt(sessionId, 'perm'));
    while (first.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const permission = () => Promise.resolve({ outcome: { outcome: 'selected' as const, optionId: 'y' } });
    const second = await scene.acpSocket(cluster, deviceId, { api: 1, permission });
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect(first.asked.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(first.said(sessionId)).toContain('permission: y');
  });
});
