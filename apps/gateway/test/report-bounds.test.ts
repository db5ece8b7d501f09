/** What is too long, too many or absurd in a report costs itself, never the report (S2, S3, S12). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { idOf, readSession, sessionIn } from './conversation.ts';

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

  it('S2: a path that is too long is not known, and one that was known stays', async () => {
    report({ session_id: 'paths', project: '/home/alice', file_path: '/home/alice/a' });
    await updateOf('paths');
    report({ session_id: 'paths', project: `/${'x'.repeat(2 ** 20)}`, file_path: 'y'.repeat(2 ** 20), title: 'new' });
    expect(await updateOf('paths')).toMatchObject({ title: 'new', projectPath: '/home/alice' });
  });
});
