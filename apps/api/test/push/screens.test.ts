import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { shownDeliveries } from '@relay/database';
import { type PushReceiver, startPushReceiver } from '@relay/testing';
import { type Begun, type Scene, begin, openScene, updateOf } from '../scene.ts';
import { until } from '../until.ts';

/** Rules, 14.45, over two apis: the api that sent a message clears it, also if the other gets the answer. */
describe('the screen of a phone with ntfy', () => {
  let scene: Scene;
  let receiver: PushReceiver;
  let subscriptionId: string;
  beforeAll(async () => {
    receiver = await startPushReceiver();
    const config = { pushSecret: ['p'.repeat(32)], pushAllowedHosts: [receiver.host], outboxPollMs: 200 };
    scene = await openScene({ apis: 2, transports: [], config });
    const body = { kind: 'ntfy', url: receiver.url, topic: 'garden', token: 'tk_ada' } as const;
    subscriptionId = (await scene.relay.call('addSubscription', { body })).body.subscription.id;
  });
  afterAll(async () => {
    await scene.relay.stop();
    await receiver.close();
  });

  const run = async (nativeId: string) => {
    const begun = await begin(scene, nativeId);
    await scene.relay.call('watch', { body: { sessionId: begun.id } });
    return begun;
  };
  const ask = ({ taskId }: Begun) => scene.daemon.event(taskId, 'WAIT_FOR_USER', { prompt: 'May I?' });
  const answer = (begun: Begun, api: number) => {
    const body = { content: 'yes' };
    return scene.relay.call('sendMessage', { params: { id: begun.id }, body, api });
  };
  /** The sequence ids of all messages shown. */
  const sequences = () =>
    receiver.at('/').map(({ body }) => (JSON.parse(body.toString()) as { sequence_id: string }).sequence_id);
  const shown = async (count: number) => {
    await until(`${count} are shown`, async () => {
      const { notifications } = (await scene.relay.call('listNotifications')).body;
      const deliveries = notifications.flatMap((one) => one.deliveries ?? []);
      return deliveries.filter(({ state }) => state === 'accepted').length === count;
    });
    return sequences().at(-1)!;
  };
  const cleared = () => receiver.received.filter(({ path }) => path.endsWith('/clear'));

  it('loses a question when it is answered, and the completion of a turn when it is read', async () => {
    const asked = await run('asked');
    ask(asked);
    const question = await shown(1);
    expect(cleared()).toEqual([]);
    expect((await answer(asked, 1)).status).toBe(202);
    await until('the question is cleared', () => cleared().length === 1);
    expect(cleared()[0]).toMatchObject({
      path: `/garden/${question}/clear`,
      headers: { authorization: 'Bearer tk_ada' },
    });

    const done = await run('done');
    scene.daemon.event(done.taskId, 'TASK_COMPLETE', { result: 'done' });
    const end = await shown(2);
    expect(cleared()).toHaveLength(1);
    await scene.relay.call('markRead', { params: { id: done.id }, body: {}, api: 1 });
    await until('the end is cleared', () => cleared().length === 2);
    expect(cleared()[1]!.path).toBe(`/garden/${end}/clear`);
  });

  it('keeps the message that replaced a question, and its address if the server is too old to clear', async () => {
    receiver.answer = (response, { path }) => void response.writeHead(path === '/' ? 200 : 404).end();
    const before = cleared().length;
    const asked = await run('asked again');
    ask(asked);
    const question = await shown(3);
    const { body } = await answer(asked, 0);
    await until('the old server refuses', () => cleared().length === before + 1);
    await scene.daemon.next('task_resume', (frame) => frame.task_id === body.taskId);
    scene.daemon.event(body.taskId, 'TASK_COMPLETE', { result: 'done' });
    await updateOf(scene.app, asked.id, ({ status }) => status === 'idle');
    expect(await shown(4)).toBe(question);
    const { notifications } = (await scene.relay.call('listNotifications')).body;
    const ids = notifications.filter(({ sessionId }) => sessionId === asked.id).map((one) => one.deliveries![0]!.id);
    const rows = await shownDeliveries(scene.relay.database, ids);
    expect(ids.map((id) => rows.find((row) => row.id === id))).toMatchObject([
      { over: false, replaced: false },
      { over: true, replaced: true },
    ]);
    // The next one is cleared after any other clear request.
    const last = await run('last');
    ask(last);
    const other = await shown(5);
    await answer(last, 1);
    await until('the last is cleared', () => cleared().length >= before + 2);
    expect(
      cleared()
        .slice(before + 1)
        .map(({ path }) => path),
    ).toEqual([`/garden/${other}/clear`]);
    const { state } = (await scene.relay.call('readSubscription', { params: { id: subscriptionId } })).body;
    expect(state).toBe('active');
  });
});
