/** A relay that is killed in a turn publishes nothing twice under two names (rules, 12.3). */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  type FieldDaemon,
  type Habits,
  type TestApp,
  type TestIssuer,
  type TestRelay,
  connectApp,
  openTestDatabase,
  startFieldDaemon,
  startIssuer,
  startRelay,
} from '@relay/testing';
import { messageIn, readTask, sessionIn, until } from './conversation.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let issuer: TestIssuer;
const relays: TestRelay[] = [];
const daemons: FieldDaemon[] = [];
const apps: TestApp[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  issuer = await startIssuer();
});
afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.stop();
  for (const relay of relays.splice(0)) await relay.stop();
});
afterAll(async () => {
  await issuer.close();
  await database.close();
});

/** A process of the relay, or its next one: only the database is the same. */
async function open(gateways = 1) {
  const config = { outcomeAskMs: 40, statusLostMs: 1, statusWaitMs: 300, sweepIntervalMs: 60_000 };
  const relay = await startRelay({ database, issuer, gateways, config });
  relays.push(relay);
  const app = await connectApp(relay);
  apps.push(app);
  return { relay, app };
}

async function begin(relay: TestRelay, app: TestApp, habits: Habits = {}) {
  const daemon = await startFieldDaemon(relay, { habits });
  daemons.push(daemon);
  const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'begin' } });
  const task = await daemon.nextTask();
  const id = `${daemon.deviceId}:${daemon.registration.agentType}:${task.native}`;
  await app.next('session_update', (frame) => frame.previousId === body.id);
  const said = (content: string, uuid?: string) =>
    daemon.send({
      type: 'event',
      event_type: 'AGENT_RESPONSE',
      task_id: task.id,
      session_id: task.native,
      content,
      ...(uuid && { uuid }),
    });
  const shown = (where: TestApp) =>
    where.next('new_message', (frame) => frame.sessionId === id && messageIn(frame).role === 'AGENT');
  return { daemon, task, id, said, shown };
}
type Begun = Awaited<ReturnType<typeof begin>>;

function complete(daemon: FieldDaemon, { task }: Begun, result: string): void {
  daemon.send({ type: 'event', event_type: 'TASK_COMPLETE', task_id: task.id, session_id: task.native, result });
}

/** The messages of the agent that this app got, when the task is over and everything before was handled. */
async function shownAt({ daemon, id, task }: Begun, relay: TestRelay, app: TestApp) {
  await until(async () => (await readTask(relay, task.id)).state === 'completed');
  const native = `clock-${Math.random()}`;
  daemon.send({ type: 'report_sessions', sessions: [{ session_id: native }] });
  await app.next('session_update', (frame) => sessionIn(frame).id.endsWith(native));
  return app.inbox.all
    .filter((frame) => frame.type === 'new_message' && frame.sessionId === id)
    .map((frame) => messageIn(frame))
    .filter(({ role }) => role === 'AGENT');
}

/** The daemon as it comes to the next process of the relay. */
async function cameBack({ daemon }: Begun, relay: TestRelay) {
  await daemon.stop();
  const back = await startFieldDaemon(relay, { registration: daemon.registration });
  daemons.push(back);
  return back;
}

it.each([
  ['with the name of the daemon', 'u1'],
  ['without a name', undefined],
])(
  'A7: a text shown before a kill of the single process is not published again with the outcome (%s)',
  async (_, uuid) => {
    const one = await open();
    const begun = await begin(one.relay, one.app);
    begun.said('A', uuid);
    await begun.shown(one.app);
    await one.relay.gateways[0]!.kill();
    const two = await open();
    const daemon = await cameBack(begun, two.relay);
    complete(daemon, begun, 'A\n\nB');
    const shown = await shownAt({ ...begun, daemon }, two.relay, two.app);
    expect(shown.map(({ content }) => content)).toEqual(['B']);
  },
);

it('A7: the relay publishes the only text of a turn once, despite a kill of the single process', async () => {
  const one = await open();
  const begun = await begin(one.relay, one.app);
  begun.said('A');
  await begun.shown(one.app);
  await one.relay.gateways[0]!.kill();
  const two = await open();
  const daemon = await cameBack(begun, two.relay);
  complete(daemon, begun, 'A');
  expect(await shownAt({ ...begun, daemon }, two.relay, two.app)).toEqual([]);
});

it('A7: a text shown before a kill of its gateway is not published again by the other one', async () => {
  const { relay, app } = await open(2);
  const begun = await begin(relay, app);
  begun.said('A');
  await begun.shown(app);
  await relay.gateways[0]!.kill();
  await begun.daemon.connect(1);
  complete(begun.daemon, begun, 'A\n\nB');
  expect((await shownAt(begun, relay, app)).map(({ content }) => content)).toEqual(['A', 'B']);
});

it('A7: texts that the history has under other names are not published again', async () => {
  const one = await open();
  const begun = await begin(one.relay, one.app, { statusOnce: true });
  const { daemon, task } = begun;
  // Sent live without a name, and twice; the history has both, and gives them names.
  for (let n = 0; n < 2; n++) {
    daemon.say(task, 'A');
    begun.said('A');
    await begun.shown(one.app);
  }
  await one.relay.gateways[0]!.kill();
  daemon.say(task, 'A', 'B', 'the answer');
  const two = await open();
  const back = await startFieldDaemon(two.relay, { registration: daemon.registration, habits: { statusOnce: true } });
  daemons.push(back);
  back.atDesk(task.native, 'USER', task.instruction);
  for (const text of ['A', 'A', 'A', 'B', 'the answer']) back.atDesk(task.native, 'AGENT', text);
  back.report();
  await two.app.next('new_message', (frame) => messageIn(frame).content === 'the answer');
  const shown = await shownAt({ ...begun, daemon: back }, two.relay, two.app);
  expect(shown.map(({ content }) => content)).toEqual(['A', 'B', 'the answer']);
});

it('A7: a daemon that names its items repeats an outcome under the same name', async () => {
  const one = await open();
  const begun = await begin(one.relay, one.app);
  await one.relay.gateways[0]!.kill();
  const two = await open();
  const { daemon } = begun;
  await daemon.stop();
  const back = await startFieldDaemon(two.relay, {
    registration: daemon.registration,
    headers: { 'X-Capabilities': 'transcript' },
  });
  daemons.push(back);
  back.send({
    type: 'event',
    event_type: 'AGENT_RESPONSE',
    task_id: begun.task.id,
    session_id: begun.task.native,
    uuid: 'u1',
    content: 'A',
  });
  back.send({
    type: 'event',
    event_type: 'TASK_COMPLETE',
    task_id: begun.task.id,
    session_id: begun.task.native,
    result: 'A',
    message_uuid: 'u1',
  });
  const shown = await shownAt({ ...begun, daemon: back }, two.relay, two.app);
  expect(shown.map(({ uuid, content }) => [uuid, content])).toEqual([['u1', 'A']]);
});
