/** Sessions that daemons report, and the activity of watched ones (specification §2.4, §6.3; rules, chapter 4; field daemons). */
import { randomUUID } from 'node:crypto';
import { type Check, rule, specification } from '../check.ts';
import { must, same } from '../expect.ts';
import { nowText } from '../world.ts';

const entryFields = ['session_id', 'last_message', 'last_activity', 'is_active', 'message_count'];

export const reports: readonly Check[] = [
  specification(
    '§6.3',
    'report_sessions',
    'a session that was started outside the service is discovered, with what the entry says',
    async (world) => {
      const { inbox } = await world.plain();
      const from = inbox.mark();
      const last_activity = nowText();
      const { id } = await world.session({
        last_message: 'All tests pass.',
        last_activity,
        is_active: true,
        message_count: 7,
      });
      const { session } = await inbox.until('session_update', (frame) => frame.session.id === id, { from });
      same(
        [session.lastMessage, session.messageCount, session.status],
        ['All tests pass.', 7, 'active'],
        'lastMessage, messageCount, status',
      );
      const { body } = await world.rest.ok('listSessions', { query: { deviceId: session.deviceId, status: 'active' } });
      must(
        body.sessions.some((listed) => listed.id === id),
        'expected the session among the active ones of GET /api/sessions',
      );
    },
    { also: entryFields.map((field) => `§2.4 Session report entry ${field}`) },
  ),
  rule('4.2', 'a report sends one session_update per changed session; absence is not deletion', async (world) => {
    const { inbox } = await world.app();
    const daemon = await world.desk();
    const [first, second] = [await world.session(), await world.session()];
    const from = inbox.mark();
    const entry = (native: string, message_count: number) => ({
      session_id: native,
      last_message: 'changed',
      last_activity: nowText(),
      is_active: false,
      message_count,
    });
    daemon.report([entry(second.native, 3)]);
    daemon.report([]);
    await world.caughtUp(second);
    const updates = inbox.all('session_update', ({ session }) => [first.id, second.id].includes(session.id), from);
    same(
      updates.map(({ session }) => [session.id, session.messageCount]),
      [[second.id, 3]],
      'session_update frames',
    );
    const { status } = await world.rest.ok('readSession', { params: { id: first.id } });
    same(status, 200, 'status of the session that the report left out');
  }),
  rule('4.3', 'title, project and the older spellings id and project_path are used', async (world) => {
    const { inbox } = await world.app();
    const daemon = await world.desk();
    const modern = randomUUID();
    const old = randomUUID();
    const from = inbox.mark();
    const rest = { last_message: 'x', last_activity: nowText(), is_active: false, message_count: 1 };
    daemon.report([
      {
        session_id: modern,
        title: 'Fix the tests',
        slug: 'fix',
        project: '/p/one',
        project_name: 'one',
        file_path: '/f/1',
        ...rest,
      },
      { id: old, project_path: '/p/two', ...rest },
    ]);
    const of = (native: string) =>
      inbox.until('session_update', ({ session }) => session.id.endsWith(`:${native}`), { from });
    const { session } = await of(modern);
    same([session.title, session.projectPath], ['Fix the tests', '/p/one'], 'title and projectPath');
    same((await of(old)).session.projectPath, '/p/two', 'projectPath of the older spelling');
  }),
  rule(
    '1.7',
    'a report entry with an id that begins with PENDING-, that is too long or wrong is left out; the others count',
    async (world) => {
      const { inbox } = await world.app();
      const daemon = await world.desk();
      const from = inbox.mark();
      const good = randomUUID();
      const rest = { last_message: 'x', last_activity: nowText(), is_active: false, message_count: 1 };
      daemon.report([
        { session_id: 'PENDING-01ARZ3NDEKTSV4RRFFQ69G5FAV', ...rest },
        { session_id: 'x'.repeat(513), ...rest },
        { session_id: 7, ...rest },
        'not an entry',
        { session_id: good, ...rest },
      ] as Record<string, unknown>[]);
      await inbox.until('session_update', ({ session }) => session.id.endsWith(`:${good}`), { from });
      const updates = inbox.all('session_update', ({ session }) => session.deviceId === daemon.device.id, from);
      same(
        updates.map(({ session }) => session.id.split(':').at(-1)),
        [good],
        'sessions of the report',
      );
    },
  ),
  specification(
    '§6.3',
    'session_activity',
    'the app gets session_update with the last message and the count; a count of 0 overwrites nothing',
    async (world) => {
      const { inbox } = await world.plain();
      const daemon = await world.desk();
      const { id, native } = await world.session({ message_count: 3 });
      await world.rest.ok('watch', { body: { sessionId: id } });
      const from = inbox.mark();
      daemon.activity(native, {
        last_message: 'Working on it',
        message_count: 4,
        is_completion: false,
        last_activity: nowText(),
      });
      const { session } = await inbox.until(
        'session_update',
        (frame) => frame.session.id === id && frame.session.messageCount === 4,
        { from },
      );
      same(session.lastMessage, 'Working on it', 'lastMessage');
      daemon.activity(native, {
        last_message: 'Nearly there',
        message_count: 0,
        is_completion: false,
        last_activity: nowText(),
      });
      const next = await inbox.until(
        'session_update',
        (frame) => frame.session.id === id && frame.session.lastMessage === 'Nearly there',
        { from },
      );
      same(next.session.messageCount, 4, 'messageCount after a count of 0');
    },
  ),
  rule('11.4', 'a completion that no task produced is new_message first, then session_update', async (world) => {
    const app = await world.plain();
    const daemon = await world.desk();
    const { id, native } = await world.session({ is_active: true });
    await world.rest.ok('watch', { body: { sessionId: id } });
    const from = app.inbox.mark();
    const last_message = `finished locally ${randomUUID()}`;
    daemon.activity(native, { last_message, message_count: 2, is_completion: true, last_activity: nowText() });
    await app.inbox.until(
      'session_update',
      (frame) => frame.session.id === id && frame.session.lastMessage === last_message,
      { from },
    );
    // The update caused by watching might still have been in flight.
    const frames = app
      .about([id], from)
      .filter(
        (frame) =>
          frame.type === 'new_message' ||
          (frame.type === 'session_update' && frame.session.lastMessage === last_message),
      );
    const [said, updated] = frames;
    same(
      [
        said?.type,
        said?.type === 'new_message' && said.message.role,
        said?.type === 'new_message' && said.message.content,
      ],
      ['new_message', 'AGENT', last_message],
      'the first frame',
    );
    same(updated?.type === 'session_update' && updated.session.status, 'idle', 'status in the second frame');
  }),
  rule(
    '12.3',
    'a completion that arrives twice, as TASK_COMPLETE and as session_activity, is one message',
    async (world) => {
      const app = await world.plain();
      const daemon = await world.desk();
      for (const activityFirst of [false, true]) {
        const session = await world.session();
        await world.rest.ok('watch', { body: { sessionId: session.id } });
        const task = await world.running(session);
        const from = app.inbox.mark();
        const result = `done once ${randomUUID()}`;
        const complete = () => daemon.event(task.id, 'TASK_COMPLETE', { result });
        const activity = () =>
          daemon.activity(session.native, {
            last_message: result,
            message_count: 0,
            is_completion: true,
            last_activity: nowText(),
          });
        for (const tell of activityFirst ? [activity, complete] : [complete, activity]) tell();
        await app.inbox.until(
          'session_update',
          (frame) => frame.session.lastTask?.id === task.id && frame.session.lastTask.state === 'completed',
          { from },
        );
        await world.caughtUp(session);
        const said = app.inbox.all('new_message', ({ message }) => message.content === result, from);
        same(said.length, 1, `messages (${activityFirst ? 'activity' : 'task'} first)`);
      }
    },
  ),
];
