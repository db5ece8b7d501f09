/** The transcript of a session with its parts: live, in history, and the uuids that bind the two (rules, 10.2). */
import { randomUUID } from 'node:crypto';
import { relayCapabilitiesHeader } from '@relay/protocol';
import { type Check, rule } from '../check.ts';
import { must, same } from '../expect.ts';
import { nowText } from '../world.ts';
import { declaring } from './capabilities.ts';

export const transcript: readonly Check[] = [
  rule('10.1', 'the 101 of /ws/daemon says that the relay takes a transcript', async (world) => {
    const daemon = await declaring(world, 'transcript');
    const declared = String(daemon.live.headers[relayCapabilitiesHeader.toLowerCase()] ?? '');
    must(declared.split(/, */).includes('transcript'), `${relayCapabilitiesHeader} names transcript, came ${declared}`);
  }),
  rule('10.2', 'TRANSCRIPT reaches apps that asked, as it is; others as output, or not at all', async (world) => {
    const daemon = await declaring(world, 'transcript');
    const session = await world.session({}, daemon);
    const task = await world.running(session, undefined, daemon);
    const headers = { Authorization: `Bearer ${world.token}` };
    const apps = {
      transcript: await world.openApp({ headers, query: { events: 'output,transcript' } }, 'an app with transcript'),
      output: await world.openApp({ headers, query: { events: 'output' } }, 'an app with output'),
      plain: await world.plain(),
    };
    const from = apps.plain.inbox.mark();
    const words = `looking ${randomUUID()}`;
    const ops = [
      { op: 'put', item: { uuid: 'u1', seq: 1, part: { kind: 'of a later release', deep: { v: 1 } } } },
      { op: 'add', uuid: 'u1', text: words },
    ];
    daemon.send({
      type: 'event',
      event_type: 'TRANSCRIPT',
      task_id: task.id,
      session_id: session.native,
      v: 7,
      ops,
    });
    const { inbox } = apps.transcript;
    const live = await inbox.until('transcript', ({ sessionId }) => sessionId === session.id);
    same([live.v, live.ops], [7, ops], 'version and operations');
    const output = await apps.output.inbox.until('task_output', ({ sessionId }) => sessionId === session.id);
    same([output.output, output.taskId, output.sequence], [words, task.id, 1], 'task_output');
    await world.caughtUp(session, daemon);
    const others = apps.plain.about([session.id], from).map(({ type }) => type);
    must(
      !others.some((type) => type === 'transcript' || type === 'task_output'),
      'an app that did not ask got neither',
    );
    same(inbox.all('task_output').length, 0, 'outputs of an app with transcript');
    daemon.event(task.id, 'TASK_COMPLETE', { session_id: session.native, result: 'done' });
  }),
  rule('6.18', 'history with parts=1 is asked for with parts, and answered as it is', async (world) => {
    const daemon = await declaring(world, 'transcript');
    const session = await world.session({}, daemon);
    const item = {
      uuid: 'u1',
      role: 'AGENT',
      content: 'Edited.',
      timestamp: '2024-01-01T00:00:00.000Z',
      seq: 1,
      v: 7,
      part: { kind: 'tool', id: 't1', title: 'Edit', status: 'completed' },
    };
    daemon.answers(session.native, ({ parts, changed }) =>
      parts ? { v: 7, ...(changed === undefined ? {} : { reset: true }), messages: [item] } : { messages: [] },
    );
    const params = { id: session.id };
    const page = await world.rest.ok('readMessages', { params, query: { parts: '1', changed: 3 } });
    same([page.body.v, page.body.reset, page.body.messages], [7, true, [item]], 'v, reset and items');
    const detail = await world.rest.ok('readSession', { params, query: { parts: '1' } });
    same([detail.body.id, detail.body.v, detail.body.messages], [session.id, 7, [item]], 'id, v and items');
    const today = await world.rest.ok('readMessages', { params });
    same([today.body.v, today.body.messages], [undefined, []], 'v and messages without parts=1');
  }),
  rule('10.5', 'a message has the same uuid in the answer, with its task and in the conversation', async (world) => {
    const daemon = await declaring(world, 'transcript');
    const session = await world.session({}, daemon);
    const plain = await world.plain();
    const from = plain.inbox.mark();
    const content = `again ${randomUUID()}`;
    const { body } = await world.rest.ok('sendMessage', { params: { id: session.id }, body: { content } });
    const frame = await daemon.inbox.until('task_resume', ({ task_id }) => task_id === body.taskId);
    same(frame.message_uuid, body.message.uuid, 'message_uuid');
    // The daemon repeats the message, and sends the same text twice.
    const said = { session_id: session.native, content, timestamp: nowText() };
    daemon.event(frame.task_id, 'USER_MESSAGE', { ...said, uuid: body.message.uuid });
    const uuids = [randomUUID(), randomUUID(), randomUUID()];
    for (const uuid of uuids.slice(0, 2)) daemon.event(frame.task_id, 'AGENT_RESPONSE', { ...said, uuid });
    daemon.event(frame.task_id, 'TASK_COMPLETE', {
      session_id: session.native,
      result: content,
      message_uuid: uuids[2],
    });
    await world.caughtUp(session, daemon);
    const heard = plain
      .about([session.id], from)
      .flatMap((one) => (one.type === 'new_message' && one.message.content === content ? [one.message.uuid] : []));
    same(heard, [body.message.uuid, ...uuids], 'uuids of the conversation');
    await daemon.close();
  }),
];
