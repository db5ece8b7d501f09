/**
 * Promise: the call of an editor through `relay acp` outlives every part of the relay. Each is killed in the middle of a prompt; the call ends
 * once, with the whole text.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type Instance, type RelayAddress, startCluster } from '@relay/testing';
import { acpScene } from '../acp-scene.ts';

describe('a prompt of an editor', () => {
  const scene = acpScene();
  let cluster: Cluster;
  let relay: RelayAddress;
  let editor: Awaited<ReturnType<typeof scene.relayAcp>>;
  let sessionId: string;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: 'plain' });
    const door = { url: cluster.haproxy!.url };
    relay = { ...cluster, apis: [door], gateways: [door] };
    const { deviceId, folder } = await scene.machine(relay);
    editor = await scene.relayAcp(relay, deviceId);
    ({ sessionId } = await editor.agent.request('session/new', { cwd: folder, mcpServers: [] }));
  }, 180_000);
  afterAll(async () => {
    await scene.clear();
    await cluster.stop();
  });

  const oneAfterTheOther = async (instances: readonly Instance[]) => {
    for (const instance of instances) {
      await instance.kill();
      await instance.start();
    }
  };
  const faults: readonly [name: string, fault: () => Promise<unknown>][] = [
    ['each api was killed', () => oneAfterTheOther(cluster.apis)],
    ['each gateway was killed', () => oneAfterTheOther(cluster.gateways)],
    ['Redis was killed', () => cluster.redis.kill().then(() => cluster.redis.restart())],
  ];

  it.each(faults)(
    'ends once, with the whole text, although %s in the middle of it',
    async (_name, fault) => {
      const { agent, updates, update, said } = editor;
      const words = { sessionId, prompt: [{ type: 'text' as const, text: 'slow' }] };
      updates.length = 0;
      let ends = 0;
      const ended = agent.request('session/prompt', words).finally(() => (ends += 1));
      await update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      await fault();
      expect(await ended).toEqual({ stopReason: 'end_turn' });
      expect(ends).toBe(1);
      expect(said(sessionId).trim()).toBe(Array.from({ length: 400 }, (_, n) => `w${n}`).join(' '));
    },
    120_000,
  );
});
