/** A too long, too numerous or absurd value in a report costs itself, never the report (S2, S3, S12). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';
import { counted, idOf, messageIn, readSession, sessionIn, until } from './conversation.ts';

const countOf = async (relay: TestRelay, deviceId: string) => {
  const [row] = await relay.database.sql.query<{ count: number }>`
    SELECT count(*)::int AS count FROM sessions WHERE device_id = ${deviceId}`;
  return row!.count;
};

describe('the bounds of a report', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const report = (...sessions: Record<string, unknown>[]) => daemon.send({ type: 'report_sessions', sessions });
  const updateOf = async (nativeId: string) =>
    sessionIn(await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, nativeId)));

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it.each(['-000001-01-01T00:00:00Z', '+275760-09-13T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T00:00:00Z'])(
    'S12: the time %s counts as unknown, and the report as said',
    async (absurd) => {
      const [odd, good] = [`odd ${absurd}`, `good ${absurd}`];
      report(
        { session_id: odd, last_activity: absurd, title: 'odd' },
        { session_id: good, last_activity: '2026-01-01T00:00:00Z' },
      );
      expect(await updateOf(good)).toMatchObject({ updatedAt: '2026-01-01T00:00:00.000Z' });
      const { updatedAt, title } = (await readSession(relay, idOf(daemon, odd)))!;
      expect(title).toBe('odd');
      expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse('2026-01-02'));
    },
  );

  it('S2: ignores a path that is too long, and keeps a known one', async () => {
    report({ session_id: 'paths', project: '/home/alice', file_path: '/home/alice/a' });
    await updateOf('paths');
    report({ session_id: 'paths', project: `/${'x'.repeat(2 ** 20)}`, file_path: 'y'.repeat(2 ** 20), title: 'new' });
    expect(await updateOf('paths')).toMatchObject({ title: 'new', projectPath: '/home/alice' });
  });

  it('S3: lets the requests of others in while it is written down', async () => {
    const [large, other] = [await connectDaemon(relay, { user: 'carol' }), await connectDaemon(relay, { user: 'bob' })];
    const [carol, bob] = [await connectApp(relay, { user: 'carol' }), await connectApp(relay, { user: 'bob' })];
    const entries = 3000;
    const sessions = Array.from({ length: entries }, (_, n) => ({ session_id: `s${n}`, title: `session ${n}` }));
    large.send({ type: 'report_sessions', sessions });
    await carol.next('session_update');
    other.send({ type: 'report_sessions', sessions: [{ session_id: 'small', title: 'of bob' }] });
    await bob.next('session_update', (frame) => sessionIn(frame).title === 'of bob');
    const listed = await relay.call('listSessions', { user: 'bob' });
    expect(listed.status).toBe(200);
    expect(await countOf(relay, large.deviceId)).toBeLessThan(entries);
    await carol.next('session_update', (frame) => sessionIn(frame).title === `session ${entries - 1}`, 60_000);
    expect(await countOf(relay, large.deviceId)).toBe(entries);
  }, 120_000);
});

describe('a device with a limit of 150 sessions', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  /** The count before the test. */
  let leftOut: number;
  const ignored = (cause: string) => counted(relay, 'relay_daemon_frames_ignored_total', { cause });

  beforeAll(async () => {
    relay = await startRelay({ config: { sessionsPerDevice: 150 } });
  });
  beforeEach(async () => {
    leftOut = await ignored('sessions of a device');
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('S3: creates sessions up to the limit of a device, newest first, and keeps updating those', async () => {
    const sessions = (title: string) =>
      Array.from({ length: 300 }, (_, n) => ({
        session_id: `s${n}`,
        title,
        last_activity: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
      }));
    const isOf = (title: string, nativeId: string) => (frame: Frame) =>
      sessionIn(frame).title === title && sessionIn(frame).id === idOf(daemon, nativeId);
    daemon.send({ type: 'report_sessions', sessions: sessions('first') });
    await app.next('session_update', isOf('first', 's150'));
    daemon.send({ type: 'report_sessions', sessions: sessions('second') });
    await app.next('session_update', isOf('second', 's150'));
    expect(await countOf(relay, daemon.deviceId)).toBe(150);
    expect(await readSession(relay, idOf(daemon, 's149'))).toBeUndefined();
    await until(async () => (await ignored('sessions of a device')) === leftOut + 300);

    const refused = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'one more' } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'TOO_MANY_SESSIONS' } });
    await relay.call('deleteSession', { params: { id: idOf(daemon, 's299') } });
    const accepted = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'one more' } });
    expect(accepted.status).toBe(201);
  });

  it('S3: makes known no more sessions by events either', async () => {
    for (let n = 0; n < 200; n += 1)
      daemon.send({ type: 'event', event_type: 'AGENT_RESPONSE', session_id: `s${n}`, content: 'hello' });
    // A session that is known goes on.
    daemon.send({ type: 'event', event_type: 'AGENT_RESPONSE', session_id: 's0', content: 'the last' });
    await app.next('new_message', (frame) => messageIn(frame).content === 'the last');
    expect(await countOf(relay, daemon.deviceId)).toBe(150);
    expect([await ignored('sessions of a device'), await ignored('unknown session')]).toEqual([leftOut + 50, 0]);
  });
});
