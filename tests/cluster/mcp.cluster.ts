/**
 * Promise: an agent uses the machines of its person through several apis, each request at another one. If an instance
 * dies during a call, the agent only has to repeat that call, and nothing runs twice.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type RelayAddress, startCluster, startFieldDaemon } from '@relay/testing';
import { acpScene } from '../acp-scene.ts';
import { type TestAgent, connectAgent } from '../mcp-scene.ts';
import { type RoundRobin, startRoundRobin } from '../round-robin.ts';

describe('an agent and the machines of its person, through two apis', () => {
  const scene = acpScene();
  let cluster: Cluster;
  let balancer: RoundRobin;
  let relay: RelayAddress;
  let agent: TestAgent;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: { AGENT_TURNS_PER_HOUR: '1000' } });
    balancer = await startRoundRobin();
    const urls = (instances: readonly { url: string }[]) => instances.map(({ url }) => url);
    balancer.behind(urls(cluster.apis), urls(cluster.gateways));
    relay = { ...cluster, apis: [{ url: balancer.url }], gateways: [{ url: balancer.url }] };
    agent = await connectAgent(relay);
  }, 180_000);
  afterAll(async () => {
    await agent.close();
    await scene.clear();
    await balancer.close();
    await cluster.stop();
  });

  const start = async (deviceId: string, message: string) => {
    const { value } = await agent.tool('start_session', {
      deviceId,
      message,
      idempotencyKey: `${deviceId} ${message}`,
    });
    return { sessionId: value['sessionId'] as string, taskId: value['taskId'] as string };
  };

  it('gets a question of the demonstration agent and answers it, each call at another instance', async () => {
    const before = [...balancer.counts.apis];
    const { deviceId } = await scene.machine(relay);
    const turn = await start(deviceId, 'perm');
    const asked = await agent.ended(turn);
    const [question] = asked['questions'] as { id: string }[];
    const { value: answered } = await agent.tool('answer', {
      sessionId: asked['sessionId'],
      questionId: question!.id,
      option: 'y',
    });
    const { sessionId } = asked;
    expect(await agent.ended({ sessionId, taskId: answered['taskId'] })).toMatchObject({
      state: 'completed',
      result: expect.stringContaining('permission: y') as unknown,
    });
    for (const api of [0, 1]) expect(balancer.counts.apis[api]).toBeGreaterThan(before[api] ?? 0);
  }, 120_000);

  it.each([0, 1])(
    'repeats its wait after api %i was killed, and the turn ran once',
    async (killed) => {
      const daemon = await startFieldDaemon(relay, { agentType: 'field', again: { afterMs: 100 } });
      const turn = await start(daemon.deviceId, `go ${killed}`);
      const task = await daemon.nextTask();
      // One wait at each instance.
      const waits = [agent.tool('wait_for_turn', turn), agent.tool('wait_for_turn', turn)].map((wait) =>
        wait.catch((error: unknown) => error),
      );
      await cluster.apis[killed]!.kill();
      const failed = await Promise.race(waits);
      expect(failed).toBeInstanceOf(Error);
      await cluster.apis[killed]!.start();
      daemon.finish(task, 'It is done.');
      expect(await agent.ended(turn)).toMatchObject({ state: 'completed', result: 'It is done.', taskId: turn.taskId });
      expect((await Promise.all(waits)).filter((one) => !(one instanceof Error))).toEqual([
        expect.objectContaining({ value: expect.objectContaining({ state: 'completed' }) as unknown }),
      ]);
      // A start with the same key returns the existing turn.
      expect(await start(daemon.deviceId, `go ${killed}`)).toMatchObject({ taskId: turn.taskId });
      expect(daemon.inbox.all.filter(({ type }) => type === 'task_start')).toHaveLength(1);
      await daemon.stop();
    },
    120_000,
  );
});
