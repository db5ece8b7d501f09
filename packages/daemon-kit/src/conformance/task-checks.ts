/** Connecting, tasks, history and watching: checks of every daemon. */
import { randomUUID } from 'node:crypto';
import { type DaemonCheck, begin, conversation, must, page, same, resume, uuids } from './check.ts';

export const taskChecks: readonly DaemonCheck[] = [
  {
    name: 'connects with its credential and its device id',
    rule: '§5.4',
    run({ connection, identity }) {
      const { headers } = connection;
      must(headers.authorization === `Bearer ${identity.refreshToken}`, 'Authorization carries the refresh token');
      must(headers['x-device-id'] === identity.deviceId, 'X-Device-ID carries the device id');
      return Promise.resolve();
    },
  },
  {
    name: 'sends status, then report_sessions, right after connecting',
    rule: '§6.3',
    run({ connection }) {
      const [first, second] = connection.frames;
      must(first?.type === 'status' && first.running_tasks.length === 0, 'the first frame is an empty status');
      must(second?.type === 'report_sessions', 'the second frame is report_sessions');
      return Promise.resolve();
    },
  },
  {
    name: 'answers ping with pong',
    rule: '§6.4.1',
    async run({ connection }) {
      await connection.settle();
    },
  },
  {
    name: 'runs a task from status over SESSION_STARTED to one end and an empty status',
    rule: '§3',
    async run({ connection }) {
      const taskId = begin(connection, 'hello');
      await connection.status(taskId);
      const { session_id: session } = await connection.event('SESSION_STARTED', taskId);
      must(session !== '', 'SESSION_STARTED names the session');
      const { result } = await connection.event('TASK_COMPLETE', taskId);
      must(result !== '', 'TASK_COMPLETE has a result');
      await connection.status();
      await connection.settle();
      must(connection.ends(taskId).length === 1, 'the task has one end');
    },
  },
  {
    name: 'continues a session with task_resume',
    rule: '§6.2',
    async run({ connection }) {
      const session = await conversation(connection);
      const taskId = resume(connection, session, 'and again');
      await connection.event('TASK_COMPLETE', taskId);
      const answer = await page(connection, session, { limit: 50 });
      must(uuids(answer).length === 4, 'two turns are four messages');
    },
  },
  {
    name: 'ends a task that fails with ERROR, once',
    rule: '§3',
    async run({ connection }) {
      const taskId = begin(connection, 'fail');
      const { error } = await connection.event('ERROR', taskId);
      must(error !== '', 'ERROR says why');
      await connection.status();
      await connection.settle();
      must(connection.ends(taskId).length === 1, 'the task has one end');
    },
  },
  {
    name: 'ends a task with ERROR when there is no such session',
    rule: '§6.3',
    async run({ connection }) {
      await connection.event('ERROR', resume(connection, `nobody-${randomUUID()}`, 'hello'));
      await connection.status();
    },
  },
  {
    name: 'waits for the user without a running task, and continues with the answer under the new task',
    rule: '§3; rules, 2.2',
    async run({ connection }) {
      const taskId = begin(connection, 'ask');
      const { session_id: session } = await connection.event('SESSION_STARTED', taskId);
      const { prompt } = await connection.event('WAIT_FOR_USER', taskId);
      must(prompt !== '', 'WAIT_FOR_USER has a prompt');
      await connection.status();
      const answerId = resume(connection, session ?? '', 'blue');
      await connection.event('TASK_COMPLETE', answerId);
      await connection.settle();
      must(connection.ends(taskId).length === 1, 'the waiting task has one end');
    },
  },
  {
    name: 'drops a cancelled task at once, and sends nothing more about it',
    rule: '§3',
    async run({ connection }) {
      const taskId = begin(connection, 'hang');
      await connection.status(taskId);
      connection.send({ type: 'task_cancel', task_id: taskId });
      await connection.status();
      await connection.settle();
      must(connection.ends(taskId).length === 0, 'a cancelled task has no end');
    },
  },
  {
    name: 'runs tasks of different sessions side by side',
    rule: '§3',
    async run({ connection }) {
      const hanging = begin(connection, 'hang');
      await connection.status(hanging);
      await connection.event('TASK_COMPLETE', begin(connection, 'hello'));
      connection.send({ type: 'task_cancel', task_id: hanging });
      await connection.status();
    },
  },
  {
    name: 'runs a task that arrives twice only once',
    rule: 'rules, 2.1',
    async run({ connection }) {
      const taskId = begin(connection, 'hello');
      await connection.event('TASK_COMPLETE', taskId);
      begin(connection, 'hello', taskId);
      await connection.event('TASK_COMPLETE', begin(connection, 'something else'));
      must(connection.ends(taskId).length === 1, 'the repeated task has one end');
    },
  },
  {
    name: 'pages through the history: the last messages, in order, with cursors on both sides',
    rule: '§6.2',
    async run({ connection }) {
      const session = await conversation(connection);
      await connection.event('TASK_COMPLETE', resume(connection, session, 'and again'));
      const all = await page(connection, session, { limit: 50 });
      const [a, b, c, d] = uuids(all);
      must(!!a && !!b && !!c && !!d, 'two turns are four messages');
      must(all.has_more === false, 'has_more is false when nothing was left out');
      must(
        same(
          (all.messages ?? []).map(({ role }) => role),
          ['USER', 'AGENT', 'USER', 'AGENT'],
        ),
        'roles alternate',
      );
      must(all.oldest_uuid === a && all.newest_uuid === d, 'oldest_uuid and newest_uuid frame the page');
      const last = await page(connection, session, { limit: 2 });
      must(same(uuids(last), [c, d]) && last.has_more === true, 'limit keeps the last messages');
      const before = await page(connection, session, { limit: 2, before_uuid: c });
      must(same(uuids(before), [a, b]), 'before_uuid is exclusive');
      const after = await page(connection, session, { limit: 50, after_uuid: b });
      must(same(uuids(after), [c, d]), 'after_uuid is exclusive');
      const between = await page(connection, session, { limit: 1, after_uuid: a, before_uuid: d });
      must(same(uuids(between), [c]) && between.has_more === true, 'both cursors go together, and the last ones count');
    },
  },
  {
    name: 'answers get_messages for a session that it does not know',
    rule: '§6.2',
    async run({ connection }) {
      const answer = await page(connection, `nobody-${randomUUID()}`, { limit: 10 });
      must(uuids(answer).length === 0, 'there are no messages');
    },
  },
  {
    name: 'sends session_activity for watched sessions, and only for them',
    rule: '§6.3',
    async run({ connection }) {
      const [watched, other] = [await conversation(connection), await conversation(connection)];
      connection.send({ type: 'watch_session', session_id: watched });
      await connection.event('TASK_COMPLETE', resume(connection, other, 'unwatched'));
      await connection.event('TASK_COMPLETE', resume(connection, watched, 'watched'));
      await connection.status();
      await connection.settle();
      const activities = connection.frames.filter((frame) => frame.type === 'session_activity');
      must(activities.length > 0, 'activity of the watched session is sent');
      must(
        activities.every(({ session_id: session }) => session === watched),
        'the other one is not',
      );
      const done = activities.find(({ is_completion: isCompletion }) => isCompletion === true);
      must(done?.message_count === 4, 'a completion counts the messages');
      connection.send({ type: 'unwatch_session', session_id: watched });
      const before = activities.length;
      await connection.event('TASK_COMPLETE', resume(connection, watched, 'unwatched again'));
      await connection.status();
      await connection.settle();
      const after = connection.frames.filter((frame) => frame.type === 'session_activity').length;
      must(after === before, 'nothing is sent after unwatch_session');
    },
  },
  {
    name: 'ignores frames that it does not know, and texts that are no frames',
    rule: 'rules, 1.1',
    async run({ connection }) {
      connection.send({ type: 'brand_new_frame', anything: [1, 2, 3] });
      connection.send({ type: 'task_cancel', task_id: 'never-heard-of' });
      connection.send({ type: 'unwatch_session', session_id: 'never-heard-of' });
      connection.send({ type: 'version_status', status: 'current', your_version: '' });
      for (const text of ['not JSON', '[]', '"text"', '{}', '{"type":7}', '{"type":"task_start"}']) {
        connection.sendText(text);
      }
      await connection.settle();
      await conversation(connection);
    },
  },
  {
    name: 'survives an instruction of nearly 16 MiB, and gives it an end',
    rule: 'rules, 9.3',
    async run({ connection }) {
      const taskId = begin(connection, 'x'.repeat(16 * 1024 * 1024 - 1024));
      await connection.status();
      await connection.settle();
      must(connection.ends(taskId).length === 1, 'the task has one end');
    },
  },
  {
    name: 'reconnects when the connection breaks, with the tasks that still run and its sessions',
    rule: '§6.4',
    async run({ connection, relay }) {
      const session = await conversation(connection);
      const taskId = begin(connection, 'hang');
      await connection.event('SESSION_STARTED', taskId);
      connection.terminate();
      const next = await relay.connection();
      const first = await next.frame('status');
      must(same(first.running_tasks, [taskId]), 'the first status lists the running task');
      const { sessions } = await next.frame('report_sessions');
      must(
        sessions.some(({ session_id: reported }) => reported === session),
        'the earlier session is reported',
      );
      next.send({ type: 'task_cancel', task_id: taskId });
      await next.status();
    },
  },
  {
    name: 'reconnects when the relay asks it to, and when it is refused for a while',
    rule: '§6.4',
    async run({ connection, relay }) {
      relay.refusals.push({ status: 503, headers: { 'Retry-After': '1' } });
      connection.close(1001, 'going away');
      const next = await relay.connection();
      await next.frame('status');
      await next.settle();
    },
  },
];
