import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, idOf, idleSession, nextStart, readTask, until } from './conversation.ts';

describe('report_slash_commands', () => {
  let relay: TestRelay;
  let app: TestApp;
  let daemon: TestDaemon;

  const read = (id: string, user?: string) =>
    relay.call('listCommands', { params: { id }, ...(user === undefined ? {} : { user }) });
  const commands = async (nativeId: string) => (await read(idOf(daemon, nativeId))).body.commands as unknown;
  /** Frames are handled in order: when a later task has been written, the report has been read. */
  const report = async (fields: Record<string, unknown>) => {
    daemon.send({ type: 'report_slash_commands', ...fields });
    daemon.send({ type: 'status', running_tasks: [] });
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: `after-${(reports += 1)}`, last_message: 'x' }] });
    const marker = idOf(daemon, `after-${reports}`);
    await app.next('session_update', (frame) => (frame.session as { id: string }).id === marker);
  };
  let reports = 0;

  beforeAll(async () => {
    relay = await startRelay();
    app = await connectApp(relay);
    daemon = await connectDaemon(relay);
    await idleSession(relay, daemon, app, 'one');
    await idleSession(relay, daemon, app, 'two');
  });
  afterAll(() => relay.stop());

  it('is an empty list before anything was reported', async () => {
    expect(await read(idOf(daemon, 'one'))).toMatchObject({ status: 200, body: { commands: [] } });
  });

  it('holds for its session', async () => {
    await report({
      session_id: 'one',
      commands: [
        { name: '/compact', description: 'Summarise', input_hint: 'what to keep' },
        'review',
        { name: 'init' },
      ],
    });
    expect(await commands('one')).toEqual([
      { name: 'compact', description: 'Summarise', inputHint: 'what to keep' },
      { name: 'review', description: '' },
      { name: 'init', description: '' },
    ]);
    expect(await commands('two')).toEqual([]);
  });

  it('holds for all sessions of the device without commands of their own, including unnamed ones', async () => {
    await report({ commands: [{ name: 'help', description: null }] });
    expect(await commands('two')).toEqual([{ name: 'help', description: '' }]);
    expect(await commands('one')).toHaveLength(3);
    const { pendingId } = await begin(relay, daemon);
    expect((await read(pendingId)).body.commands).toEqual([{ name: 'help', description: '' }]);
  });

  it('takes the place of the one before, also when it is empty', async () => {
    await report({ session_id: 'one', commands: [] });
    expect(await commands('one')).toEqual([]);
  });

  it('keeps the valid part of a bad set, and nothing of a hopeless one', async () => {
    const many = Array.from({ length: 600 }, (_, index) => `c${index}`);
    await report({
      session_id: 'two',
      commands: [7, null, {}, { name: '' }, { name: 'x'.repeat(200) }, 'fine', 'fine'],
    });
    expect(await commands('two')).toEqual([{ name: 'fine', description: '' }]);
    for (const fields of [
      { commands: 'all' },
      { session_id: 3, commands: [] },
      { session_id: 'PENDING-x', commands: [] },
    ])
      await report({ session_id: 'two', ...fields });
    expect(await commands('two')).toEqual([{ name: 'fine', description: '' }]);
    await report({ session_id: 'two', commands: many });
    expect(await commands('two')).toHaveLength(500);
  });

  it('F13: takes the sets of daemons in the field: by project, each report whole', async () => {
    const other = await connectDaemon(relay);
    const told = async (nativeId: string) => (await read(idOf(other, nativeId))).body.commands as unknown;
    const tell = async (sets: unknown) => {
      other.send({ type: 'report_slash_commands', sets });
      const { taskId } = await nextStart(relay, other);
      other.event(taskId, 'TASK_COMPLETE', { result: 'done', session_id: `marker-${taskId}` });
      // Frames of one daemon are handled in order, so the sets are saved before the completion after them.
      await until(async () => (await readTask(relay, taskId)).state === 'completed');
    };
    other.send({
      type: 'report_sessions',
      sessions: [
        { session_id: 'garden', project: '/home/ada/garden', last_message: 'x' },
        { session_id: 'house', project: '/home/ada/house/', last_message: 'x' },
        { session_id: 'nowhere', last_message: 'x' },
      ],
    });
    await tell([
      { project: '/home/ada/garden', commands: [{ name: 'water', description: 'Waters', usage_hint: '<bed>' }, 'mow'] },
      { project: '/home/ada/house', commands: [{ name: '/clean' }, { name: 7 }] },
      { project: 7, commands: [] },
      'nothing',
      { project: '/none' },
    ]);
    expect(await told('garden')).toEqual([
      { name: 'water', description: 'Waters', inputHint: '<bed>' },
      { name: 'mow', description: '' },
    ]);
    expect(await told('house')).toEqual([{ name: 'clean', description: '' }]);
    expect(await told('nowhere')).toEqual([]);
    await tell([{ project: '/home/ada/house', commands: ['sweep'] }]);
    expect(await told('garden')).toEqual([]);
    expect(await told('house')).toEqual([{ name: 'sweep', description: '' }]);
    await tell([]);
    expect(await told('house')).toEqual([]);
  });

  it('is read by the owner of the session, and by no one else', async () => {
    expect(await read(idOf(daemon, 'two'), 'bob')).toMatchObject({ status: 404, body: { code: 'SESSION_NOT_FOUND' } });
  });

  it('outlives the connection', async () => {
    await daemon.close();
    expect(await commands('two')).toHaveLength(500);
    daemon = await connectDaemon(relay, { registration: daemon.registration });
    await nextStart(relay, daemon);
  });
});
