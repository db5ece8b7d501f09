import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, connectDaemon, registerDevice, startRelay } from '@relay/testing';

/** Promise: a client gets the same result from every instance. */
describe('two apis and two gateways', () => {
  let relay: TestRelay;

  beforeAll(async () => {
    relay = await startRelay({ apis: 2, gateways: 2 });
  });
  afterAll(() => relay.stop());

  it('carry a conversation between an app on one, REST on the other, and a daemon on any', async () => {
    for (const gateway of [0, 1]) {
      const daemon = await connectDaemon(relay, { gateway });
      const apps = [await connectApp(relay, { api: 0 }), await connectApp(relay, { api: 1 })];
      const { body } = await relay.call('createSession', {
        api: gateway,
        body: { deviceId: daemon.deviceId, message: `over ${gateway}` },
      });
      const start = await daemon.next('task_start');
      expect(start.task_id).toBe(body.taskId);
      daemon.event(start.task_id as string, 'SESSION_STARTED', { session_id: `n-${gateway}` });
      daemon.event(start.task_id as string, 'TASK_COMPLETE', { result: `answer ${gateway}` });
      for (const app of apps) {
        expect(
          await app.next('new_message', (frame) => (frame.message as { role: string }).role === 'AGENT'),
        ).toMatchObject({ message: { content: `answer ${gateway}` } });
        await app.close();
      }
      await daemon.close();
    }
  });

  it('let the newest connection of a device win, wherever the older one is', async () => {
    const registration = await registerDevice(relay);
    const older = await connectDaemon(relay, { registration, gateway: 0 });
    const newer = await connectDaemon(relay, { registration, gateway: 1 });
    expect((await older.closed).code).toBe(4409);
    const { body } = await relay.call('createSession', {
      body: { deviceId: registration.deviceId, message: 'to the newer one' },
    });
    expect(await newer.next('task_start')).toMatchObject({ task_id: body.taskId });
    expect((await relay.call('listDevices')).body.devices).toContainEqual(
      expect.objectContaining({ id: registration.deviceId, status: 'online' }),
    );
  });

  it('close the live socket of a removed device on any instance', async () => {
    const daemon = await connectDaemon(relay, { gateway: 1 });
    expect((await relay.call('deleteDevice', { params: { id: daemon.deviceId }, api: 1 })).status).toBe(204);
    expect((await daemon.closed).code).toBe(4404);
    await expect(connectDaemon(relay, { registration: daemon.registration, gateway: 0 })).rejects.toMatchObject({
      status: 401,
    });
  });

  it('write a task to its daemon once, however often the daemon reconnects and to any gateway', async () => {
    const registration = await registerDevice(relay);
    const seen = new Map<string, number>();
    const sent: string[] = [];
    for (let round = 0; round < 6; round += 1) {
      const daemon = await connectDaemon(relay, { registration, gateway: round % 2 });
      const posts = Array.from({ length: 3 }, (_, index) =>
        relay.call('createSession', {
          api: index % 2,
          body: { deviceId: registration.deviceId, message: `${round}.${index}` },
        }),
      );
      for (const { body } of await Promise.all(posts)) sent.push(body.taskId);
      await daemon.next('task_start');
      await daemon.drop();
      for (const frame of daemon.inbox.all)
        if (frame.type === 'task_start')
          seen.set(frame.task_id as string, (seen.get(frame.task_id as string) ?? 0) + 1);
    }
    const last = await connectDaemon(relay, { registration });
    const { body } = await relay.call('createSession', {
      body: { deviceId: registration.deviceId, message: 'the last' },
    });
    await last.next('task_start', (frame) => frame.task_id === body.taskId);
    for (const frame of last.inbox.all)
      if (frame.type === 'task_start') seen.set(frame.task_id as string, (seen.get(frame.task_id as string) ?? 0) + 1);
    expect([...seen.values()].filter((times) => times !== 1)).toEqual([]);
    // No accepted task is still queued, and each task that no daemon received is unknown.
    for (const taskId of sent) {
      const { state } = (await relay.call('readTask', { params: { id: taskId } })).body as { state: string };
      expect(seen.has(taskId) ? ['sent', 'unknown'] : ['unknown']).toContain(state);
    }
  });

  it('lose no command when the gateway of the device is killed', async () => {
    const registration = await registerDevice(relay);
    const daemon = await connectDaemon(relay, { registration, gateway: 1 });
    await relay.gateways[1]!.kill();
    await daemon.closed;
    const { body } = await relay.call('createSession', {
      body: { deviceId: registration.deviceId, message: 'after the crash' },
    });
    const again = await connectDaemon(relay, { registration, gateway: 0 });
    expect(await again.next('task_start')).toMatchObject({ task_id: body.taskId });
  });
});
