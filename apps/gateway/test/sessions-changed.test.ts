/** Many changes in one report are one frame for clients that understand it (F16). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { idOf, sessionIn } from './conversation.ts';

describe('sessions_changed', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let modern: TestApp;
  let plain: TestApp;

  /** Six parts: only the whole report counts. */
  const entries = 300;
  /** `changed` of its sessions, spread over all parts, have this title. */
  const report = (title: string, changed: number) => {
    const sessions = Array.from({ length: entries }, (_, n) => ({
      session_id: `s${n}`,
      title: n % 6 === 0 && n / 6 < changed ? title : 'as it was',
      last_activity: new Date(Date.UTC(2026, 0, 1) - n * 1000).toISOString(),
    }));
    daemon.send({ type: 'report_sessions', sessions });
  };
  /** A later frame of another session, after all effects of a report. */
  const settled = async (marker: string) => {
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: marker, title: marker }] });
    for (const app of [modern, plain])
      await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, marker));
  };

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    modern = await connectApp(relay, { since: '' });
    plain = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('F16: new sessions in one report are one frame for clients with `since`, and session_updates for the others', async () => {
    report('', 0);
    await settled('after the first');
    const told = modern.inbox.all.filter(({ type }) => type !== 'device_status');
    expect(told).toEqual([
      { type: 'sessions_changed', count: entries, offset: expect.any(String) },
      expect.objectContaining({ type: 'session_update' }),
    ]);
    expect(plain.inbox.count('session_update')).toBe(entries + 1);
    expect(plain.inbox.count('sessions_changed')).toBe(0);
  });

  it('F16: counts the changes of the whole report, across its parts', async () => {
    const before = modern.inbox.count('session_update');
    report('fifty', 50);
    expect(await modern.next('sessions_changed', ({ count }) => count !== entries)).toMatchObject({ count: 50 });
    await settled('after fifty');
    expect(modern.inbox.count('session_update')).toBe(before + 1);
    const listed = await relay.call('listSessions', { query: { limit: 100 } });
    const { sessions } = listed.body as { sessions: { title: string }[] };
    expect(sessions.filter(({ title }) => title === 'fifty').length).toBeGreaterThan(0);
  });

  it('F16: below fifty, every app gets a session_update each', async () => {
    const [updates, frames] = [modern.inbox.count('session_update'), modern.inbox.count('sessions_changed')];
    daemon.send({
      type: 'report_sessions',
      sessions: Array.from({ length: 49 }, (_, n) => ({ session_id: `s${n * 6}`, title: 'forty-nine' })),
    });
    await settled('after forty-nine');
    expect(modern.inbox.count('sessions_changed')).toBe(frames);
    expect(modern.inbox.count('session_update')).toBe(updates + 49 + 1);
  });
});
