import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type TestDaemon, connectDaemon, startCluster } from '@relay/testing';
import { loadTimes } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { lasting, until } from './until.ts';

/** Promise: no gateway writes a command after its deadline, or under an old fence (rules, 15.13). */
describe('a late command', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    const env = {
      ...loadTimes,
      TEST_LEASE_TTL_MS: '20000',
      TEST_LEASE_REFRESH_MS: '1000',
      TEST_SILENCE_TIMEOUT_MS: '30000',
    };
    cluster = await startCluster({ apis: 1, gateways: 2, env: { ...env, TEST_DAEMON_REPLY_TIMEOUT_MS: '2000' } });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  /** A daemon with a named session. */
  const withSession = async (gateway: number) => {
    const daemon = await connectDaemon(cluster, { gateway });
    const { body } = await cluster.call('POST', '/api/sessions', {
      body: { deviceId: daemon.deviceId, message: 'first' },
    });
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: `named-${gateway}`, result: 'done' });
    await until(
      'the session has its name',
      async () => (await truth.task(body.taskId as string))?.state === 'completed',
    );
    return { daemon, session: `${daemon.deviceId}:scripted:named-${gateway}` };
  };
  /**
   * Repeats a request while the answer is 503: an instance that was stopped within a transaction holds the row of its
   * device until PostgreSQL aborts that transaction.
   */
  const insist = async <A extends { status: number }>(ask: () => Promise<A>): Promise<A> => {
    let answer: A | undefined;
    await until('there is another answer than 503', async () => (answer = await ask()).status !== 503);
    return answer!;
  };
  const say = async (session: string, content: string): Promise<string> => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const message = { params: { id: session }, headers, body: { content } };
    const { status, body } = await insist(() => cluster.call('sendMessage', message));
    expect({ status, ...body }).toMatchObject({ status: 202 });
    return String(body.taskId);
  };
  /**
   * Connects the device, and repeats that like a daemon whenever it is refused: a gateway that was just stopped might
   * have lost its connection to Redis. Resolves after the connection has opened.
   */
  const comeBack = async ({ registration, deviceId }: TestDaemon, gateway: number): Promise<TestDaemon> => {
    const before = (await truth.device(deviceId))!.fence;
    let daemon: TestDaemon | undefined;
    await until('the new connection has begun', async () => {
      if (!daemon) {
        const one = (daemon = await connectDaemon(cluster, { registration, gateway }));
        void one.closed.then(() => (daemon = undefined));
      }
      return (await truth.device(deviceId))!.fence > before;
    });
    return daemon!;
  };
  const cancel = (session: string) => insist(() => cluster.call('cancelSession', { params: { id: session } }));
  const history = (session: string, before: string) =>
    cluster.call('GET', `/api/sessions/${encodeURIComponent(session)}/messages?before=${before}`);
  const answer = async (daemon: TestDaemon, before: string) => {
    const question = await daemon.next('get_messages', (frame) => frame.before_uuid === before);
    daemon.send({ type: 'messages', request_id: question.request_id, messages: [], has_more: false });
  };
  /** Sends a later request: once it has arrived, no earlier one can arrive. */
  const asksAgain = async (daemon: TestDaemon, session: string, before: string) => {
    await until('a later question is answered', async () => {
      const asked = history(session, before);
      void answer(daemon, before).catch(() => undefined);
      return (await asked).status === 200;
    });
  };
  const wasAsked = (daemon: TestDaemon, before: string) =>
    daemon.inbox.count('get_messages', (frame) => frame.before_uuid === before);

  it('is not written after Redis was frozen for five seconds', async () => {
    const { daemon, session } = await withSession(0);
    cluster.redis.pause();
    const late = await history(session, 'frozen');
    expect(late).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    // Redis stays frozen for the rest of the five seconds, and refuses each request.
    const frozenUntil = performance.now() + 5000;
    while (performance.now() < frozenUntil) expect((await history(session, 'frozen')).status).toBe(503);
    cluster.redis.resume();
    await asksAgain(daemon, session, 'thawed');
    expect(wasAsked(daemon, 'frozen')).toBe(0);
    await daemon.close();
  }, 120_000);

  it('is not written after its gateway was stuck', async () => {
    const { daemon, session } = await withSession(1);
    cluster.gateways[1]!.pause();
    expect(await history(session, 'stuck')).toMatchObject({ status: 504, body: { code: 'DEVICE_TIMEOUT' } });
    cluster.gateways[1]!.resume();
    await asksAgain(daemon, session, 'unstuck');
    expect(wasAsked(daemon, 'stuck')).toBe(0);
    await daemon.close();
  }, 120_000);

  it('to cancel or to watch reaches the daemon even after its gateway was stuck', async () => {
    const { daemon, session } = await withSession(1);
    const taskId = await say(session, 'something long');
    await daemon.next('task_resume', (frame) => frame.task_id === taskId);
    cluster.gateways[1]!.pause();
    const cancelled = await cancel(session);
    expect(cancelled).toMatchObject({ status: 202, body: { taskId } });
    await insist(() => cluster.call('watch', { body: { sessionId: session } }));
    // Longer than the deadline of a command.
    await lasting(3000);
    cluster.gateways[1]!.resume();
    expect(await daemon.next('task_cancel', undefined, 60_000)).toMatchObject({ task_id: taskId });
    await daemon.next('watch_session', (frame) => frame.session_id === 'named-1', 60_000);
    await daemon.close();
  }, 120_000);

  it('for a replaced connection is not written to it', async () => {
    const { daemon: old, session } = await withSession(0);
    const { deviceId } = old;
    cluster.gateways[0]!.pause();
    // The gateway of the old connection has this request when the device reconnects elsewhere.
    const early = history(session, 'early');
    const daemon = await comeBack(old, 1);
    const taskId = await say(session, 'to the new one');
    expect(await daemon.next('task_resume')).toMatchObject({ task_id: taskId });
    const cancelled = await cancel(session);
    expect(cancelled.status).toBe(202);
    await daemon.next('task_cancel');
    expect([503, 504]).toContain((await early).status);
    cluster.gateways[0]!.resume();
    expect((await old.closed).code).toBe(4409);
    await asksAgain(daemon, session, 'after all');
    expect(old.inbox.count('task_resume') + old.inbox.count('task_cancel')).toBe(0);
    expect(wasAsked(old, 'early')).toBe(0);
    expect((await truth.device(deviceId))!.status).toBe('online');
    await daemon.close();
  }, 120_000);
});
