import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BackplaneError } from '@relay/backplane';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';

describe('K13: a command that could not be brought while the backplane stood still', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  /** The result of a call to `route`; undefined: the backplane itself answers. */
  let still: (() => Promise<'unknown'>) | undefined;
  let failed = 0;

  beforeAll(async () => {
    // No sweep repairs anything.
    relay = await startRelay({ config: { sweepIntervalMs: 600_000 } });
    const { backplane } = relay.apis[0]!;
    const route = backplane.route.bind(backplane);
    backplane.route = (...args) => {
      if (!still) return route(...args);
      failed += 1;
      return still();
    };
    daemon = await connectDaemon(relay);
  });
  afterAll(() => relay.stop());

  const create = async (message: string) => {
    const { status, body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message } });
    expect(status).toBe(201);
    return body as { id: string; taskId: string };
  };
  const untilFailed = async (times: number) => {
    const before = failed;
    while (failed < before + times) await new Promise((resolve) => setImmediate(resolve));
  };
  const unavailable = () => Promise.reject(new BackplaneError('UNAVAILABLE', 'Redis is not connected'));
  const unconfirmed = () => Promise.resolve('unknown' as const);

  it.each([
    ['was refused', unavailable],
    ['was not confirmed', unconfirmed],
  ])('because it %s, is repeated until it can be brought', async (_, how) => {
    still = how;
    const tried = untilFailed(2);
    const { taskId } = await create('waits');
    await tried;
    still = undefined;
    await daemon.next('task_start', (frame) => frame.task_id === taskId);
    daemon.event(taskId, 'SESSION_STARTED', { session_id: taskId });
    still = how;
    const triedAgain = untilFailed(2);
    const id = `${daemon.deviceId}:${daemon.registration.agentType}:${taskId}`;
    while ((await relay.call('cancelSession', { params: { id } })).status !== 202);
    await triedAgain;
    still = undefined;
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
  });
});
