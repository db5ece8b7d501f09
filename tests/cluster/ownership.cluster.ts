import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  type Registration,
  type TestDaemon,
  connectApp,
  connectDaemon,
  registerDevice,
  startCluster,
  startFaultProxy,
} from '@relay/testing';
import { loadTimes } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

const gateways = 4;
const attempts = 1000;

/** Promise: a device has one owner; after every fault at most one, the newest (rules, 9.12). */
describe('a device with four gateways', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({
      apis: 1,
      gateways,
      env: { ...loadTimes, TEST_LEASE_TTL_MS: '3000', TEST_LEASE_REFRESH_MS: '1000' },
    });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  /** Whether the device is online, leased under the recorded fence, and has one open connection. */
  const isOwnedOnce = async (deviceId: string) => {
    const device = (await truth.device(deviceId))!;
    const fence = (await truth.fences([deviceId])).get(deviceId);
    return device.status === 'online' && device.open === 1 && fence === device.fence;
  };
  const post = async (deviceId: string, message: string) => {
    const { body } = await cluster.call('POST', '/api/sessions', { body: { deviceId, message } });
    return body.taskId as string;
  };
  /** A gateway behind its own fault proxy. */
  const behindWire = async (gateway: number) => {
    const wire = await startFaultProxy({ port: cluster.gateways[gateway]!.port });
    return { wire, relay: { ...cluster, gateways: [{ url: `http://127.0.0.1:${wire.port}` }] } };
  };

  it('has one connection left after a thousand concurrent ones', async () => {
    const registration = await registerDevice(cluster);
    const open = new Set<TestDaemon>();
    const codes = new Map<number, number>();
    const refusals = new Map<number, number>();
    const count = (counts: Map<number, number>, what: number) => counts.set(what, (counts.get(what) ?? 0) + 1);
    await Promise.all(
      Array.from({ length: attempts }, async (_, n) => {
        try {
          const daemon = await connectDaemon(cluster, { registration, gateway: n % gateways });
          open.add(daemon);
          void daemon.closed.then(({ code }) => {
            open.delete(daemon);
            count(codes, code);
          });
        } catch (error) {
          count(refusals, (error as { status: number }).status);
        }
      }),
    );
    await until('one is left', () => open.size === 1);
    await until('it is the one that is noted', () => isOwnedOnce(registration.deviceId));
    const [survivor] = open;
    const taskId = await post(registration.deviceId, 'who is there');
    expect(await survivor!.next('task_start')).toMatchObject({ task_id: taskId });
    expect(open.size).toBe(1);
    // All others were refused with a retry time, or closed: by a newer one, or by a gateway whose claim took too long.
    expect([...refusals.keys()]).toEqual([503]);
    expect([4409, 1013]).toEqual(expect.arrayContaining([...codes.keys()]));
    expect(codes.get(4409)).toBeGreaterThan(0);
    await survivor!.close();
  }, 120_000);

  it('is offline if its only connection is half-open', async () => {
    const { wire, relay } = await behindWire(0);
    const daemon = await connectDaemon(relay);
    const app = await connectApp(cluster);
    await until('it is owned', () => isOwnedOnce(daemon.deviceId));
    wire.set('swallow');
    await app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === 'offline');
    expect(await truth.device(daemon.deviceId)).toMatchObject({ status: 'offline', open: 0 });
    expect((await truth.fences([daemon.deviceId])).size).toBe(0);
    await Promise.all([wire.close(), app.close()]);
  }, 120_000);

  it('belongs to a new connection elsewhere while the old one is half-open', async () => {
    const { wire, relay } = await behindWire(0);
    const app = await connectApp(cluster);
    const old = await connectDaemon(relay);
    await until('it is owned', () => isOwnedOnce(old.deviceId));
    wire.set('swallow');
    const { registration } = old;
    const daemon = await connectDaemon(cluster, { registration, gateway: 1 });
    const taskId = await post(old.deviceId, 'to the new one');
    expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId });
    await until('the old one is noted as ended', () => isOwnedOnce(old.deviceId));
    await until('the old one was sent away', async () => {
      const { body } = await cluster.call('GET', `/api/devices/${old.deviceId}/connections`);
      return (body.connections as { closeCode?: number }[])[1]?.closeCode === 4409;
    });
    expect(old.inbox.count('task_start')).toBe(0);
    // No frame ever reported the device as offline.
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'half-open', result: 'still here' });
    await app.next('new_message', ({ message }) => (message as { content: string }).content === 'still here');
    expect(app.inbox.count('device_status', (frame) => frame.status === 'offline')).toBe(0);
    await Promise.all([wire.close(), daemon.close(), app.close()]);
  }, 120_000);

  it('stays with its new gateway after the old one was stuck for longer than its lease', async () => {
    const registration: Registration = await registerDevice(cluster);
    const { deviceId } = registration;
    const old = await connectDaemon(cluster, { registration, gateway: 2 });
    await until('it is owned', () => isOwnedOnce(deviceId));
    cluster.gateways[2]!.pause();
    await until('the lease has ended', async () => (await truth.fences([deviceId])).size === 0);
    const daemon = await connectDaemon(cluster, { registration, gateway: 3 });
    const first = await post(deviceId, 'while it was stuck');
    expect(await daemon.next('task_start')).toMatchObject({ task_id: first });
    cluster.gateways[2]!.resume();
    expect((await old.closed).code).toBe(4409);
    await until('one owner is left', () => isOwnedOnce(deviceId));
    const second = await post(deviceId, 'after it woke up');
    expect(await daemon.next('task_start')).toMatchObject({ task_id: second });
    expect(old.inbox.count('task_start')).toBe(0);
    await daemon.close();
  }, 120_000);

  it('is online again after its gateway was stuck for longer than its lease without another claim', async () => {
    const app = await connectApp(cluster);
    const daemon = await connectDaemon(cluster, { gateway: 2 });
    await until('it is owned', () => isOwnedOnce(daemon.deviceId));
    const fence = (await truth.device(daemon.deviceId))!.fence;
    cluster.gateways[2]!.pause();
    const says = (status: string) =>
      app.next('device_status', (frame) => frame.deviceId === daemon.deviceId && frame.status === status);
    await says('online');
    await says('offline');
    cluster.gateways[2]!.resume();
    await says('online');
    await until('it is owned again', () => isOwnedOnce(daemon.deviceId));
    const taskId = await post(daemon.deviceId, 'after it woke up');
    expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId });
    // The same connection under the same fence: no gateway claimed the device again.
    expect((await truth.device(daemon.deviceId))!.fence).toBe(fence);
    await Promise.all([daemon.close(), app.close()]);
  }, 120_000);

  it('keeps its connection under the same fence after Redis loses all data', async () => {
    const daemon = await connectDaemon(cluster, { gateway: 1 });
    const { deviceId } = daemon;
    await until('it is owned', () => isOwnedOnce(deviceId));
    const fence = (await truth.device(deviceId))!.fence;
    // Makes it so quiet that only its lease proves that it is connected.
    await truth.run("UPDATE devices SET last_seen_at = now() - interval '1 minute'");
    await cluster.redis.flush();
    await until('it is owned again', () => isOwnedOnce(deviceId));
    // Waits for one more round of every sweep, which must not act on the missing leases later.
    const quiet = await connectDaemon(cluster, { gateway: 0 });
    await quiet.drop();
    await until(
      'a device that left is offline',
      async () => (await truth.device(quiet.deviceId))!.status === 'offline',
    );
    await until('it is owned still', () => isOwnedOnce(deviceId));
    expect((await truth.device(deviceId))!.fence).toBe(fence);
    const taskId = await post(deviceId, 'after the flush');
    expect(await daemon.next('task_start')).toMatchObject({ task_id: taskId });
    await daemon.close();
  }, 120_000);
});
