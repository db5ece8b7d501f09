import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type Frame, connectApp, connectDaemon, startCluster } from '@relay/testing';
import { loadTimes, startLoad, whatTheySaid } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

/** Redis disconnects a subscriber with more unread data than this. */
const limit = 'pubsub 32kb 32kb 1';
const unlimited = 'pubsub 0 0 0';
const big = 'x'.repeat(100_000);

/**
 * Promise: when Redis disconnects a subscriber for its output buffer, apps get a resync for each lost frame, and no
 * wrong status.
 */
describe('R11: Redis cuts subscribers for their output buffer', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: loadTimes });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });
  afterEach(() => setLimit(unlimited));

  const setLimit = (value: string) => cluster.redis.command('CONFIG', 'SET', 'client-output-buffer-limit', value);
  const subscribers = async () => {
    const list = await cluster.redis.command('CLIENT', 'LIST', 'TYPE', 'pubsub');
    return new Set([...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => id));
  };
  /** Cuts every subscription of gateways and apis with more data than any can read at once. */
  const cutAll = async () => {
    const before = await subscribers();
    const channels = (await cluster.redis.command('PUBSUB', 'CHANNELS')).split('\n').filter((name) => name !== '');
    for (const channel of channels) await cluster.redis.command('PUBLISH', channel, big);
    const now = await subscribers();
    const cut = [...before].filter((id) => !now.has(id)).length;
    expect(cut).toBeGreaterThan(0);
    return cut;
  };

  it('R11: people who use the relay get a resync for each lost frame, and no task is lost, duplicated or out of order', async () => {
    const load = await startLoad({ cluster, truth, seed: 21, people: 4, appsEach: 2 });
    const loud = await connectDaemon(cluster, { user: 'loud' });
    await connectApp(cluster, { user: 'loud', since: '', api: 0 });
    await connectApp(cluster, { user: 'loud', since: '', api: 1 });
    await load.flows();
    await setLimit(limit);
    for (let round = 0; round < 4; round += 1) {
      await load.fault('cut all subscribers', cutAll);
      await load.fault('say too much at once', () =>
        loud.event('', 'AGENT_RESPONSE', { session_id: 'desk', uuid: `${round}`, content: big }),
      );
      await load.flows();
    }
    await setLimit(unlimited);
    const wrong = await load.settle({ mayCut: false });
    if (wrong.length > 0) process.stderr.write(whatTheySaid(cluster));
    expect(wrong).toEqual([]);
    for (const { child } of [...cluster.apis, ...cluster.gateways]) expect(child.process.exitCode).toBeNull();
    await loud.close();
  }, 200_000);

  it('R11: every app shows the correct status again', async () => {
    const daemon = await connectDaemon(cluster, { user: 'status' });
    const apps = await Promise.all([0, 1].map((api) => connectApp(cluster, { user: 'status', since: '', api })));
    /** The state that each app shows: from its frames, and from the list that it loads after a resync. */
    const shown = apps.map(() => new Map<string, string>());
    const load = async (n: number) => {
      const { body } = await cluster.call('GET', '/api/sessions?limit=100', { user: 'status', api: n });
      for (const { id, status } of body.sessions as { id: string; status: string }[]) shown[n]!.set(id, status);
    };
    const loading: Promise<void>[] = [];
    for (const [n, app] of apps.entries())
      app.socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString('utf8')) as Frame;
        const session = frame.session as { id: string; status: string } | undefined;
        if (frame.type === 'session_update' && session) shown[n]!.set(session.id, session.status);
        if (frame.type === 'resync') loading.push(load(n));
      });
    await setLimit(limit);
    for (let round = 0; round < 10; round += 1) {
      const created = await cluster.call('POST', '/api/sessions', {
        user: 'status',
        body: { deviceId: daemon.deviceId, message: 'work' },
      });
      expect(created.status).toBe(201);
      const task = created.body.taskId as string;
      await daemon.next('task_start', ({ task_id: id }) => id === task);
      daemon.event(task, 'SESSION_STARTED', { session_id: `native-${round}` });
      if (round % 2 === 0) await cutAll();
      daemon.event(task, 'TASK_COMPLETE', { session_id: `native-${round}`, result: `done ${round}` });
      if (round % 2 === 1) await cutAll();
    }
    await setLimit(unlimited);
    await until('both apps show what is so', async () => {
      await Promise.all(loading);
      const { body } = await cluster.call('GET', '/api/sessions?limit=100', { user: 'status' });
      const sessions = body.sessions as { id: string; status: string }[];
      return (
        sessions.length === 10 &&
        sessions.every(
          ({ id, status }) =>
            status !== 'pending' && status !== 'active' && shown.every((app) => app.get(id) === status),
        )
      );
    });
    await Promise.all([daemon.close(), ...apps.map((app) => app.close())]);
  }, 120_000);
});
