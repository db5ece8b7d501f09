/**
 * Promise: `/acp/<deviceId>` works the same on every api, and its turns survive the loss of an api. Two apis and two
 * gateways as processes; the tests kill each in the middle of a prompt. The clients of the rows alternate between the
 * apis.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, UpgradeRefused, registerDevice, startCluster } from '@relay/testing';
import { acpRows, choose, prompt, words } from '../acp-rows.ts';
import { stalledReader } from '../acp-stalled-reader.ts';
import { acpScene, acpToken, checkEndpoint, openAcp } from '../acp-scene.ts';

describe('an ACP client on a WebSocket', () => {
  const scene = acpScene();
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2 });
  }, 180_000);
  afterEach(() => scene.clear());
  afterAll(() => cluster.stop());

  let clients = 0;
  acpRows(
    '/acp/<deviceId> of two apis',
    () => cluster,
    scene,
    (relay, deviceId, options) => scene.acpSocket(relay, deviceId, { ...options, api: (clients += 1) % 2 }),
  );

  it('passes the conformance checks on each api', async () => {
    const { deviceId } = await registerDevice(cluster);
    const { token } = await acpToken(cluster, deviceId);
    for (const { url } of cluster.apis) {
      const { code, passed, failures } = await checkEndpoint(`${url}/acp/${deviceId}`, token);
      expect({ code, failures }).toEqual({ code: 0, failures: [] });
      expect(passed).toHaveLength(11);
    }
  });

  it('reaches only its own device, and loses its connections when its token is revoked', async () => {
    const [mine, theirs] = [await registerDevice(cluster), await registerDevice(cluster, { user: 'bob' })];
    const { id, token } = await acpToken(cluster, mine.deviceId);
    const headers = { Authorization: `Bearer ${token}` };
    for (const api of [0, 1])
      await expect(openAcp(cluster, theirs.deviceId, { headers, api })).rejects.toMatchObject({
        status: 404,
        body: { code: 'DEVICE_NOT_FOUND' },
      });
    const open = await Promise.all([0, 1].map((api) => openAcp(cluster, mine.deviceId, { headers, api })));
    expect((await cluster.call('revokeAcpToken', { params: { id } })).status).toBe(204);
    expect(await Promise.all(open.map(({ closed }) => closed))).toEqual([4401, 4401]);
    for (const api of [0, 1])
      await expect(openAcp(cluster, mine.deviceId, { headers, api })).rejects.toBeInstanceOf(UpgradeRefused);
  });

  it('is asked to reconnect when its api drains', async () => {
    const { deviceId } = await registerDevice(cluster);
    const { token } = await acpToken(cluster, deviceId);
    const { closed } = await openAcp(cluster, deviceId, { headers: { Authorization: `Bearer ${token}` }, api: 1 });
    expect(await cluster.apis[1]!.leave()).toBe(0);
    expect(await closed).toBe(1001);
    await cluster.apis[1]!.start();
  }, 120_000);

  it('creates a session on one api, and loads it on the other before its first prompt', async () => {
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

  it('gets the whole turn once, even if both gateways die in the middle of it', async () => {
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

  it('loses its call with its api, and gets the whole turn from the other', async () => {
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

  it('gets a question on both apis; the first answer counts and withdraws the question from the other client', async () => {
    const { deviceId, folder } = await scene.machine(cluster);
    const first = await scene.acpSocket(cluster, deviceId);
    const { sessionId } = await first.agent.request('session/new', { cwd: folder, mcpServers: [] });
    const ended = first.agent.request('session/prompt', prompt(sessionId, 'perm'));
    await first.question(sessionId);
    const second = await scene.acpSocket(cluster, deviceId, { api: 1, permission: choose('y') });
    await second.agent.request('session/load', { sessionId, cwd: folder, mcpServers: [] });
    expect(await ended).toEqual({ stopReason: 'end_turn' });
    expect(first.asked.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(first.said(sessionId)).toContain('permission: y');
  });
});

describe('an ACP client that does not read', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: { TEST_SLOW_READER_STALL_MS: '500' } });
  }, 180_000);
  afterAll(() => cluster.stop());

  stalledReader(
    () => cluster,
    () => cluster.apis[0]!.metrics(),
  );
});
