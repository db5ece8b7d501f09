import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';
import { applyFacts, withDevice } from '@relay/database';
import { wantsPostgres } from '@relay/testing/database';
import { passesReport } from '../src/frames/frame-handler.ts';
import { answerTypes } from '../src/history/questions.ts';
import { reportFacts } from '../src/sessions/translate.ts';
import { counted, end, idOf, messageIn, readSession, run, sessionIn, tick } from './conversation.ts';

describe('report_sessions', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;

  const report = (...sessions: Record<string, unknown>[]) => daemon.send({ type: 'report_sessions', sessions });
  const updateOf = async (nativeId: string) =>
    sessionIn(await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, nativeId)));

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay, { capabilities: ['prompts'] });
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('makes known each session of the device, with one session_update each', async () => {
    report(
      {
        session_id: 'desk:1/a',
        title: 'The report',
        slug: 'ignored',
        project: '/home/alice/work',
        project_name: 'work',
        file_path: '/home/alice/.agent/desk1.jsonl',
        last_message: 'fixed it',
        last_activity: '2026-01-02T03:04:05+01:00',
        is_active: true,
        message_count: 12,
      },
      { session_id: 'desk2' },
    );
    expect(await updateOf('desk:1/a')).toEqual({
      id: idOf(daemon, 'desk:1/a'),
      title: 'The report',
      status: 'active',
      agentType: 'scripted',
      deviceId: daemon.deviceId,
      projectPath: '/home/alice/work',
      createdAt: '2026-01-02T02:04:05.000Z',
      updatedAt: '2026-01-02T02:04:05.000Z',
      messageCount: 12,
      lastMessage: 'fixed it',
      archived: false,
      watched: false,
    });
    expect(await updateOf('desk2')).toMatchObject({ status: 'idle', title: '', lastMessage: '', messageCount: 0 });
    await tick(daemon, app);
    expect(app.inbox.count('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'desk2'))).toBe(1);
  });

  it('ignores a turn whose completion overtakes it during the write', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'ends meanwhile');
    const question = {
      ...{ uuid: '2f4a6c8e-0b1d-4e3f-a5c7-9d8b6f4e2a13', title: 'Really?', kind: 'choice', text: true, digest: '1' },
      options: [{ id: 'opt1', label: 'Yes' }],
    };
    report({ session_id: 'by hand', is_active: true, last_activity: new Date().toISOString() });
    await updateOf('by hand');
    daemon.event('', 'PROMPT_OPEN', { session_id: 'by hand', question });
    await app.next('session_update', (frame) => sessionIn(frame).status === 'waiting');
    // The last of many, which are written in parts. Clocks of daemons can be slightly ahead.
    const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
    const others = Array.from({ length: 300 }, (_, n) => ({ session_id: `other ${n}`, last_activity: inMs(1_900) }));
    const older = { is_active: true, last_message: 'older words', message_count: 2 };
    report(
      ...others,
      { session_id: 'ends meanwhile', last_activity: inMs(1_800), ...older },
      { session_id: 'by hand', last_activity: inMs(1_800), ...older },
    );
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'newer words' });
    daemon.event('', 'PROMPT_CLOSED', { session_id: 'by hand', uuid: question.uuid, state: 'expired', status: 'idle' });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({ status: 'idle', lastMessage: 'newer words' });
    expect(await readSession(relay, idOf(daemon, 'by hand'))).toMatchObject({ status: 'idle' });
  });

  it('understands the older spellings', async () => {
    report({ id: 'older', project_path: '/srv/older' });
    expect(await updateOf('older')).toMatchObject({ projectPath: '/srv/older' });
  });

  it('understands null as absent', async () => {
    const fields = ['last_message', 'last_activity', 'is_active', 'message_count', 'title', 'project', 'file_path'];
    report({ session_id: 'nulls', ...Object.fromEntries(fields.map((field) => [field, null])) });
    expect(await updateOf('nulls')).toMatchObject({ status: 'idle', messageCount: 0 });
  });

  it('without changes costs no frame and no write, even after a reconnect', async () => {
    const same = [{ session_id: 'same', title: 'Same', message_count: 3, last_activity: '2026-01-01T00:00:00Z' }];
    const versions = () =>
      relay.database.sql.query`SELECT key, xmin::text FROM sessions WHERE device_id = ${daemon.deviceId} ORDER BY key`;
    report(...same);
    await updateOf('same');
    const before = await versions();
    report(...same);
    await daemon.close();
    daemon = await connectDaemon(relay, {
      registration: daemon.registration,
      hello: [
        { type: 'status', running_tasks: [] },
        { type: 'report_sessions', sessions: same },
        // Another report with the same content: compared row by row.
        { type: 'report_sessions', sessions: same, sent_at: 'later' },
      ],
    });
    await tick(daemon, app);
    expect(await versions()).toEqual(expect.arrayContaining(before));
    expect(app.inbox.count('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'same'))).toBe(1);
    expect(await counted(relay, 'relay_reports_total', { outcome: 'same' })).toBe(2);
  });

  it('touches only the sessions that changed', async () => {
    report({ session_id: 'one', title: 'One' }, { session_id: 'two', title: 'Two' });
    await updateOf('one');
    await updateOf('two');
    report({ session_id: 'one', title: 'One' }, { session_id: 'two', title: 'Two, renamed' });
    expect(await updateOf('two')).toMatchObject({ title: 'Two, renamed' });
    await tick(daemon, app);
    expect(app.inbox.count('session_update', (frame) => sessionIn(frame).id === idOf(daemon, 'one'))).toBe(1);
  });

  it('does not delete omitted sessions', async () => {
    report({ session_id: 'absent' });
    await updateOf('absent');
    report();
    await tick(daemon, app);
    expect(await readSession(relay, idOf(daemon, 'absent'))).toBeDefined();
  });

  it('overwrites nothing with empty texts and a count of 0', async () => {
    report({ session_id: 'full', title: 'T', project: '/p', last_message: 'm', message_count: 7 });
    await updateOf('full');
    report({ session_id: 'full', title: '', project: '', last_message: '', message_count: 0, is_active: true });
    expect(await updateOf('full')).toMatchObject({
      title: 'T',
      projectPath: '/p',
      lastMessage: 'm',
      messageCount: 7,
      status: 'active',
    });
  });

  it('follows is_active, unless it is missing', async () => {
    report({ session_id: 'busy', is_active: true });
    expect(await updateOf('busy')).toMatchObject({ status: 'active' });
    report({ session_id: 'busy', title: 'still' });
    expect(await updateOf('busy')).toMatchObject({ status: 'active', title: 'still' });
    report({ session_id: 'busy', is_active: false });
    expect(await updateOf('busy')).toMatchObject({ status: 'idle' });
  });

  it('takes the last of several entries for the same session', async () => {
    report({ session_id: 'double', title: 'first' }, { session_id: 'double', title: 'second' });
    expect(await updateOf('double')).toMatchObject({ title: 'second' });
  });

  it('reads times leniently and never believes in the future', async () => {
    const now = Date.now();
    report(
      { session_id: 'future', last_activity: '2999-01-01T00:00:00Z' },
      { session_id: 'garbage', last_activity: 'yesterday' },
    );
    for (const nativeId of ['future', 'garbage']) {
      const { updatedAt } = await updateOf(nativeId);
      expect(Math.abs(Date.parse(updatedAt) - now)).toBeLessThan(60_000);
    }
  });

  it('names a session after its report until the user names it', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'named');
    await end(daemon, app, taskId);
    expect((await readSession(relay, id))?.title).toBe('begin named');
    report({ session_id: 'named', title: 'By the daemon' });
    expect(await updateOf('named')).toMatchObject({ title: 'By the daemon' });
    await relay.call('updateSession', { params: { id }, body: { title: 'By Alice' } });
    report({ session_id: 'named', title: 'By the daemon, again' });
    await tick(daemon, app);
    expect((await readSession(relay, id))?.title).toBe('By Alice');
  });

  it('does not contradict a task that runs, nor a question that waits', async () => {
    const { taskId, id } = await run(relay, daemon, app, 'task');
    report({ session_id: 'task', is_active: false, last_message: 'older', title: 'Titles pass' });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({
      status: 'active',
      lastMessage: 'begin task',
      title: 'Titles pass',
    });
    await end(daemon, app, taskId, 'WAIT_FOR_USER', { prompt: 'May I?' });
    report({ session_id: 'task', is_active: false, last_message: 'newer' });
    await tick(daemon, app);
    expect(await readSession(relay, id)).toMatchObject({ status: 'waiting', prompt: { prompt: 'May I?' } });
  });

  it('brings a deleted session back only when it was active after the deletion', async () => {
    report({ session_id: 'gone', last_activity: '2026-01-01T00:00:00Z' });
    await updateOf('gone');
    expect((await relay.call('deleteSession', { params: { id: idOf(daemon, 'gone') } })).status).toBe(204);
    report({ session_id: 'gone', last_activity: '2026-01-02T00:00:00Z', title: 'not yet' });
    await tick(daemon, app);
    expect(await readSession(relay, idOf(daemon, 'gone'))).toBeUndefined();
    report({ session_id: 'gone', last_activity: new Date(Date.now() + 1000).toISOString(), title: 'now' });
    expect(await updateOf('gone')).toMatchObject({ title: 'now' });
  });

  it('keeps its good entries when others are wrong, and counts those', async () => {
    const dropped = () => counted(relay, 'relay_daemon_frames_ignored_total', { cause: 'report entry' });
    const before = await dropped();
    daemon.send({
      type: 'report_sessions',
      sessions: [
        { session_id: 'PENDING-01J00000000000000000000000' },
        { session_id: 'x'.repeat(513) },
        { session_id: '' },
        { title: 'no id' },
        { session_id: 'wrong', message_count: 'many' },
        { session_id: 'huge', message_count: 2 ** 31 },
        null,
        'text',
        ['list'],
        { session_id: 'x'.repeat(512), title: 'just fits' },
      ],
    });
    expect(await updateOf('x'.repeat(512))).toMatchObject({ title: 'just fits' });
    expect(await dropped()).toBe(before + 9);
    const { body } = await relay.call('listSessions', { query: { limit: 200 } });
    const ids = (body.sessions as { id: string }[]).map(({ id }) => id);
    expect(ids.filter((id) => /PENDING-|wrong|huge/.test(id))).toEqual([]);
  });

  it('is stored also with text that no database can store', async () => {
    report({ session_id: 'hostile', title: 'a\u0000b', last_message: '\ud800 half', project: '/\u0000' });
    expect(await updateOf('hostile')).toMatchObject({ title: 'ab', lastMessage: '\ufffd half' });
  });

  it('affects only its own device', async () => {
    const other = await connectDaemon(relay, { user: 'bob' });
    const bob = await connectApp(relay, { user: 'bob' });
    other.send({ type: 'report_sessions', sessions: [{ session_id: 'one', title: 'Bob' }] });
    await bob.next('session_update', (frame) => sessionIn(frame).id === idOf(other, 'one'));
    expect(await readSession(relay, idOf(daemon, 'one'))).toMatchObject({ title: 'One' });
    expect(app.inbox.count('session_update', (frame) => sessionIn(frame).title === 'Bob')).toBe(0);
  });

  it('can be large', async () => {
    const sessions = Array.from({ length: 1201 }, (_, index) => ({
      session_id: `many-${index}`,
      title: `No. ${index}`,
    }));
    daemon.send({ type: 'report_sessions', sessions });
    expect(await updateOf('many-1200')).toMatchObject({ title: 'No. 1200' });
    await tick(daemon, app);
    const many = (frame: Frame) => sessionIn(frame).id.includes('many-');
    expect(app.inbox.count('session_update', many)).toBe(1201);
  });
});

describe('report_sessions, while it waits to be written', () => {
  it('lets each answer of the daemon pass, and no status', () => {
    const passes = (type: string) => passesReport(JSON.stringify({ type }), '{"type":"report_sessions","sessions":[]}');
    expect(answerTypes.filter((type) => !passes(type))).toEqual([]);
    expect(passes('status')).toBe(false);
  });

  it('lets the texts of a running task pass', async () => {
    // Disable sweeps, after which the relay would read the session again: this database has one connection, which the
    // test holds.
    const relay = await startRelay({ config: { sweepIntervalMs: 600_000 } });
    try {
      const daemon = await connectDaemon(relay);
      const app = await connectApp(relay, { output: true });
      const { taskId } = await run(relay, daemon, app, 'goes on');
      const output = (text: string) => {
        daemon.event(taskId, 'OUTPUT', { output: text });
        return app.next('task_output', (frame) => frame.output === text);
      };
      await output('before');
      const isHeldUp = (frame: Frame) => sessionIn(frame).id === idOf(daemon, 'held up');
      await withDevice(relay.database, daemon.deviceId, async () => {
        daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'held up' }] });
        await output('meanwhile');
        expect(app.inbox.count('session_update', isHeldUp)).toBe(0);
      });
      await app.next('session_update', isHeldUp);
    } finally {
      await relay.stop();
    }
  });

  // The embedded database has one connection, and the event would wait for it before it looks.
  if (wantsPostgres())
    it('loses no text of a session that it creates first', async () => {
      // No sweep, which would wait for the device as well.
      const relay = await startRelay({ config: { sweepIntervalMs: 600_000 } });
      try {
        const daemon = await connectDaemon(relay);
        const app = await connectApp(relay);
        await tick(daemon, app);
        const { database } = relay;
        const waiting = () => database.sql.query<object>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        await withDevice(database, daemon.deviceId, async (tx, device) => {
          daemon.event('', 'USER_MESSAGE', { session_id: 'raced', uuid: 'r1', content: 'first words' });
          // The event has not found its session, and waits for the device.
          while ((await waiting()).length === 0);
          await applyFacts(tx, device!, [reportFacts({ session_id: 'raced' })], { discover: true, clockAheadMs: 0 });
        });
        await app.next('new_message', (frame) => messageIn(frame).content === 'first words');
      } finally {
        await relay.stop();
      }
    });
});
