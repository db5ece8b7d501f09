import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDaemon } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import {
  type Home,
  type TakingService,
  deliveryIn,
  notify,
  openPair,
  openSingle,
  sendTest,
  startTakingService,
} from './delivery-scene.ts';

/**
 * Promise: a delivery gets an outcome, arrives at most twice, and reports that it might have arrived twice (rules,
 * 14.8).
 */
function promises(open: (env: Record<string, string>) => Promise<Home>): void {
  let service: TakingService;
  let home: Home;

  beforeAll(async () => {
    service = await startTakingService();
    home = await open(service.env);
  }, 180_000);
  afterAll(async () => {
    await home.stop();
    await service.close();
  });

  /** The service has accepted the delivery and answered; the relay dies before it reads the answer. */
  const dieAfterAnswer = () =>
    service.answerOnce(
      () => home.signal('SIGSTOP'),
      () => home.kill(),
    );
  const resultOf = async (user: string, address: string, state: string) => {
    const { id, maybeDuplicate } = await deliveryIn(home, user, state);
    await sendTest(home, user, address);
    return { taken: service.timesOf(id), maybeDuplicate, state: (await deliveryOf(user, id)).state };
  };
  const deliveryOf = async (user: string, id: string) =>
    (await home.relay.call('readDelivery', { params: { id }, user })).body;

  it('before the claim: it arrives once, from the next process', async () => {
    const daemon = await connectDaemon(home.relay, { user: 'ada' });
    const address = await service.subscribe(home.relay, 'ada', { delaySeconds: 60 });
    // No delay holds the notification of a new machine.
    const body = { deviceId: daemon.deviceId, message: 'Fail' };
    const { taskId } = (await home.relay.call('createSession', { body, user: 'ada' })).body;
    await daemon.next('task_start');
    daemon.event(taskId, 'ERROR', { error: 'It failed.' });
    await deliveryIn(home, 'ada', 'pending');
    await home.kill();
    await home.passTwoMinutes();
    await home.startNext();
    expect(await resultOf('ada', address, 'accepted')).toEqual({ taken: 1, maybeDuplicate: false, state: 'accepted' });
  }, 180_000);

  it('after the claim, before the service has it: it arrives once, marked as a possible duplicate', async () => {
    const address = await service.subscribe(home.relay, 'bob');
    service.wire.set('swallow');
    await notify(home.relay, 'bob');
    await deliveryIn(home, 'bob', 'sending');
    await home.kill();
    service.wire.reset();
    service.wire.set('pass');
    await home.passTwoMinutes();
    await home.startNext();
    expect(await resultOf('bob', address, 'accepted')).toEqual({ taken: 1, maybeDuplicate: true, state: 'accepted' });
  }, 180_000);

  it('after the 201 of the service, before the relay records it: it arrives twice, marked as a possible duplicate', async () => {
    const address = await service.subscribe(home.relay, 'cleo');
    await Promise.all([dieAfterAnswer(), notify(home.relay, 'cleo')]);
    await home.passTwoMinutes();
    await home.startNext();
    expect(await resultOf('cleo', address, 'accepted')).toEqual({ taken: 2, maybeDuplicate: true, state: 'accepted' });
  }, 180_000);

  it('twice in a row after the 201: it arrives twice but not a third time, and its outcome is unknown', async () => {
    const address = await service.subscribe(home.relay, 'dora');
    await Promise.all([dieAfterAnswer(), notify(home.relay, 'dora')]);
    await home.passTwoMinutes();
    // Lets the next process start before it dies.
    service.refuse();
    await home.startNext();
    await dieAfterAnswer();
    await home.passTwoMinutes();
    await home.startNext();
    expect(await resultOf('dora', address, 'unknown')).toEqual({ taken: 2, maybeDuplicate: true, state: 'unknown' });
  }, 240_000);

  it('and no log has an address or a key', () => {
    expect(home.written()).toMatch(/"kind":"webpush"/);
    for (const secret of service.secrets) expect(home.written()).not.toContain(secret);
  });
}

describe('kill -9 of the single process in the middle of a delivery', () => promises(openSingle));

describeWith(['postgresql', 'redis-server'], 'kill -9 of an api in the middle of a delivery', () => promises(openPair));
