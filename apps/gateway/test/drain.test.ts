import { describe, expect, it } from '@jest/globals';
import { connectApp, connectDaemon, startRelay } from '@relay/testing';
import { counted, readTask, run, sessionIn, tick, until } from './conversation.ts';

describe('an instance that leaves', () => {
  it('still counts frames that the daemon sent before the close: the task is completed and not lost', async () => {
    const relay = await startRelay({ gateways: 2, config: { statusLostMs: 1 } });
    try {
      const app = await connectApp(relay);
      const daemon = await connectDaemon(relay);
      const { taskId, id } = await run(relay, daemon, app, 'leaving');
      await relay.database.models.$transaction(
        async (tx) => {
          // The daemon's next frames wait for this: first the report, then the events of its task.
          await tx.$queryRaw`SELECT 1 FROM devices FOR UPDATE`;
          daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'leaving-report' }] });
          daemon.event(taskId, 'TASK_COMPLETE', { result: 'said in time' });
          await relay.gateways[0]!.gateway.drain(0);
          expect(await daemon.closed).toMatchObject({ code: 1001 });
        },
        { timeout: 60_000 },
      );
      await app.next('session_update', (frame) => sessionIn(frame).id === id && sessionIn(frame).status === 'idle');
      const again = await connectDaemon(relay, { registration: daemon.registration, gateway: 1 });
      for (let time = 0; time < 2; time += 1) {
        again.send({ type: 'status', running_tasks: [] });
        await tick(again, app);
      }
      expect(await readTask(relay, taskId)).toMatchObject({ state: 'completed', result: 'said in time' });
    } finally {
      await relay.stop();
    }
  });

  it('lets all of it count, also when the daemon is back before it was handled', async () => {
    const relay = await startRelay({ gateways: 2 });
    try {
      const app = await connectApp(relay);
      const daemon = await connectDaemon(relay);
      const [first, second] = [await run(relay, daemon, app, 'first'), await run(relay, daemon, app, 'second')];
      const [{ gateway, backplane }] = relay.gateways as [(typeof relay.gateways)[number]];
      const append = backplane.append.bind(backplane);
      let goOn = () => undefined as void;
      const held = new Promise<void>((resolve) => (goOn = resolve));
      // The first completion waits for this, and the second for the first.
      backplane.append = async (...frame) => held.then(() => append(...frame));
      daemon.event(first.taskId, 'TASK_COMPLETE', { result: 'the first' });
      daemon.event(second.taskId, 'TASK_COMPLETE', { result: 'the second' });
      await until(async () => (await readTask(relay, first.taskId)).state === 'completed');
      await gateway.drain(0);
      expect(await daemon.closed).toMatchObject({ code: 1001 });
      await connectDaemon(relay, { registration: daemon.registration, gateway: 1 });
      await until(async () => (await counted(relay, 'relay_evictions_total')) === 1);
      goOn();
      await until(async () => (await readTask(relay, second.taskId)).state === 'completed');
      expect(await readTask(relay, second.taskId)).toMatchObject({ result: 'the second' });
    } finally {
      await relay.stop();
    }
  });

  it('does not wait for a sweep of the fleet that hangs', async () => {
    const relay = await startRelay({ config: { offlineGraceMs: 1 } });
    const gateway = relay.gateways[0]!;
    await new Promise<void>((reached) => {
      gateway.backplane.owners = () => {
        reached();
        return new Promise(() => undefined);
      };
      // A device that counts as online is one to look after.
      void connectDaemon(relay).catch(() => undefined);
    });
    await gateway.stop();
    await relay.stop();
  });
});
