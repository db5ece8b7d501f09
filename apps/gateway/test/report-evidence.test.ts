/**
 * Reports compete only with reports (rules, 4.5): the permitted changes of a session, and the limits of a daemon's
 * clock.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { end, idOf, readSession, run, sessionIn, tick } from './conversation.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe('the facts of a report about a session', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  let count = 0;

  const report = (...sessions: Record<string, unknown>[]) => daemon.send({ type: 'report_sessions', sessions });
  const at = (afterMs: number) => new Date(Date.now() + afterMs).toISOString();
  const updates = (native: string) =>
    app.inbox.all
      .filter((frame) => frame.type === 'session_update' && sessionIn(frame).id === idOf(daemon, native))
      .map((frame) => sessionIn(frame));
  const read = async (native: string) => {
    await tick(daemon, app);
    return (await readSession(relay, idOf(daemon, native)))!;
  };
  const fresh = () => `evidence-${(count += 1)}`;

  beforeAll(async () => {
    relay = await startRelay();
    app = await connectApp(relay);
  });
  // A future time from one test affects the relay's view of its daemon.
  const connect = async () => {
    daemon = await connectDaemon(relay);
  };
  afterAll(() => relay.stop());

  it("F5: does not reactivate a session whose task completed later, nor replace the agent's last message", async () => {
    await connect();
    const native = fresh();
    const { taskId } = await run(relay, daemon, app, native);
    const duringTask = at(0);
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'the answer' });
    const heard = updates(native).length;
    const facts = { session_id: native, is_active: true, last_message: `begin ${native}`, last_activity: duringTask };
    report({ ...facts, message_count: 2 });
    report({ ...facts, message_count: 2, is_active: false });
    report({ ...facts, last_activity: null });
    expect(await read(native)).toMatchObject({ status: 'idle', lastMessage: 'the answer' });
    expect(
      updates(native)
        .slice(heard)
        .map(({ status, lastMessage }) => [status, lastMessage]),
    ).not.toContainEqual(['active', expect.anything()]);
    // A person goes on locally.
    report({ ...facts, last_message: 'at the desk', last_activity: at(0) });
    expect(await read(native)).toMatchObject({ status: 'active', lastMessage: 'at the desk' });
    report({ ...facts, last_message: 'older', last_activity: duringTask });
    expect(await read(native)).toMatchObject({ status: 'active', lastMessage: 'at the desk' });
  });

  it('F5: does not bring a session out of `failed`', async () => {
    await connect();
    const native = fresh();
    const { taskId } = await run(relay, daemon, app, native);
    await end(daemon, app, taskId, 'ERROR', { error: 'out of credit' });
    report({ session_id: native, is_active: true, last_activity: at(0) });
    expect(await read(native)).toMatchObject({ status: 'failed' });
    report({ session_id: native, is_active: false, last_activity: at(1) });
    daemon.send({ type: 'session_activity', session_id: native, is_completion: true, last_activity: at(2) });
    expect(await read(native)).toMatchObject({ status: 'failed' });
    // A message that is sent does.
    await relay.call('sendMessage', { params: { id: idOf(daemon, native) }, body: { content: 'again' } });
    await daemon.next('task_resume');
    expect(await read(native)).toMatchObject({ status: 'active' });
  });

  it('F5: takes the last message from a report if the task completed without one', async () => {
    await connect();
    const native = fresh();
    const { taskId } = await run(relay, daemon, app, native);
    const duringTask = at(0);
    daemon.event(taskId, 'TASK_COMPLETE', { result: '' });
    report({ session_id: native, is_active: true, last_message: 'the answer', last_activity: duringTask });
    expect(await read(native)).toMatchObject({ status: 'idle', lastMessage: 'the answer' });
  });

  it('F5, K4: holds for a daemon whose clock is ahead', async () => {
    await connect();
    const native = fresh();
    const { taskId } = await run(relay, daemon, app, native);
    report({ session_id: native, is_active: true, last_message: 'begin', last_activity: at(hourMs) });
    await tick(daemon, app);
    await end(daemon, app, taskId, 'TASK_COMPLETE', { result: 'the answer' });
    const atEnd = at(hourMs);
    const facts = { session_id: native, is_active: true, last_message: 'begin', last_activity: atEnd };
    report({ ...facts });
    report({ ...facts, title: 'Another title' });
    expect(await read(native)).toMatchObject({ status: 'idle', lastMessage: 'the answer', title: 'Another title' });
    report({ ...facts, last_message: 'at the desk', last_activity: at(hourMs + 1000) });
    expect(await read(native)).toMatchObject({ status: 'active', lastMessage: 'at the desk' });
  });

  it('K4: publishes nothing for unchanged sessions of a daemon whose clock is ahead, and their order stays', async () => {
    await connect();
    const [busy, calm] = [fresh(), fresh()];
    const calmEntry = { session_id: calm, last_activity: at(hourMs - 10 * minuteMs), last_message: 'calm' };
    const busyEntry = () => ({ session_id: busy, last_activity: at(hourMs), last_message: `busy ${Math.random()}` });
    report(busyEntry(), calmEntry);
    const before = await read(calm);
    // Ten minutes before the newest, by either clock.
    expect(Date.now() - Date.parse(before.updatedAt)).toBeGreaterThan(9 * minuteMs);
    for (let time = 0; time < 3; time += 1) report(busyEntry(), calmEntry);
    daemon.send({ type: 'session_activity', session_id: calm, last_activity: calmEntry.last_activity });
    expect((await read(calm)).updatedAt).toBe(before.updatedAt);
    expect(updates(calm)).toHaveLength(1);
    expect(updates(busy)).toHaveLength(4);
  });

  it('K4: brings a deleted session back only when its activity rose', async () => {
    await connect();
    const native = fresh();
    const before = at(hourMs);
    report({ session_id: native, last_activity: before });
    await tick(daemon, app);
    await relay.call('deleteSession', { params: { id: idOf(daemon, native) } });
    report({ session_id: native, last_activity: before, title: 'not yet' });
    daemon.send({ type: 'session_activity', session_id: native, last_activity: before, last_message: 'nor now' });
    expect(await read(native)).toBeUndefined();
    report({ session_id: native, last_activity: at(hourMs + 1), title: 'now' });
    expect(await read(native)).toMatchObject({ title: 'now' });
  });

  it('F11: never lowers the count by an activity', async () => {
    await connect();
    const native = fresh();
    report({ session_id: native, message_count: 12, last_activity: at(-hourMs) });
    for (const messageCount of [1, 1, 14, 1])
      daemon.send({
        type: 'session_activity',
        session_id: native,
        message_count: messageCount,
        last_message: `m${messageCount}`,
        last_activity: at(0),
      });
    expect(await read(native)).toMatchObject({ messageCount: 14, lastMessage: 'm1' });
    const counts = updates(native).map(({ messageCount }) => messageCount);
    expect(counts).toEqual(counts.toSorted((one, other) => one - other));
  });
});
