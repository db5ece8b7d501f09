/**
 * The rules for a daemon, each as one check against a simulated relay. The daemon under test must answer these messages
 * in this way, whatever its agent is: `fail` → the task fails; `ask` → it asks, and the answer ends the turn; `hang` → it works until it
 * is cancelled; anything else → it ends well, with some words.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type FromDaemon, type Item, applyOperations, isItem, isOperation, mergeItems } from '@relay/protocol';
import type { DoubleConnection, RelayDouble } from './relay-double.ts';

export interface Subject {
  /** Starts the daemon at this relay. Resolves when it has ended. */
  start(at: DeviceIdentity): { stop: () => Promise<void> };
}

export interface DeviceIdentity {
  server: string;
  deviceId: string;
  refreshToken: string;
  agentType: string;
}

export interface CheckWorld {
  relay: RelayDouble;
  identity: DeviceIdentity;
  /** The first connection, after its first `status` and `report_sessions`. */
  connection: DoubleConnection;
}

export interface DaemonCheck {
  /** A sentence about the daemon. */
  name: string;
  /** Section of the interface specification, or a rule of docs/rules.md. */
  rule: string;
  /** The capabilities that the relay declares. A daemon that does not declare them passes: the check does not concern it. */
  declares?: readonly string[];
  run(world: CheckWorld): Promise<void>;
}

class Broken extends Error {}
function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Broken(what);
}
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const id = (name: string) => `${name}-${randomUUID()}`;

const begin = (connection: DoubleConnection, instruction: string, taskId = id('task')) => {
  connection.send({ type: 'task_start', task_id: taskId, instruction });
  return taskId;
};
const tell = (connection: DoubleConnection, session: string, message: string) => {
  const taskId = id('task');
  connection.send({ type: 'task_resume', task_id: taskId, session_id: session, message });
  return taskId;
};
/** A finished first turn. */
async function conversation(connection: DoubleConnection): Promise<string> {
  const taskId = begin(connection, 'hello');
  const { session_id: session } = await connection.event('SESSION_STARTED', taskId);
  await connection.event('TASK_COMPLETE', taskId);
  await connection.status();
  return session ?? '';
}
async function page(
  connection: DoubleConnection,
  session: string,
  query: {
    limit: number;
    before_uuid?: string;
    after_uuid?: string;
    parts?: boolean;
    changed?: number | null | undefined;
  },
): Promise<FromDaemon<'messages'>> {
  const requestId = id('request');
  connection.send({ type: 'get_messages', request_id: requestId, session_id: session, ...query });
  const answer = await connection.frame('messages');
  must(answer.request_id === requestId, 'the answer echoes request_id');
  return answer;
}
const declares = ({ headers }: DoubleConnection, name: string): boolean =>
  [headers['x-daemon-capabilities'] ?? []]
    .flat()
    .join(',')
    .split(',')
    .some((declared) => declared.trim() === name);
/** The list of a reader that applied every frame; undefined when a version is missing, which the reader would request. */
function heardOf({ frames }: DoubleConnection, session: string): Item[] | undefined {
  let items: Item[] = [];
  let known: number | undefined;
  for (const frame of frames) {
    if (frame.type !== 'event' || frame.event_type !== 'TRANSCRIPT' || frame.session_id !== session) continue;
    must(known === undefined || frame.v > known, 'the version of a session rises with each frame');
    must(frame.ops.every(isOperation), 'a frame holds operations');
    if (known !== undefined && frame.v !== known + 1) return undefined;
    known = frame.v;
    items = applyOperations(items, frame.ops, frame.v);
  }
  return items;
}
/** One pixel. */
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
const uuids = (answer: FromDaemon<'messages'>) => (answer.messages ?? []).map(({ uuid }) => uuid);

export const daemonChecks: readonly DaemonCheck[] = [
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
      const taskId = tell(connection, session, 'and again');
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
      await connection.event('ERROR', tell(connection, `nobody-${randomUUID()}`, 'hello'));
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
      const answerId = tell(connection, session ?? '', 'blue');
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
      await connection.event('TASK_COMPLETE', tell(connection, session, 'and again'));
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
      await connection.event('TASK_COMPLETE', tell(connection, other, 'unwatched'));
      await connection.event('TASK_COMPLETE', tell(connection, watched, 'watched'));
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
      await connection.event('TASK_COMPLETE', tell(connection, watched, 'unwatched again'));
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
  {
    name: 'ends a task with images once, whether it accepts them or not',
    rule: '§9',
    async run({ connection }) {
      const taskId = id('task');
      connection.send({ type: 'task_start', task_id: taskId, instruction: 'hello', images: [pixel] });
      await connection.status(taskId);
      await connection.status();
      await connection.settle();
      must(connection.ends(taskId).length === 1, 'the task has one end');
    },
  },
  {
    name: 'answers usage_request if it declares usage, and ignores it otherwise',
    rule: '§9',
    async run({ connection }) {
      const declared = String(connection.headers['x-daemon-capabilities'] ?? '').split(/[\s,]+/);
      const session = await conversation(connection);
      for (const asked of [session, id('nobody')]) {
        const requestId = id('request');
        connection.send({ type: 'usage_request', request_id: requestId, session_id: asked });
        if (!declared.includes('usage')) continue;
        const answer = await connection.frame('usage_response');
        must(answer.request_id === requestId, 'the answer echoes request_id');
        must(Boolean(answer.usage) !== Boolean(answer.error), 'the answer has a usage or an error');
      }
      await connection.settle();
    },
  },
  {
    name: 'with `transcript`, sends operations that build its pages, and keeps the uuid that the relay gave a message',
    rule: 'ADR 35',
    declares: ['transcript'],
    async run({ connection }) {
      if (!declares(connection, 'transcript')) return;
      const [taskId, uuid] = [id('task'), randomUUID()];
      connection.send({ type: 'task_start', task_id: taskId, instruction: 'hello', message_uuid: uuid });
      const { session_id: session, message_uuid: last } = await connection.event('TASK_COMPLETE', taskId);
      const answer = await page(connection, session ?? '', { limit: 200, parts: true });
      const items = (answer.messages ?? []) as unknown[];
      must(items.every(isItem), 'a page of parts holds items');
      must(items[0]?.uuid === uuid, 'the message has the uuid that the relay gave it');
      must(items.at(-1)?.uuid === last, 'the end names its item');
      const heard = heardOf(connection, session ?? '');
      must(heard === undefined || isDeepStrictEqual(heard, items), 'the operations make the items of the page');
      const again = await page(connection, session ?? '', { limit: 200, parts: true, changed: answer.v });
      must(again.v === answer.v && again.messages?.length === 0, 'nothing changed since the current version');
    },
  },
  {
    name: 'with `prompts`, applies no choice to a question that it does not name',
    rule: 'ADR 35',
    declares: ['transcript', 'prompts'],
    async run({ connection }) {
      if (!declares(connection, 'prompts')) return;
      const taskId = begin(connection, 'ask');
      const { session_id: session, question } = await connection.event('WAIT_FOR_USER', taskId);
      must(question !== undefined && question !== null, 'WAIT_FOR_USER names its question');
      const [wrong, right] = [id('task'), id('task')];
      const answer = {
        type: 'task_resume',
        session_id: session,
        message: 'yes',
        option_id: question.options[0]?.id ?? '1',
      };
      connection.send({ ...answer, task_id: wrong, prompt_uuid: randomUUID() });
      const { code } = await connection.event('ERROR', wrong);
      must(code === 'PROMPT_SUPERSEDED', 'a choice for another question is refused as such');
      const { option_id: _choice, ...words } = answer;
      const named = question.options.length > 0 ? answer : words;
      connection.send({ ...named, task_id: right, prompt_uuid: question.uuid, digest: question.digest });
      await connection.event('TASK_COMPLETE', right);
    },
  },
  {
    name: 'with `transcript`, answers `changed` with what changed, and starts over for a version that it never had',
    rule: 'ADR 35',
    declares: ['transcript'],
    async run({ connection }) {
      if (!declares(connection, 'transcript')) return;
      const session = await conversation(connection);
      const { v, messages: before } = await page(connection, session, { limit: 200, parts: true });
      await connection.event('TASK_COMPLETE', tell(connection, session, 'and again'));
      const later = await page(connection, session, { limit: 200, parts: true, changed: v });
      const whole = await page(connection, session, { limit: 200, parts: true });
      must(later.reset !== true, 'a version that it had is known');
      const known = (before ?? []) as unknown as Item[];
      const merged = mergeItems(known, (later.messages ?? []) as unknown as Item[]);
      must(isDeepStrictEqual(merged, whole.messages), 'the known items and the changes are the whole list');
      const foreign = await page(connection, session, { limit: 200, parts: true, changed: 1 });
      must(foreign.reset === true, 'a version that it never had is answered with the newest page, and reset');
      must(isDeepStrictEqual(foreign.messages, whole.messages), 'the newest page is the list');
    },
  },
  {
    name: 'with `prompts`, lists a question while it is open, and its item says how it ended',
    rule: 'ADR 35',
    declares: ['transcript', 'prompts'],
    async run({ connection }) {
      if (!declares(connection, 'prompts')) return;
      const taskId = begin(connection, 'ask');
      const { session_id: session, question } = await connection.event('WAIT_FOR_USER', taskId);
      must(question !== undefined && question !== null, 'WAIT_FOR_USER names its question');
      must(same((await connection.status()).open_prompts, [question.uuid]), '`status` lists the open question');
      const stateOf = async () => {
        const { messages } = await page(connection, session ?? '', { limit: 200, parts: true });
        return messages?.find(({ uuid }) => uuid === question.uuid)?.part?.state;
      };
      must((await stateOf()) === 'open', 'the question is an item with its uuid, and open');
      const answerId = id('task');
      const answer = { type: 'task_resume', task_id: answerId, session_id: session, message: 'yes' };
      const [option] = question.options;
      connection.send({ ...answer, prompt_uuid: question.uuid, ...(option ? { option_id: option.id } : {}) });
      await connection.event('TASK_COMPLETE', answerId);
      must(same((await connection.status()).open_prompts, []), '`status` lists no question afterwards');
      must((await stateOf()) === 'answered', 'the item of the question is answered');
    },
  },
];
