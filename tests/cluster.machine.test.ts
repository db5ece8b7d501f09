import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import { type Cluster, connectApp, connectDaemon, registerDevice, startCluster } from '@relay/testing';
import { until } from './cluster/until.ts';

/** Promise: many processes act as one relay, and each of them can be replaced (rules, 2.1). */
describeWith(
  ['postgresql', 'redis-server'],
  'two api and two gateway processes, with Redis and PostgreSQL between them',
  () => {
    let cluster: Cluster;

    beforeAll(async () => {
      cluster = await startCluster({ apis: 2, gateways: 2, env: { SESSION_CREATE_PER_MINUTE: '8' } });
    }, 180_000);
    afterAll(() => cluster.stop());

    it('carry a conversation between an app on one, REST on the other, and a daemon on any', async () => {
      for (const gateway of [0, 1]) {
        const daemon = await connectDaemon(cluster, { gateway });
        const apps = [await connectApp(cluster, { api: 0 }), await connectApp(cluster, { api: 1 })];
        const { body } = await cluster.call('createSession', {
          api: gateway,
          body: { deviceId: daemon.deviceId, message: `over ${gateway}` },
        });
        const start = await daemon.next('task_start');
        expect(start.task_id).toBe(body.taskId);
        daemon.event(start.task_id as string, 'SESSION_STARTED', { session_id: `n-${gateway}` });
        daemon.event(start.task_id as string, 'TASK_COMPLETE', { result: `answer ${gateway}` });
        for (const app of apps) {
          const answer = await app.next('new_message', ({ message }) => (message as { role: string }).role === 'AGENT');
          expect(answer).toMatchObject({ message: { content: `answer ${gateway}` } });
          await app.close();
        }
        await daemon.close();
      }
    });

    it('count the limits of a user together', async () => {
      const { deviceId } = await registerDevice(cluster, { user: 'eager' });
      const statuses: number[] = [];
      for (let round = 0; round < 10; round += 1) {
        const body = { deviceId, message: `${round}` };
        statuses.push((await cluster.call('createSession', { user: 'eager', api: round % 2, body })).status);
      }
      expect(statuses.filter((status) => status === 201)).toHaveLength(8);
      expect(statuses.slice(8)).toEqual([429, 429]);
    });

    it('accept a ticket once, at any instance', async () => {
      const ticket = async () => (await cluster.call('createTicket', { api: 0 })).body.ticket;
      const used = await ticket();
      const app = await connectApp(cluster, { api: 1, credential: 'ticket', token: used });
      await expect(connectApp(cluster, { api: 0, credential: 'ticket', token: used })).rejects.toMatchObject({
        status: 401,
      });
      await app.close();
    });

    it('let the newest connection of a device win, and close the socket of a removed device on any instance', async () => {
      const registration = await registerDevice(cluster);
      const older = await connectDaemon(cluster, { registration, gateway: 0 });
      // A gateway accepts a socket before it claims the device, and the newest claim wins.
      await until('the older connection has the device', async () => {
        const { devices } = (await cluster.call('listDevices')).body;
        return devices.some(({ id, status }) => id === registration.deviceId && status === 'online');
      });
      const newer = await connectDaemon(cluster, { registration, gateway: 1 });
      expect((await older.closed).code).toBe(4409);
      expect((await cluster.call('deleteDevice', { params: { id: registration.deviceId }, api: 1 })).status).toBe(204);
      expect((await newer.closed).code).toBe(4404);
      for (const gateway of [0, 1])
        await expect(connectDaemon(cluster, { registration, gateway })).rejects.toMatchObject({ status: 401 });
    });

    it('complete a running task after the gateway of its daemon was killed', async () => {
      const daemon = await connectDaemon(cluster, { gateway: 0 });
      const { body } = await cluster.call('createSession', {
        user: 'alice',
        body: { deviceId: daemon.deviceId, message: 'a long job' },
      });
      const taskId = body.taskId;
      await daemon.next('task_start');
      daemon.event(taskId, 'SESSION_STARTED', { session_id: 'killed' });
      const app = await connectApp(cluster, { api: 1 });
      const id = `${daemon.deviceId}:scripted:killed`;
      daemon.event(taskId, 'PROGRESS', { action: 'working' });
      await app.next('session_update', (frame) => (frame.session as { id: string }).id === id);

      await cluster.gateways[0]!.kill();
      await daemon.closed;
      const again = await connectDaemon(cluster, {
        registration: daemon.registration,
        gateway: 1,
        hello: [
          { type: 'status', running_tasks: [taskId] },
          { type: 'report_sessions', sessions: [] },
        ],
      });
      again.event(taskId, 'TASK_COMPLETE', { result: 'done after all' });
      expect(await app.next('new_message', (frame) => frame.sessionId === id)).toMatchObject({
        message: { content: 'done after all' },
      });
      expect((await cluster.call('readTask', { params: { id: taskId } })).body).toMatchObject({ state: 'completed' });
      expect(again.inbox.count('task_start')).toBe(0);
      await cluster.gateways[0]!.start();
      await again.close();
      await app.close();
    }, 120_000);

    it('drain one after the other without an error, and ask all clients to reconnect', async () => {
      const registration = await registerDevice(cluster, { user: 'roller' });
      const app = await connectApp(cluster, { user: 'roller', api: 1 });
      for (const [index, gateway] of cluster.gateways.entries()) {
        const daemon = await connectDaemon(cluster, { registration, gateway: index });
        const left = gateway.leave();
        expect((await daemon.closed).code).toBe(1001);
        expect(await left).toBe(0);
        await gateway.start();
      }
      const daemon = await connectDaemon(cluster, { registration, gateway: 0 });
      const left = cluster.apis[1]!.leave();
      expect((await app.closed).code).toBe(1001);
      expect(await left).toBe(0);
      const { body } = await cluster.call('createSession', {
        user: 'roller',
        body: { deviceId: daemon.deviceId, message: 'with one api' },
      });
      expect(await daemon.next('task_start')).toMatchObject({ task_id: body.taskId });
      await cluster.apis[1]!.start();
      expect((await cluster.call('ready', { api: 1, user: null })).status).toBe(200);
    }, 120_000);
  },
);
