/** Messages and the tasks they become: order, queue, cancel, the same request twice (specification §3, §6.2; rules, chapter 2). */
import { randomUUID } from 'node:crypto';
import { type Check, rule, specification } from '../check.ts';
import { must, present, same } from '../expect.ts';
import type { World } from '../world.ts';

const stateOf = async ({ rest }: World, id: string) => (await rest.ok('readTask', { params: { id } })).body.state;

/** Sends a message without waiting for the daemon: it is queued. */
const post = async ({ rest }: World, id: string, content: string) =>
  (await rest.ok('sendMessage', { params: { id }, body: { content } })).body;

export const tasks: readonly Check[] = [
  specification(
    '§6.2',
    'task_start',
    'carries task_id, the first message as instruction, and project_path',
    async ({ story }) => {
      const { start, request, answer } = await story.created();
      same(
        [start.task_id, start.instruction, start.project_path],
        [answer.body.taskId, request.message, request.projectPath],
        'task_id, instruction, project_path',
      );
    },
  ),
  specification(
    '§3',
    'Task not running: task_start or task_resume',
    'the daemon lists it in a status: the task runs and its session is active',
    async (world) => {
      const session = await world.session();
      const { inbox } = await world.plain();
      const from = inbox.mark();
      const task = await world.running(session);
      await inbox.until(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.status === 'active',
        {
          from,
        },
      );
      const { body } = await world.rest.ok('readTask', { params: { id: task.id } });
      same([body.state, body.kind, body.sessionId], ['running', 'resume', session.id], 'state, kind, sessionId');
      (await world.desk()).event(task.id, 'TASK_COMPLETE', { result: 'done' });
    },
    { also: ['§6.3 status'] },
  ),
  specification(
    '§4.1',
    'POST /api/sessions/:id/messages',
    'answers 202 with task, session, state and message; the daemon gets task_resume, other sockets the USER message',
    async (world) => {
      const session = await world.session({ project: '/home/somebody/elsewhere' });
      const { inbox } = await world.plain();
      const from = inbox.mark();
      const content = `And then? ${randomUUID()}`;
      const { status, body } = await world.rest.ok('sendMessage', { params: { id: session.id }, body: { content } });
      same(
        [status, body.sessionId, body.message.role, body.message.content],
        [202, session.id, 'USER', content],
        'answer',
      );
      must(
        ['queued', 'sent', 'running'].includes(body.state),
        `expected the state queued, sent or running, came ${body.state}`,
      );
      const daemon = await world.desk();
      const frame = await daemon.inbox.until('task_resume', ({ task_id }) => task_id === body.taskId);
      same(
        [frame.session_id, frame.message, frame.project_path],
        [session.native, content, '/home/somebody/elsewhere'],
        'session_id, message, project_path',
      );
      const said = await inbox.until('new_message', ({ sessionId }) => sessionId === session.id, { from });
      same(
        [said.message.uuid, said.message.content],
        [body.message.uuid, content],
        'uuid and content of the new_message',
      );
      daemon.event(body.taskId, 'TASK_COMPLETE', { result: 'done' });
    },
    { also: ['§6.2 task_resume'] },
  ),
  rule('2.3', 'one task runs per session: further messages wait behind it and go in order', async (world) => {
    const daemon = await world.desk();
    const session = await world.session();
    const first = await world.running(session);
    const second = await post(world, session.id, 'second');
    const third = await post(world, session.id, 'third');
    same([second.state, third.state], ['queued', 'queued'], 'states of the messages that wait');
    // A task of another session, accepted later, reaches the daemon: the queued ones were not sent before it.
    const marker = await world.task(await world.session());
    const early = daemon.inbox.all('task_resume', ({ task_id }) => [second.taskId, third.taskId].includes(task_id));
    same(early, [], 'tasks that were sent while another ran');
    daemon.event(first.id, 'TASK_COMPLETE', { result: 'first done' });
    const next = await daemon.inbox.until(
      'task_resume',
      ({ session_id, task_id }) => session_id === session.native && task_id !== first.id,
    );
    same(next.task_id, second.taskId, 'the task after the first');
    daemon.event(second.taskId, 'ERROR', { error: 'second failed' });
    await daemon.inbox.until('task_resume', ({ task_id }) => task_id === third.taskId, {
      what: 'the third after the second',
    });
    daemon.event(third.taskId, 'TASK_COMPLETE', { result: 'third done' });
    daemon.event(marker.id, 'TASK_COMPLETE', { result: 'done' });
  }),
  rule(
    '2.7',
    'a message that waited before the agent asked does not answer it: only one accepted after the prompt does',
    async (world) => {
      const daemon = await world.desk();
      const { inbox } = await world.app();
      const session = await world.session();
      const first = await world.running(session);
      const older = await post(world, session.id, 'an older yes');
      daemon.event(first.id, 'WAIT_FOR_USER', { prompt: 'Delete everything?', result: '', options: [] });
      await inbox.until(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.status === 'waiting',
      );
      const answer = await world.task(session, 'no');
      same(
        daemon.inbox.all('task_resume', ({ task_id }) => task_id === older.taskId),
        [],
        'the older message, before the answer',
      );
      daemon.event(answer.id, 'TASK_COMPLETE', { result: 'kept' });
      await daemon.inbox.until('task_resume', ({ task_id }) => task_id === older.taskId, {
        what: 'the older message, after the answer',
      });
      daemon.event(older.taskId, 'TASK_COMPLETE', { result: 'done' });
    },
  ),
  rule(
    '6.6',
    'the same Idempotency-Key and body sends once; with another body it is 409 IDEMPOTENCY_CONFLICT',
    async (world) => {
      const { rest } = world;
      const daemon = await world.desk();
      const session = await world.session();
      const params = { id: session.id };
      const headers = { 'Idempotency-Key': randomUUID() };
      const body = { content: `once ${randomUUID()}` };
      const first = await rest.ok('sendMessage', { params, headers, body });
      const second = await rest.ok('sendMessage', { params, headers, body });
      same(
        [second.status, second.body.taskId, second.body.message.uuid, second.headers['idempotent-replay']],
        [202, first.body.taskId, first.body.message.uuid, 'true'],
        'status, taskId, uuid and Idempotent-Replay of the repetition',
      );
      await rest.refused('sendMessage', 'IDEMPOTENCY_CONFLICT', {
        params,
        headers,
        body: { content: 'something else' },
      });
      for (const key of ['', 'x'.repeat(201)])
        await rest.refused('sendMessage', 'INVALID_REQUEST', { params, headers: { 'Idempotency-Key': key }, body });
      await daemon.inbox.until('task_resume', ({ task_id }) => task_id === first.body.taskId);
      daemon.event(first.body.taskId, 'TASK_COMPLETE', { result: 'done' });
      const marker = await world.task(session);
      const sent = daemon.inbox.all('task_resume', ({ session_id }) => session_id === session.native);
      same(
        sent.map(({ task_id }) => task_id),
        [first.body.taskId, marker.id],
        'tasks that reached the daemon',
      );
      daemon.event(marker.id, 'TASK_COMPLETE', { result: 'done' });
    },
  ),
  specification(
    '§3',
    'Task running: task_cancel',
    'the daemon gets task_cancel, the task is cancelled at once; a late result is shown and revives nothing',
    async (world) => {
      const daemon = await world.desk();
      const { inbox } = await world.plain();
      const session = await world.session();
      const task = await world.running(session);
      const from = inbox.mark();
      const { body } = await world.rest.ok('cancelSession', { params: { id: session.id } });
      same(body.taskId, task.id, 'taskId');
      await daemon.inbox.until('task_cancel', ({ task_id }) => task_id === task.id);
      await inbox.until(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.status === 'idle',
        { from },
      );
      daemon.status([]);
      const result = `too late ${randomUUID()}`;
      daemon.event(task.id, 'TASK_COMPLETE', { result });
      await inbox.until('new_message', ({ message }) => message.content === result, { from, what: 'a late result' });
      same(await stateOf(world, task.id), 'cancelled', 'state of the task after the late result');
      await world.rest.refused('cancelSession', 'NO_RUNNING_TASK', { params: { id: session.id } });
    },
    { also: ['§6.2 task_cancel'] },
  ),
  rule('2.9', 'cancel takes the running task first; the queue goes on after it', async (world) => {
    const daemon = await world.desk();
    const session = await world.session();
    const first = await world.running(session);
    const second = await post(world, session.id, 'second');
    const { body } = await world.rest.ok('cancelSession', { params: { id: session.id } });
    same(body.taskId, first.id, 'the task that was cancelled');
    await daemon.inbox.until('task_resume', ({ task_id }) => task_id === second.taskId);
    daemon.event(second.taskId, 'TASK_COMPLETE', { result: 'done' });
  }),
  rule(
    '2.17',
    'what waits can be edited, moved and taken back until it is sent; the session says that its queue is another one',
    async (world) => {
      const daemon = await world.desk();
      const { inbox } = await world.plain();
      const session = await world.session();
      const first = await world.running(session);
      const [one, two, three] = [
        await post(world, session.id, 'one'),
        await post(world, session.id, 'two'),
        await post(world, session.id, 'three'),
      ];
      const queue = async () => (await world.rest.ok('readQueue', { params: { id: session.id } })).body;
      const paramsOf = ({ taskId }: { taskId: string }) => ({ id: session.id, taskId });
      same(
        (await queue()).tasks.map(({ content }) => content),
        ['one', 'two', 'three'],
        'texts that wait',
      );
      const from = inbox.mark();
      const body = { content: 'two, edited', before: one.taskId };
      const changed = await world.rest.ok('changeQueued', { params: paramsOf(two), body });
      await world.rest.ok('removeQueued', { params: paramsOf(three) });
      await inbox.until(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.queue?.v === changed.body.v,
        { from },
      );
      same(
        (await queue()).tasks.map(({ content }) => content),
        ['two, edited', 'one'],
        'texts after the change',
      );
      same(await stateOf(world, three.taskId), 'cancelled', 'state of the task that was taken back');
      await world.rest.refused('removeQueued', 'TASK_ALREADY_ENDED', { params: paramsOf(three) });
      await world.rest.refused('changeQueued', 'TASK_ALREADY_SENT', {
        params: { id: session.id, taskId: first.id },
        body: { content: 'too late' },
      });
      daemon.event(first.id, 'TASK_COMPLETE', { result: 'done' });
      const next = await daemon.inbox.until('task_resume', ({ task_id }) => task_id === two.taskId);
      same(next.message, 'two, edited', 'message of the task_resume');
      daemon.event(two.taskId, 'TASK_COMPLETE', { result: 'done' });
      await daemon.inbox.until('task_resume', ({ task_id }) => task_id === one.taskId);
      daemon.event(one.taskId, 'TASK_COMPLETE', { result: 'done' });
    },
  ),
  rule('2.18', 'cancel with `which: all` takes what waits along', async (world) => {
    const session = await world.session();
    const first = await world.running(session);
    const { taskId } = await post(world, session.id, 'behind it');
    const { body } = await world.rest.ok('cancelSession', { params: { id: session.id }, body: { which: 'all' } });
    same([body.taskId, body.queued], [first.id, [taskId]], 'taskId and queued');
    await world.rest.refused('cancelSession', 'NO_RUNNING_TASK', { params: { id: session.id } });
  }),
  rule('2.10', 'cancel of a waiting session dismisses its question', async (world) => {
    const daemon = await world.desk();
    const { inbox } = await world.plain();
    const session = await world.session();
    const task = await world.running(session);
    const from = inbox.mark();
    daemon.event(task.id, 'WAIT_FOR_USER', { session_id: session.native, prompt: 'Well?', result: '', options: [] });
    const update = (status: string) =>
      inbox.until('session_update', (frame) => frame.session.id === session.id && frame.session.status === status, {
        from,
      });
    await update('waiting');
    const { body } = await world.rest.ok('cancelSession', { params: { id: session.id } });
    same(body.taskId, task.id, 'taskId');
    await daemon.inbox.until('task_cancel', ({ task_id }) => task_id === task.id);
    const { session: shown } = await update('idle');
    same(shown.prompt, undefined, 'prompt of the session');
  }),
  rule(
    '2.13 GET /api/tasks/:id',
    'tells what became of a task, with its times and its result or error',
    async (world) => {
      const daemon = await world.desk();
      const { inbox } = await world.app();
      const session = await world.session();
      const done = await world.running(session);
      daemon.event(done.id, 'TASK_COMPLETE', { result: 'forty-two' });
      const failed = await world.running(session);
      daemon.event(failed.id, 'ERROR', { error: 'out of ideas' });
      await inbox.until(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.status === 'failed',
      );
      const good = (await world.rest.ok('readTask', { params: { id: done.id } })).body;
      same([good.state, good.result, good.error], ['completed', 'forty-two', undefined], 'state, result, error');
      const times = [good.createdAt, present(good.sentAt, 'sentAt'), present(good.finishedAt, 'finishedAt')];
      same(times, [...times].sort(), 'createdAt, sentAt, finishedAt in this order');
      const bad = (await world.rest.ok('readTask', { params: { id: failed.id } })).body;
      same([bad.state, bad.error?.error], ['failed', 'out of ideas'], 'state and error');
      await world.rest.refused('readTask', 'TASK_NOT_FOUND', { params: { id: '01ARZ3NDEKTSV4RRFFQ69G5FAV' } });
    },
  ),
  rule(
    '2.3',
    'at most 20 messages wait in a session: the next is 409 QUEUE_FULL',
    async (world) => {
      const session = await world.session();
      const first = await world.running(session);
      for (let index = 0; index < 20; index += 1) await post(world, session.id, `waits ${index}`);
      await world.rest.refused('sendMessage', 'QUEUE_FULL', {
        params: { id: session.id },
        body: { content: 'one more' },
      });
      await world.rest.ok('deleteSession', { params: { id: session.id } });
      (await world.desk()).event(first.id, 'TASK_COMPLETE', { result: 'done' });
    },
    'slow',
  ),
];
