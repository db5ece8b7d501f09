/**
 * The delivery promise (rules, 2.1): accepted once, written to a daemon at most once, in order per session, and the outcome
 * is never guessed. Every frame of the whole run is checked against "no task is written twice".
 */
import { type Check, rule, specification } from '../check.ts';
import type { Daemon } from '../daemon.ts';
import { must, same } from '../expect.ts';
import type { Session, World } from '../world.ts';

/** Two devices take turns: the relay slows down a device that connects more than ten times a minute (rules, 9.12). */
const connected = async (world: World): Promise<Daemon> => world.open(await world.device('delivery'));
const broken = async (world: World): Promise<Daemon> => world.open(await world.device('broken'));

/** A session of a daemon that has disconnected. */
async function left(world: World): Promise<Session> {
  const daemon = await connected(world);
  daemon.status([]);
  const session = await world.session({}, daemon);
  await daemon.close();
  return session;
}

const post = async ({ rest }: World, id: string, body: Record<string, unknown>) =>
  (await rest.ok('sendMessage', { params: { id }, body })).body;

/** Waits until an app gets a frame with this task in this state. */
const heardState = async (world: World, taskId: string, state: string, from = 0) =>
  (await world.app()).inbox.until(
    'session_update',
    ({ session }) => session.lastTask?.id === taskId && session.lastTask.state === state,
    // Before it settles a task as lost or unknown, the relay can request the daemon's history: 10 s to answer, and
    // again 10 s later.
    { from, what: `the task is ${state}`, withinMs: 20_000 },
  );

export const delivery: readonly Check[] = [
  rule('9.2', 'messages for an offline device wait, and are written in order after its first status', async (world) => {
    const session = await left(world);
    const first = await post(world, session.id, { content: 'first' });
    const second = await post(world, session.id, { content: 'second' });
    same([first.state, second.state], ['queued', 'queued'], 'states');
    const openedAtMs = Date.now();
    const daemon = await connected(world);
    let history = await world.rest.ok('readSession', { params: { id: session.id } });
    // Repeat until the relay has made the connection the owner of the device, which can take longer than this request.
    while (history.body.messagesError?.code === 'DEVICE_OFFLINE' && Date.now() - openedAtMs < 1500)
      history = await world.rest.ok('readSession', { params: { id: session.id } });
    same(history.body.messagesError, undefined, 'messagesError: history does not wait for the status');
    await world.session({}, daemon);
    await world.caughtUp(session, daemon);
    // If the status is missing, the relay sends the tasks after 2 s, so only a quick answer proves something.
    const early = daemon.inbox.all('task_resume');
    if (Date.now() - openedAtMs < 1500) same(early, [], 'tasks before the first status');
    daemon.status([]);
    const got = await daemon.inbox.until('task_resume');
    same([got.task_id, got.message], [first.taskId, 'first'], 'the first task after the first status');
    daemon.event(first.taskId, 'TASK_COMPLETE', { result: 'one' });
    await daemon.inbox.until('task_resume', ({ task_id }) => task_id === second.taskId);
    daemon.event(second.taskId, 'TASK_COMPLETE', { result: 'two' });
    await heardState(world, second.taskId, 'completed');
    await daemon.close();
  }),
  rule('9.2', 'a daemon that sends no status gets its tasks after 2 s', async (world) => {
    const session = await left(world);
    const { taskId } = await post(world, session.id, { content: 'no hurry' });
    const daemon = await connected(world);
    await daemon.inbox.until('task_resume', ({ task_id }) => task_id === taskId, { withinMs: 10_000 });
    daemon.event(taskId, 'TASK_COMPLETE', { result: 'done' });
    await heardState(world, taskId, 'completed');
    await daemon.close();
  }),
  rule('2.5', 'a task whose time to live ends while the device is away is expired, and never sent', async (world) => {
    const session = await left(world);
    const { taskId } = await post(world, session.id, { content: 'soon stale', queueTtlSeconds: 1 });
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const { body } = await world.rest.ok('readTask', { params: { id: taskId } });
    same(body.state, 'expired', 'state');
    const read = await world.rest.ok('readSession', { params: { id: session.id } });
    same([read.body.status, read.body.messagesError?.code], ['failed', 'DEVICE_OFFLINE'], 'status and messagesError');
    const daemon = await connected(world);
    daemon.status([]);
    const marker = await world.task(session, 'fresh', daemon);
    same(
      daemon.inbox.all('task_resume').map(({ task_id }) => task_id),
      [marker.id],
      'tasks that were written',
    );
    daemon.event(marker.id, 'TASK_COMPLETE', { result: 'done' });
    await heardState(world, marker.id, 'completed');
    await daemon.close();
  }),
  rule(
    '2.5',
    'queueTtlSeconds 0 does not queue: 503 DEVICE_OFFLINE for a device that is away',
    async ({ rest, device }) => {
      const { id } = await device('never-connected');
      const body = { deviceId: id, message: 'now or never', queueTtlSeconds: 0 };
      await rest.refused('createSession', 'DEVICE_OFFLINE', { body });
    },
  ),
  rule(
    '2.9',
    'a queued task can be cancelled and is then never sent; the session of an only task is idle',
    async (world) => {
      const { rest } = world;
      const from = (await world.app()).inbox.mark();
      const { id: deviceId } = await world.device('delivery');
      const { body } = await rest.ok('createSession', { body: { deviceId, message: 'never mind' } });
      const cancelled = await rest.ok('cancelSession', { params: { id: body.id } });
      same(cancelled.body.taskId, body.taskId, 'taskId');
      const read = await rest.ok('readTask', { params: { id: body.taskId } });
      same(read.body.state, 'cancelled', 'state');
      const update = await heardState(world, body.taskId, 'cancelled', from);
      same(update.session.status, 'idle', 'status of the session');
      const daemon = await connected(world);
      daemon.status([]);
      const session = await world.session({}, daemon);
      const marker = await world.task(session, undefined, daemon);
      same(daemon.inbox.all('task_start'), [], 'tasks that were started');
      daemon.event(marker.id, 'TASK_COMPLETE', { result: 'done' });
      await heardState(world, marker.id, 'completed');
      await daemon.close();
    },
  ),
  rule(
    '3.3',
    'a task that was written but never confirmed is unknown when the first status after a reconnect omits it',
    async (world) => {
      const first = await broken(world);
      first.status([]);
      const session = await world.session({}, first);
      const lost = await world.task(session, 'did you get this?', first);
      await first.drop();
      const second = await broken(world);
      second.status([]);
      const update = await heardState(world, lost.id, 'unknown');
      same(
        [update.session.status, update.session.lastTask?.code],
        ['failed', 'DELIVERY_UNKNOWN'],
        'status of the session and code of its task',
      );
      const again = await world.task(session, 'again', second);
      same(
        second.inbox.all('task_resume').map(({ task_id }) => task_id),
        [again.id],
        'tasks written after the reconnect',
      );
      second.event(again.id, 'TASK_COMPLETE', { result: 'done' });
      await heardState(world, again.id, 'completed');
      await second.close();
    },
  ),
  specification(
    '§6.4',
    'point 4 status and report again',
    'a task that the first status after a reconnect lists goes on, and its result counts',
    async (world) => {
      const first = await broken(world);
      first.status([]);
      const session = await world.session({}, first);
      const task = await world.running(session, 'a long one', first);
      const { inbox } = await world.app();
      const from = inbox.mark();
      await first.drop();
      const second = await broken(world);
      second.status([task.id]);
      second.report([{ session_id: session.native, last_message: 'still here', is_active: true, message_count: 3 }]);
      second.event(task.id, 'TASK_COMPLETE', { result: 'after a reconnect' });
      await heardState(world, task.id, 'completed', from);
      const wrong = inbox.all(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.status === 'failed',
        from,
      );
      same(wrong, [], 'updates that call the session failed');
      must(second.inbox.all('task_resume').length === 0, 'expected no task to be written again');
      await second.close();
    },
  ),
  rule(
    '3.1',
    'a running task that the first status after a reconnect omits is failed with TASK_LOST',
    async (world) => {
      const first = await broken(world);
      first.status([]);
      const session = await world.session({}, first);
      const task = await world.running(session, 'never to end', first);
      await first.drop();
      const second = await broken(world);
      second.status([]);
      const update = await heardState(world, task.id, 'failed');
      same(
        [update.session.status, update.session.lastTask?.code],
        ['failed', 'TASK_LOST'],
        'status of the session and code of its task',
      );
      await second.close();
    },
  ),
  rule('3.10', 'a late result of a task that is unknown is shown as a message and changes nothing', async (world) => {
    const { inbox } = await world.app();
    const first = await broken(world);
    first.status([]);
    const session = await world.session({}, first);
    const task = await world.task(session, 'slow but sure', first);
    await first.drop();
    const second = await broken(world);
    second.status([]);
    await heardState(world, task.id, 'unknown');
    const from = inbox.mark();
    second.event(task.id, 'TASK_COMPLETE', { result: 'here after all' });
    await inbox.until('new_message', ({ message }) => message.content === 'here after all', { from });
    const { body } = await world.rest.ok('readTask', { params: { id: task.id } });
    same(body.state, 'unknown', 'state');
    await second.close();
  }),
  rule(
    '2.7',
    'the queue stops behind an unknown task until the user sends again, and then goes on in order',
    async (world) => {
      const first = await broken(world);
      first.status([]);
      const session = await world.session({}, first);
      const other = await world.session({}, first);
      const lost = await world.task(session, 'did you get this?', first);
      const waits = await post(world, session.id, { content: 'and this?' });
      await first.drop();
      const second = await broken(world);
      second.status([]);
      // Its newest task is the queued one, so only the status of the session shows the failure.
      const { inbox } = await world.app();
      await inbox.until(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.status === 'failed',
        // The relay requests the daemon's history first, twice.
        { withinMs: 20_000 },
      );
      const { body } = await world.rest.ok('readTask', { params: { id: lost.id } });
      same(body.state, 'unknown', 'state of the task that was never confirmed');
      const marker = await world.task(other, 'something else', second);
      same(
        second.inbox.all('task_resume').map(({ task_id }) => task_id),
        [marker.id],
        'tasks written while the queue is held',
      );
      const last = await post(world, session.id, { content: 'go on' });
      await second.inbox.until('task_resume', ({ task_id }) => task_id === waits.taskId, {
        what: 'the message that waited',
      });
      second.event(waits.taskId, 'TASK_COMPLETE', { result: 'done' });
      await second.inbox.until('task_resume', ({ task_id }) => task_id === last.taskId, {
        what: 'the message that set the queue going',
      });
      for (const id of [last.taskId, marker.id]) second.event(id, 'TASK_COMPLETE', { result: 'done' });
      await heardState(world, last.taskId, 'completed');
      await second.close();
    },
  ),
  rule(
    '3.1',
    'a running task that every status over 5 s omits is failed with TASK_LOST, one that is omitted once is not',
    async (world) => {
      const daemon = await world.desk();
      const session = await world.session();
      const task = await world.running(session);
      const { inbox } = await world.app();
      const from = inbox.mark();
      daemon.status([]);
      await world.caughtUp(session);
      const early = inbox.all(
        'session_update',
        (frame) => frame.session.lastTask?.state === 'failed' && frame.session.id === session.id,
        from,
      );
      same(early, [], 'updates after the first status that omits it');
      await new Promise((resolve) => setTimeout(resolve, 5500));
      daemon.status([]);
      const update = await heardState(world, task.id, 'failed', from);
      same(update.session.lastTask?.code, 'TASK_LOST', 'code');
    },
    'slow',
  ),
];
