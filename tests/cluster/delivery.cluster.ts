import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, connectApp, connectDaemon, registerDevice, startCluster } from '@relay/testing';
import { loadTimes, startLoad } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

/**
 * Promise: the relay accepts a task once, writes it to a daemon at most once, and never guesses its outcome (rules,
 * 2.1).
 */
describe('a task whose path to its daemon breaks', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: { ...loadTimes, TEST_STATUS_WAIT_MS: '60000' } });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  const post = (deviceId: string, message: string, options: { api?: number; key?: string } = {}) =>
    cluster.call('POST', '/api/sessions', {
      api: options.api ?? 0,
      body: { deviceId, message },
      headers: options.key === undefined ? {} : { 'Idempotency-Key': options.key },
    });

  it('is written by the next gateway if the first one dies before it claims the task', async () => {
    const waiting = await connectDaemon(cluster, { gateway: 0, hello: [] });
    const { deviceId, registration } = waiting;
    const { taskId } = (await post(deviceId, 'between waking and taking')).body as { taskId: string };
    // The gateway starts to claim the task, and waits for the lock of the device when it dies with its connection. A claim is one statement:
    // PostgreSQL commits it if it gets the lock before it notices the death, and then the delivery is unknown, as in the next case.
    const unlock = await truth.lockDevice(deviceId);
    waiting.send({ type: 'status', running_tasks: [] });
    await until('the gateway waits for the lock', () => truth.isWaitedFor());
    await cluster.gateways[0]!.kill();
    await truth.abortWaiting();
    await unlock();
    const daemon = await connectDaemon(cluster, { registration, gateway: 1 });
    expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId });
    await cluster.gateways[0]!.start();
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'taken-later', result: 'done' });
    await until('it has ended', async () => (await truth.task(taskId))?.state === 'completed');
    expect(waiting.inbox.count('task_start')).toBe(0);
    expect(daemon.inbox.count('task_start')).toBe(1);
    await daemon.close();
  }, 120_000);

  it('is unknown, and not written again, if the gateway dies between claiming and writing it', async () => {
    const waiting = await connectDaemon(cluster, { gateway: 0, hello: [] });
    const { deviceId, registration } = waiting;
    const { taskId } = (await post(deviceId, 'between taking and writing')).body as { taskId: string };
    const app = await connectApp(cluster, { api: 1 });
    // The claim is committed long before the gateway receives the answer.
    cluster.wires.database.set('pass', { latencyMs: 1500 });
    waiting.send({ type: 'status', running_tasks: [] });
    await until('the task is taken', async () => (await truth.task(taskId))?.state === 'sent');
    await cluster.gateways[0]!.kill();
    cluster.wires.database.set('pass');
    expect(waiting.inbox.count('task_start')).toBe(0);
    const daemon = await connectDaemon(cluster, { registration, gateway: 1 });
    await app.next('session_update', (frame) => {
      const { status, lastTask } = frame.session as { status: string; lastTask?: { id: string; code?: string } };
      return status === 'failed' && lastTask?.id === taskId && lastTask.code === 'DELIVERY_UNKNOWN';
    });
    // A later task arrives, the first one never does.
    const later = (await post(deviceId, 'later')).body as { taskId: string };
    expect(await daemon.next('task_start')).toMatchObject({ task_id: later.taskId });
    expect(daemon.inbox.count('task_start')).toBe(1);
    await cluster.gateways[0]!.start();
    await Promise.all([daemon.close(), app.close()]);
  }, 120_000);

  it('is created once if its api dies with the request pending and the client repeats the request at another', async () => {
    const daemon = await connectDaemon(cluster, { gateway: 1 });
    const unlock = await truth.lockDevice(daemon.deviceId);
    const first = post(daemon.deviceId, 'once', { api: 0, key: 'api-died' }).then(
      () => 'answered',
      () => 'broken',
    );
    await until('the request waits for the lock', () => truth.isWaitedFor());
    await cluster.apis[0]!.kill();
    expect(await first).toBe('broken');
    const again = post(daemon.deviceId, 'once', { api: 1, key: 'api-died' });
    await unlock();
    const answer = await again;
    expect(answer.status).toBe(201);
    const { taskId } = answer.body as { taskId: string };
    expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId });
    const repeated = await post(daemon.deviceId, 'once', { api: 1, key: 'api-died' });
    expect(repeated.body).toMatchObject({ taskId });
    const later = (await post(daemon.deviceId, 'later', { api: 1 })).body as { taskId: string };
    expect(await daemon.next('task_start')).toMatchObject({ task_id: later.taskId });
    expect(daemon.inbox.count('task_start')).toBe(2);
    expect((await truth.tasks()).filter((row) => row.device_id === daemon.deviceId)).toHaveLength(2);
    await cluster.apis[0]!.start();
    await daemon.close();
  }, 120_000);

  it('is written even if its wake-up was lost with Redis', async () => {
    const registration = await registerDevice(cluster);
    const daemon = await connectDaemon(cluster, { registration, gateway: 0 });
    await until('it is online', async () => (await truth.fences([daemon.deviceId])).size === 1);
    await cluster.redis.kill();
    const accepted = await post(daemon.deviceId, 'while Redis is away');
    expect(accepted.status).toBe(201);
    await cluster.redis.restart();
    expect(await daemon.next('task_start')).toMatchObject({ task_id: accepted.body.taskId as string });
    expect(daemon.inbox.count('task_start')).toBe(1);
    await daemon.close();
    for (const { name, url } of [...cluster.apis, ...cluster.gateways])
      await until(`${name} has Redis again`, async () => {
        const { status } = (await (await fetch(`${url}/ready`)).json()) as { status: string };
        return status === 'ok';
      });
  }, 120_000);

  it('gets the outcome that its daemon sent even if the connection to the database breaks while it is stored', async () => {
    const daemon = await connectDaemon(cluster, { gateway: 0 });
    const app = await connectApp(cluster, { since: '' });
    const accepted = await post(daemon.deviceId, 'to its end');
    expect(accepted).toMatchObject({ status: 201 });
    const { taskId } = accepted.body as { taskId: string };
    await daemon.next('task_start');
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'to-its-end' });
    await until('it runs', async () => (await truth.task(taskId))?.state === 'running');
    const unlock = await truth.lockDevice(daemon.deviceId);
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'the end' });
    await until('the gateway waits for the lock', () => truth.isWaitedFor());
    // PostgreSQL grants the lock, but the answer is lost: the transaction stays open, and both sides wait.
    cluster.wires.database.set('swallow');
    await unlock();
    await until('the lock was given', async () => !(await truth.isWaitedFor()));
    cluster.wires.database.set('pass');
    await app.next('new_message', ({ message }) => (message as { content: string }).content === 'the end', 90_000);
    expect(await truth.task(taskId)).toMatchObject({ state: 'completed' });
    expect(app.inbox.count('resync')).toBe(0);
    await Promise.all([daemon.close(), app.close()]);
  }, 150_000);

  it('keeps these promises under load, while gateways and apis are killed', async () => {
    const load = await startLoad({ cluster, truth, seed: 1, people: 4 });
    await load.flows();
    for (const instance of [...cluster.gateways, ...cluster.apis]) {
      await load.fault(`kill ${instance.name}`, () => instance.kill());
      await load.flows();
      await instance.start();
    }
    expect(await load.settle({ mayCut: true })).toEqual([]);
  }, 240_000);
});
