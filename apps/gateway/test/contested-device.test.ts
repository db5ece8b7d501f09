import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { closeCodes } from '@relay/protocol';
import type { DueNotification } from '@relay/database';
import {
  type Registration,
  type TestDaemon,
  type TestRelay,
  UpgradeRefused,
  connectDaemon,
  registerDevice,
  startRelay,
} from '@relay/testing';

describe('a device that two daemons take from each other', () => {
  let relay: TestRelay;
  let registration: Registration;
  const sent: DueNotification[] = [];

  beforeAll(async () => {
    relay = await startRelay({
      gateways: 2,
      config: { trustProxy: 1 },
      transports: [
        {
          name: 'test',
          send: (notification) => {
            sent.push(notification);
            return Promise.resolve();
          },
        },
      ],
    });
  });
  beforeEach(async () => {
    registration = await registerDevice(relay);
  });
  afterAll(() => relay.stop());

  const noted = async () => {
    const { body } = await relay.call('listConnections', { params: { id: registration.deviceId } });
    return body.connections as { closeCode?: number }[];
  };
  /**
   * Daemons come back after a second at the earliest: by this time the gateway has recorded the previous connection.
   */
  const connect = async (headers: Record<string, string> = {}, gateway = 0) => {
    const before = (await noted()).length;
    const daemon = await connectDaemon(relay, { registration, gateway, headers });
    await until('the connection', async () => ((await noted()).length > before ? true : undefined));
    return daemon;
  };
  /** Two machines, each at a gateway of its own. */
  const machines = [
    (more: Record<string, string> = {}) => connect({ 'X-Forwarded-For': '192.0.2.1', ...more }, 0),
    (more: Record<string, string> = {}) => connect({ 'X-Forwarded-For': '192.0.2.2', ...more }, 1),
  ] as const;
  const until = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => {
    const deadline = performance.now() + 20_000;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > deadline) throw new Error(`not within 20 s: ${what}`);
      // Not a microtask, which would starve the awaited work.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const device = async () => {
    const { body } = await relay.call('listDevices');
    return (body.devices as { id: string; conflict: unknown }[]).find(({ id }) => id === registration.deviceId)!;
  };
  const conflict = () => until('a conflict', async () => (await device()).conflict ?? undefined);
  /** Connections until the newest, each recorded as closed. */
  const settled = (ended: number) =>
    until(`${ended} ended connections`, async () => {
      const closed = (await noted()).filter(({ closeCode }) => closeCode !== undefined);
      return closed.length >= ended ? true : undefined;
    });

  /** Both come back after each replacement, until the relay refuses one. */
  const quarrel = async (): Promise<TestDaemon> => {
    let owner = await machines[0]();
    for (let turn = 1; turn < 5; turn += 1) {
      const next = await machines[turn % 2]!();
      expect((await owner.closed).code).toBe(closeCodes.replaced.code);
      owner = next;
    }
    await conflict();
    return owner;
  };

  const refusal = (come: () => Promise<TestDaemon>) =>
    until('a refusal', () =>
      come().then(
        () => undefined,
        (error: unknown) => (error instanceof UpgradeRefused ? error : Promise.reject(error as Error)),
      ),
    );

  it('F17: shows the two machines to its owner, once', async () => {
    await quarrel();
    expect(await device()).toMatchObject({
      conflict: {
        machines: [
          { hostname: '', address: expect.stringMatching(/^192\.0\.2\.[12]$/), daemonVersion: '1.0.0' },
          { hostname: '', address: expect.stringMatching(/^192\.0\.2\.[12]$/), daemonVersion: '1.0.0' },
        ],
        since: expect.any(String),
      },
    });
    const { deviceId } = registration;
    const carried = () => sent.filter((one) => one.deviceId === deviceId && one.cause !== 'device_allowed');
    await until('the notification', () => Promise.resolve(carried()[0]));
    expect(carried()).toMatchObject([{ cause: 'device_conflict', deviceId, title: 'laptop' }]);
    // However it goes on: a refused daemon, another replacement.
    await refusal(machines[1]);
    const { body } = await relay.call('listNotifications');
    const listed = body.notifications as { deviceId: string }[];
    expect(listed.filter((one) => one.deviceId === deviceId)).toMatchObject([
      { cause: 'device_conflict', sessionId: '' },
      { cause: 'device_allowed', sessionId: '' },
    ]);
  });

  it('F17: one machine keeps its place and completes its tasks; the other gets a retry time', async () => {
    const owner = await quarrel();
    const created = await relay.call('createSession', { body: { deviceId: registration.deviceId, message: 'go' } });
    await owner.next('task_start');
    const other = await refusal(machines[1]);
    expect(other).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(Number(other.headers['retry-after'])).toBeGreaterThanOrEqual(10);
    const capable = await refusal(() => machines[1]({ 'X-Daemon-Capabilities': 'refusals' }));
    expect(capable).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED', error: expect.stringMatching(/again/) },
    });
    expect(Number(capable.headers['retry-after'])).toBeGreaterThanOrEqual(10);
    owner.event(created.body.taskId, 'TASK_COMPLETE', { session_id: 'native', result: 'done' });
    const ended = await until('the end of the task', async () => {
      const { body } = await relay.call('readTask', { params: { id: created.body.taskId } });
      return body.state === 'completed' ? (body as { result: string }) : undefined;
    });
    expect(ended).toMatchObject({ result: 'done' });
  });

  it('F17: admits the other machine immediately when the owner has left', async () => {
    const owner = await quarrel();
    await refusal(machines[1]);
    await owner.close();
    const other = await machines[1]();
    const created = await relay.call('createSession', { body: { deviceId: registration.deviceId, message: 'go' } });
    const { task_id: taskId } = await other.next('task_start');
    expect(taskId).toBe(created.body.taskId);
  });

  it('F17: disappears after its time', async () => {
    await quarrel();
    await relay.database.sql.execute`
      UPDATE devices SET conflict = jsonb_set(conflict, '{until}', to_jsonb(now() - interval '1 second'))
      WHERE id = ${registration.deviceId}`;
    expect((await device()).conflict).toBeNull();
  });

  it('F17: notices two indistinguishable machines when they continue', async () => {
    let owner = await connect();
    const found = await until('a conflict', async () => {
      const next = await connect().catch(() => undefined);
      if (next) {
        await owner.closed;
        owner = next;
      }
      return (await device()).conflict ?? undefined;
    });
    expect(found).toMatchObject({ machines: [{ daemonVersion: '1.0.0' }] });
  });

  it('F17: does not take a daemon that is restarted again and again for two', async () => {
    for (let restart = 0; restart < 8; restart += 1) {
      const daemon = await machines[restart % 2]!();
      await (restart % 4 < 2 ? daemon.close() : daemon.drop());
    }
    await settled(8);
    expect(await device()).toMatchObject({ conflict: null });
    await machines[0]();
  });

  it('F17: does not take updates that overlap with the version before for two machines', async () => {
    for (let update = 0; update < 8; update += 1) await connect({ 'X-Daemon-Version': `1.${update}.0` }, update % 2);
    await settled(7);
    expect(await device()).toMatchObject({ conflict: null });
    await connect({ 'X-Daemon-Version': '1.9.0' });
  });

  it('F17: does not take one machine whose network changes and breaks for two', async () => {
    const stuck: TestDaemon[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const daemon = await machines[turn % 2]!();
      // Nothing gets through, and it reconnects over its other network.
      daemon.socket.pause();
      stuck.push(daemon);
    }
    const last = await machines[0]();
    for (const { socket } of stuck) socket.terminate();
    await settled(8);
    expect(await device()).toMatchObject({ conflict: null });
    expect(last.socket.readyState).toBe(last.socket.OPEN);
    await machines[1]();
  });

  // The last one: its gateways do not come back.
  it('F17: does not take a daemon that is sent from gateway to gateway for two', async () => {
    let daemon = await machines[0]();
    for (let turn = 1; turn < 3; turn += 1) {
      const leaving = relay.gateways[turn - 1]!.gateway.drain(0);
      expect((await daemon.closed).code).toBe(closeCodes.goingAway.code);
      await leaving;
      if (turn === 1) daemon = await machines[1]();
    }
    await settled(2);
    expect(await device()).toMatchObject({ conflict: null });
  });
});
