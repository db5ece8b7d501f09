import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPublisher } from '@relay/attention';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { begin, idOf, idleSession, messageIn, run, say, sessionIn, tick, until } from './conversation.ts';

type Path = 'task' | 'transcript' | 'activity';

describe('one message on all paths', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let count = 0;

  /** The messages of a session, under any of its ids. */
  const said = async (...ids: string[]) => {
    await tick(daemon, app);
    return app.inbox.all
      .filter((frame) => frame.type === 'new_message' && ids.includes(frame.sessionId as string))
      .map((frame) => messageIn(frame));
  };
  const contents = async (...ids: string[]) => (await said(...ids)).map(({ content }) => content);
  const transcript = (eventType: string, nativeId: string, content: string, fields: Record<string, unknown> = {}) =>
    daemon.event('', eventType, { session_id: nativeId, content, ...fields });
  const fresh = () => `dedupe-${(count += 1)}`;

  beforeAll(async () => {
    relay = await startRelay();
    daemon = await connectDaemon(relay);
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  const paths: Path[] = ['task', 'transcript', 'activity'];
  const orders = paths.flatMap((first) => paths.filter((then) => then !== first).map((then) => [first, then] as const));

  it.each(orders)('of the agent: on the %s path, then on the %s path', async (...order) => {
    const native = fresh();
    const { taskId, id } = await run(relay, daemon, app, native);
    const ways: Record<Path, () => void> = {
      task: () => daemon.event(taskId, 'TASK_COMPLETE', { result: 'the answer' }),
      transcript: () => transcript('AGENT_RESPONSE', native, 'the answer', { uuid: `${native}-u` }),
      activity: () =>
        daemon.send({ type: 'session_activity', session_id: native, last_message: 'the answer', is_completion: true }),
    };
    for (const way of order) ways[way]();
    // A turn of the relay publishes its own texts: until then the activity path is silent.
    const heard = order.includes('task') || order.includes('transcript') ? ['the answer'] : [];
    expect((await contents(id)).filter((content) => content === 'the answer')).toEqual(heard);
  });

  it('of the agent started locally: on the activity path and in the transcript', async () => {
    for (const activityFirst of [true, false]) {
      const native = fresh();
      daemon.send({ type: 'report_sessions', sessions: [{ session_id: native }] });
      const activity = () =>
        daemon.send({
          type: 'session_activity',
          session_id: native,
          last_message: 'from the desk',
          is_completion: true,
        });
      if (activityFirst) activity();
      transcript('AGENT_RESPONSE', native, 'from the desk', { uuid: `${native}-u` });
      if (!activityFirst) activity();
      expect(await contents(idOf(daemon, native))).toEqual(['from the desk']);
    }
  });

  it('of the user: a text sent by REST does not return through the transcript', async () => {
    const native = fresh();
    const id = await idleSession(relay, daemon, app, native);
    const taskId = await say(relay, id, 'from the phone');
    await daemon.next('task_resume', (frame) => frame.task_id === taskId);
    daemon.event(taskId, 'USER_MESSAGE', { session_id: native, uuid: `${native}-u`, content: 'from the phone' });
    transcript('USER_MESSAGE', native, 'from the phone');
    expect((await contents(id)).filter((content) => content === 'from the phone')).toHaveLength(1);
  });

  it('of the user: the first message of a session does not come back under its new id', async () => {
    const native = fresh();
    const { taskId, pendingId } = await begin(relay, daemon, { message: 'the very first' });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: native });
    transcript('USER_MESSAGE', native, 'the very first', { uuid: `${native}-u` });
    expect(await contents(pendingId, idOf(daemon, native))).toEqual(['the very first']);
  });

  it('of the user: after a repetition over REST, its window starts again', async () => {
    const native = fresh();
    const id = await idleSession(relay, daemon, app, native);
    const { backplane } = relay.apis[0]!;
    const session = await relay.database.models.session.findFirstOrThrow({ where: { nativeId: native } });
    // The same text was sent before, and its window is nearly over.
    const before = createPublisher({
      channel: backplane,
      windowMs: 1_000,
      readSessions: () => Promise.resolve([]),
      onError: (error) => {
        throw error;
      },
    });
    await before.markPublished(session.ownerId, session.key, { role: 'USER', content: 'yes' });
    await backplane.mark('the clock', [native], 1_000);
    const taskId = await say(relay, id, 'yes');
    await daemon.next('task_resume', (frame) => frame.task_id === taskId);
    await until(() => backplane.once('the clock', [native], 60_000));
    daemon.event(taskId, 'USER_MESSAGE', { session_id: native, uuid: `${native}-u`, content: 'yes' });
    expect((await contents(id)).filter((content) => content === 'yes')).toHaveLength(1);
  });

  it('is not mistaken for another: other text, other role, other session', async () => {
    const [one, two] = [fresh(), fresh()];
    transcript('AGENT_RESPONSE', one, 'ok');
    transcript('USER_MESSAGE', one, 'ok');
    transcript('AGENT_RESPONSE', one, 'ok.');
    transcript('AGENT_RESPONSE', two, 'ok');
    expect((await said(idOf(daemon, one))).map(({ role, content }) => `${role} ${content}`)).toEqual([
      'AGENT ok',
      'USER ok',
      'AGENT ok.',
    ]);
    expect(await contents(idOf(daemon, two))).toEqual(['ok']);
  });

  it('has the uuid that was seen first', async () => {
    const native = fresh();
    transcript('AGENT_RESPONSE', native, 'once', { uuid: `${native}-first` });
    transcript('AGENT_RESPONSE', native, 'in other words', { uuid: `${native}-first` });
    // Two uuids are two messages.
    transcript('AGENT_RESPONSE', native, 'once', { uuid: `${native}-second` });
    expect((await said(idOf(daemon, native))).map(({ uuid, content }) => [uuid, content])).toEqual([
      [`${native}-first`, 'once'],
      [`${native}-second`, 'once'],
    ]);
  });

  it('of the user is known by user_message_uuid, in either order', async () => {
    const native = fresh();
    const { taskId, id } = await run(relay, daemon, app, native);
    // The daemon names the relay's message, then shows it with a different text.
    daemon.event(taskId, 'PROGRESS', { action: 'x', user_message_uuid: `${native}-1` });
    daemon.event(taskId, 'USER_MESSAGE', { session_id: native, uuid: `${native}-1`, content: '/command expanded' });
    daemon.event(taskId, 'USER_MESSAGE', {
      session_id: native,
      user_message_uuid: `${native}-1`,
      content: '/command again',
    });
    // Typed locally: shown, and not again when a later event names it.
    daemon.event(taskId, 'USER_MESSAGE', {
      session_id: native,
      uuid: `${native}-2`,
      user_message_uuid: `${native}-2`,
      content: 'typed',
    });
    daemon.event(taskId, 'USER_MESSAGE', {
      session_id: native,
      user_message_uuid: `${native}-2`,
      content: 'typed, expanded',
    });
    expect(await contents(id)).toEqual(['typed']);
  });

  it('of the agent is not swallowed by the message that it answers', async () => {
    const native = fresh();
    const { taskId, id } = await run(relay, daemon, app, native);
    const answers = { session_id: native, user_message_uuid: `${native}-q` };
    daemon.event(taskId, 'USER_MESSAGE', { session_id: native, uuid: `${native}-q`, content: 'a question' });
    daemon.event(taskId, 'AGENT_RESPONSE', { ...answers, uuid: `${native}-1`, content: 'first part' });
    daemon.event(taskId, 'AGENT_RESPONSE', { ...answers, uuid: `${native}-2`, content: 'second part' });
    daemon.event(taskId, 'TASK_COMPLETE', { ...answers, result: 'the end' });
    expect(await contents(id)).toEqual(['a question', 'first part', 'second part', 'the end']);
  });

  it('stays one through a merge of its session', async () => {
    const native = fresh();
    const { taskId, pendingId } = await begin(relay, daemon, { message: 'to be merged' });
    // The daemon finds the session on its disk before it names it.
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: native }] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: native });
    transcript('USER_MESSAGE', native, 'to be merged', { uuid: `${native}-u` });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'merged' });
    transcript('AGENT_RESPONSE', native, 'merged');
    expect(await contents(pendingId, idOf(daemon, native))).toEqual(['to be merged', 'merged']);
  });

  it('stays one through a rename of its session', async () => {
    const native = fresh();
    const { taskId, id } = await run(relay, daemon, app, native);
    daemon.event(taskId, 'AGENT_RESPONSE', { uuid: `${native}-u`, session_id: native, content: 'before the rename' });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: `${native}-renamed` });
    transcript('AGENT_RESPONSE', `${native}-renamed`, 'before the rename', { uuid: `${native}-u` });
    expect(await contents(id, idOf(daemon, `${native}-renamed`))).toEqual(['before the rename']);
  });

  it('comes from one instance when a device moves between them', async () => {
    const two = await startRelay({ gateways: 2 });
    try {
      const watcher = await connectApp(two);
      const older = await connectDaemon(two);
      const { taskId, id } = await run(two, older, watcher, 'moved');
      older.event(taskId, 'AGENT_RESPONSE', { session_id: 'moved', uuid: 'm1', content: 'said' });
      await tick(older, watcher);
      const hello = [{ type: 'status', running_tasks: [taskId] }];
      const newer = await connectDaemon(two, { registration: older.registration, gateway: 1, hello });
      newer.event(taskId, 'AGENT_RESPONSE', { session_id: 'moved', uuid: 'm1', content: 'said' });
      newer.event(taskId, 'TASK_COMPLETE', { result: 'said' });
      await tick(newer, watcher);
      expect(watcher.inbox.count('new_message', (frame) => frame.sessionId === id)).toBe(1);
    } finally {
      await two.stop();
    }
  });

  it('can repeat after its window', async () => {
    const short = await startRelay({ config: { dedupeWindowMs: 1, daemonReplyTimeoutMs: 200 } });
    try {
      const watcher = await connectApp(short);
      const desk = await connectDaemon(short);
      for (let time = 0; time < 2; time += 1) {
        desk.event('', 'AGENT_RESPONSE', { session_id: 'again', content: 'ok' });
        await tick(desk, watcher);
      }
      expect(watcher.inbox.count('new_message')).toBe(2);
      // A completion of the desk within the window of a task is the task's; after it, one of its own.
      const { taskId, id } = await run(short, desk, watcher, 'later');
      desk.event(taskId, 'TASK_COMPLETE', { result: 'relayed' });
      await watcher.next('session_update', (frame) => sessionIn(frame).id === id && sessionIn(frame).status === 'idle');
      await tick(desk, watcher);
      desk.send({ type: 'session_activity', session_id: 'later', last_message: 'at the desk', is_completion: true });
      await watcher.next(
        'new_message',
        (frame) => frame.sessionId === id && messageIn(frame).content === 'at the desk',
      );
      expect(
        (await short.call('readSession', { params: { id }, query: { limit: 1 } }).catch(() => ({ status: 0 }))).status,
      ).toBe(200);
    } finally {
      await short.stop();
    }
  });
});
