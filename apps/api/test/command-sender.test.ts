import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { BackplaneError } from '@relay/backplane';
import { createLogger } from '@relay/telemetry';
import { type TestDaemon, type TestRelay, connectDaemon, startRelay } from '@relay/testing';
import { createCommandSender } from '../src/command-sender.ts';
import { until } from './until.ts';

describe('K13: a command that could not be delivered while the backplane was down', () => {
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
    await until('it failed again', () => failed >= before + times);
  };
  const unavailable = () => Promise.reject(new BackplaneError('UNAVAILABLE', 'Redis is not connected'));
  const unconfirmed = () => Promise.resolve('unknown' as const);

  it.each([
    ['was refused', unavailable],
    ['was not confirmed', unconfirmed],
  ])('is repeated until it is delivered, if it %s', async (_, how) => {
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
    await until('it is cancelled', async () => (await relay.call('cancelSession', { params: { id } })).status === 202);
    await triedAgain;
    still = undefined;
    await daemon.next('task_cancel', (frame) => frame.task_id === taskId);
  });
});

describe('K13: a command that is sent again', () => {
  afterEach(() => void jest.useRealTimers());

  it('is repeated for a minute from then', async () => {
    jest.useFakeTimers();
    let isAway = true;
    const brought: string[] = [];
    const backplane = {
      route: (_device: string, body: string) => {
        if (isAway) return Promise.reject(new BackplaneError('UNAVAILABLE', 'Redis is not connected'));
        brought.push(body);
        return Promise.resolve('sent' as const);
      },
      onRestored: () => undefined,
    };
    const to = { write: () => undefined };
    const logger = createLogger({ level: 'error', name: 'api', instance: 'api', destination: to });
    const sender = createCommandSender(backplane, logger, 1000);
    sender.sendCommand('d', { v: 1, kind: 'wake' });
    await jest.advanceTimersByTimeAsync(50_000);
    sender.sendCommand('d', { v: 1, kind: 'wake' });
    await jest.advanceTimersByTimeAsync(20_000);
    isAway = false;
    await jest.advanceTimersByTimeAsync(2000);
    expect(brought).toHaveLength(1);
    sender.stop();
  });
});
