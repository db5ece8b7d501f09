/** One turn, one set of messages (rules, 12.3): the frames to apps if an agent sends several texts, or repeats one. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type FieldDaemon,
  type Habits,
  type TestApp,
  type TestRelay,
  connectApp,
  startFieldDaemon,
  startRelay,
} from '@relay/testing';
import { messageIn, say, sessionIn } from './conversation.ts';

describe('one turn, one set of messages', () => {
  let relay: TestRelay;
  let app: TestApp;
  const daemons: FieldDaemon[] = [];

  beforeAll(async () => {
    relay = await startRelay({ gateways: 2 });
    app = await connectApp(relay);
  });
  afterAll(async () => {
    for (const daemon of daemons) await daemon.stop();
    await relay.stop();
  });

  const start = async (habits: Habits) => {
    const daemon = await startFieldDaemon(relay, { habits });
    daemons.push(daemon);
    const { body } = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'begin' } });
    const task = await daemon.nextTask();
    const id = `${daemon.deviceId}:${daemon.registration.agentType}:${task.native}`;
    await app.next('session_update', (frame) => frame.previousId === body.id);
    return { daemon, task, id };
  };
  const more = async (daemon: FieldDaemon, id: string) => {
    await say(relay, id, `go on ${Math.random()}`);
    return daemon.nextTask();
  };
  /** The messages of the agent in a session, when everything the daemon sent so far was handled. */
  const heard = async (daemon: FieldDaemon, id: string) => {
    const native = `clock-${Math.random()}`;
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: native }] });
    await app.next('session_update', (frame) => sessionIn(frame).id.endsWith(native));
    return app.inbox.all
      .filter((frame) => frame.type === 'new_message' && frame.sessionId === id)
      .map((frame) => messageIn(frame))
      .filter(({ role }) => role !== 'USER')
      .map(({ content }) => content);
  };

  it('F2: each text of A, B, C and then all of them reaches apps once', async () => {
    for (const newlineResult of [false, true]) {
      const { daemon, task, id } = await start({ textPerEvent: true, newlineResult });
      daemon.finish(task, 'A', 'B\n\nof two paragraphs', 'C');
      expect(await heard(daemon, id)).toEqual(['A', 'B\n\nof two paragraphs', 'C']);
    }
  });

  it('F2: a text that enters the transcript only after the result is not published again', async () => {
    const { daemon, task, id } = await start({});
    const transcript = (uuid: string, content: string) =>
      daemon.send({ type: 'event', event_type: 'AGENT_RESPONSE', task_id: '', session_id: task.native, uuid, content });
    transcript('u1', 'A');
    transcript('u2', 'B');
    daemon.send({ type: 'event', event_type: 'TASK_COMPLETE', task_id: task.id, result: 'A\n\nB\n\nC\n' });
    transcript('u3', 'C');
    // It belongs to the next turn, whose result comes then.
    transcript('u4', 'C');
    expect(await heard(daemon, id)).toEqual(['A', 'B', 'C\n', 'C']);
  });

  it('F2c, A3: two turns with the same final text are two messages', async () => {
    for (const textPerEvent of [false, true]) {
      const { daemon, task, id } = await start({ textPerEvent });
      await relay.call('watch', { body: { sessionId: id } });
      await daemon.next('watch_session');
      daemon.finish(task, 'Done.');
      daemon.finish(await more(daemon, id), 'Done.');
      daemon.fail(await more(daemon, id), 'Out of credit');
      daemon.fail(await more(daemon, id), 'Out of credit');
      daemon.ask(await more(daemon, id), 'May I?', 'Yes');
      // Only a message sent after the question answers it.
      await heard(daemon, id);
      daemon.ask(await more(daemon, id), 'May I?', 'Yes');
      expect(await heard(daemon, id)).toEqual(['Done.', 'Done.', 'Out of credit', 'Out of credit', 'May I?', 'May I?']);
    }
  });

  it('F2c: two local turns with the same final text are two messages, and a repetition adds none', async () => {
    const { daemon, task, id } = await start({});
    daemon.finish(task, 'at last');
    const session = { type: 'report_sessions', sessions: [{ session_id: 'desk' }] };
    daemon.send(session);
    const completion = (lastActivity: string) =>
      daemon.send({
        type: 'session_activity',
        session_id: 'desk',
        last_message: 'Done.',
        is_completion: true,
        last_activity: lastActivity,
      });
    completion('2026-01-01T00:00:00Z');
    completion('2026-01-01T00:00:00Z');
    completion('2026-01-01T00:00:01Z');
    expect(await heard(daemon, id.replace(task.native, 'desk'))).toEqual(['Done.', 'Done.']);
  });

  it('F2: holds when the daemon moves to another gateway within a turn', async () => {
    const { daemon, task, id } = await start({ textPerEvent: true });
    daemon.say(task, 'A');
    expect(await heard(daemon, id)).toEqual(['A']);
    await daemon.drop();
    await daemon.connect(1);
    daemon.say(task, 'B');
    daemon.send({ type: 'event', event_type: 'TASK_COMPLETE', task_id: task.id, result: 'A\n\nB\n\nC' });
    expect(await heard(daemon, id)).toEqual(['A', 'B', 'C']);
    const read = await relay.call('readSession', { params: { id } });
    expect(read.body).toMatchObject({ status: 'idle', lastMessage: 'A\n\nB\n\nC' });
  });
});
