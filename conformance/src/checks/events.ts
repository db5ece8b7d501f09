/** The effects of each event of a daemon, and the frames that apps get, in order (specification §3, §6.1, §6.3; rules, 11.4). */
import { randomUUID } from 'node:crypto';
import type { AttentionFrame } from '@relay/protocol';
import type { App } from '../app.ts';
import { type Check, rule, specification } from '../check.ts';
import { must, present, same, show } from '../expect.ts';
import type { Session, Task, World } from '../world.ts';

/** A session with a running task, an app with only the ordinary frames, and the position to read that app from. */
async function stage(world: World): Promise<{ session: Session; task: Task; app: App; from: number }> {
  const session = await world.session();
  const task = await world.running(session);
  await world.caughtUp(session);
  const app = await world.plain();
  return { session, task, app, from: app.inbox.mark() };
}

/** Waits for the session_update that completes the task, and returns the frames about the session up to it. */
async function until(
  app: App,
  session: Session,
  taskId: string,
  state: string,
  from: number,
): Promise<readonly AttentionFrame[]> {
  const last = await app.inbox.until(
    'session_update',
    (frame) =>
      frame.session.id === session.id &&
      frame.session.lastTask?.id === taskId &&
      frame.session.lastTask.state === state,
    { from, what: `the task is ${state}` },
  );
  const frames = app.about([session.id], from);
  return frames.slice(0, frames.indexOf(last) + 1);
}

/** Exactly one new_message, then the session_update that closes the list. */
function saidThenUpdated(frames: readonly AttentionFrame[], role: string, content: string): void {
  const said = frames.filter((frame) => frame.type === 'new_message');
  same(
    said.map(({ message }) => [message.role, message.content]),
    [[role, content]],
    'messages before the session_update',
  );
  same(frames.at(-1)?.type, 'session_update', 'the last frame');
}

export const events: readonly Check[] = [
  specification(
    '§6.3',
    'event TASK_COMPLETE',
    'the app gets new_message (AGENT, the result), then session_update; the task is completed and the session idle',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const result = `done ${randomUUID()}`;
      (await world.desk()).event(task.id, 'TASK_COMPLETE', { result });
      const frames = await until(app, session, task.id, 'completed', from);
      saidThenUpdated(frames, 'AGENT', result);
      const last = frames.at(-1);
      same(last?.type === 'session_update' && last.session.status, 'idle', 'status of the session');
    },
    { also: ['§6.3 event', '§6.1 new_message', '§6.1 session_update', '§3 Task running: TASK_COMPLETE'] },
  ),
  specification(
    '§6.3',
    'event ERROR',
    'the app gets new_message (SYSTEM, the error), then session_update; task and session are failed',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const error = `broken ${randomUUID()}`;
      (await world.desk()).event(task.id, 'ERROR', { error });
      const frames = await until(app, session, task.id, 'failed', from);
      saidThenUpdated(frames, 'SYSTEM', error);
      const last = frames.at(-1);
      same(last?.type === 'session_update' && last.session.status, 'failed', 'status of the session');
    },
    { also: ['§3 Task running: ERROR'] },
  ),
  specification(
    '§6.3',
    'event WAIT_FOR_USER',
    'the app gets new_message (AGENT, the result), then session_update with the prompt; the answer goes out as task_resume',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const result = `I could do either ${randomUUID()}`;
      const options = [{ label: 'This' }, { label: 'That' }];
      (await world.desk()).event(task.id, 'WAIT_FOR_USER', { prompt: 'Which one?', result, options });
      const frames = await until(app, session, task.id, 'waiting', from);
      saidThenUpdated(frames, 'AGENT', result);
      const last = frames.at(-1);
      must(last?.type === 'session_update', 'expected a session_update');
      same(last.session.status, 'waiting', 'status of the session');
      const prompt = present(last.session.prompt, 'prompt');
      same(
        [prompt.prompt, prompt.result, prompt.options.map(({ label }) => ({ label }))],
        ['Which one?', result, options],
        'prompt, result and options',
      );
      (await world.desk()).status([]);
      const after = app.inbox.mark();
      const answer = await world.running(session, 'That');
      same(
        [answer.frame.session_id, answer.frame.message],
        [session.native, 'That'],
        'session_id and message of the answer',
      );
      must(answer.id !== task.id, 'expected the answer to have a task_id of its own');
      const active = await app.inbox.until(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.status === 'active',
        { from: after },
      );
      same(active.session.prompt, undefined, 'prompt after the answer');
      (await world.desk()).event(answer.id, 'TASK_COMPLETE', { result: 'that it is' });
    },
    { also: ['§3 Task running: WAIT_FOR_USER', '§2.4 Option label'] },
  ),
  rule(
    '5.2',
    'a question has an id: its first answer counts and reaches the daemon once, any other one is refused with the reason',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const daemon = await world.desk();
      const options = [{ label: 'Allow' }, { label: 'Refuse' }];
      daemon.event(task.id, 'WAIT_FOR_USER', { prompt: `May I? ${randomUUID()}`, options });
      const last = (await until(app, session, task.id, 'waiting', from)).at(-1);
      const prompt = present(last?.type === 'session_update' ? last.session.prompts?.[0] : undefined, 'prompts');
      const [, refuse] = prompt.options;
      const uuid = present(prompt.id, 'id of the question');
      const params = { id: session.id, uuid };
      await world.rest.refused('answerPrompt', 'PROMPT_NOT_FOUND', {
        params: { ...params, uuid: randomUUID() },
        body: { option: '1' },
      });
      await world.rest.refused('answerPrompt', 'INVALID_ANSWER', { params, body: { option: 'no such option' } });
      await world.rest.refused('answerPrompt', 'PROMPT_SUPERSEDED', {
        params,
        body: { option: present(refuse?.id, 'id of the option'), digest: 'another' },
      });
      const body = { option: present(refuse?.id, 'id of the option'), digest: prompt.digest };
      const headers = { 'Idempotency-Key': randomUUID() };
      const answered = await world.rest.ok('answerPrompt', { params, body, headers });
      same(
        [answered.status, answered.body.promptId, answered.body.sessionId, answered.body.message.content],
        [202, uuid, session.id, 'Refuse'],
        'answer',
      );
      const frame = await daemon.inbox.until('task_resume', ({ task_id }) => task_id === answered.body.taskId);
      same(frame.message, 'Refuse', 'message of task_resume');
      const again = await world.rest.ok('answerPrompt', { params, body, headers });
      same(again.body.taskId, answered.body.taskId, 'task of the repeated request');
      const late = await world.rest.refused('answerPrompt', 'PROMPT_ALREADY_ANSWERED', { params, body });
      const { answer } = late.body as { answer?: { option?: string } };
      same(answer?.option, body.option, 'option of the first answer');
      await world.rest.refused('sendMessage', 'PROMPT_ALREADY_ANSWERED', {
        params: { id: session.id },
        body: { content: 'Allow', answers: uuid },
      });
      daemon.event(answered.body.taskId, 'TASK_COMPLETE', { result: 'not done' });
    },
  ),
  rule(
    '5.9',
    'WAIT_FOR_USER without result and options shows the prompt itself; a waiting task that leaves status is not lost',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const prompt = `May I? ${randomUUID()}`;
      const daemon = await world.desk();
      daemon.event(task.id, 'WAIT_FOR_USER', { prompt });
      const frames = await until(app, session, task.id, 'waiting', from);
      saidThenUpdated(frames, 'AGENT', prompt);
      const last = frames.at(-1);
      same(last?.type === 'session_update' && last.session.prompt?.options, [], 'options');
      daemon.status([]);
      await world.caughtUp(session);
      const changed = app.inbox.all(
        'session_update',
        (frame) => frame.session.id === session.id && frame.session.status !== 'waiting',
        from,
      );
      same(
        changed.map(({ session: { status } }) => status).filter((status) => status !== 'active'),
        [],
        'states after the prompt',
      );
    },
  ),
  specification('§6.3', 'event PROGRESS', 'the app gets session_update with action and target', async (world) => {
    const { session, task, app, from } = await stage(world);
    const daemon = await world.desk();
    daemon.event(task.id, 'PROGRESS', { action: 'Reading', target: 'README.md' });
    const shown = await app.inbox.until(
      'session_update',
      (frame) => frame.session.id === session.id && frame.session.progress?.action === 'Reading',
      { from },
    );
    same(shown.session.progress?.target, 'README.md', 'target');
    daemon.event(task.id, 'PROGRESS', { action: 'Thinking', target: '' });
    await app.inbox.until(
      'session_update',
      (frame) => frame.session.progress?.action === 'Thinking' && frame.session.progress.target === '',
      { from },
    );
    daemon.event(task.id, 'TASK_COMPLETE', { result: 'read' });
  }),
  rule(
    '11.4',
    'PROGRESS is coalesced to 2 a second, the latest wins, and other frames are not held up',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const daemon = await world.desk();
      const startedAtMs = Date.now();
      const burst = 60;
      for (let step = 1; step <= burst; step += 1)
        daemon.event(task.id, 'PROGRESS', { action: 'Counting', target: String(step) });
      await world.caughtUp(session);
      await app.inbox.until('session_update', (frame) => frame.session.progress?.target === String(burst), {
        from,
        what: 'the latest progress',
      });
      const seconds = Math.ceil((Date.now() - startedAtMs) / 1000);
      const shown = app.inbox.all('session_update', (frame) => frame.session.id === session.id, from).length;
      must(
        shown <= 2 * seconds + 2,
        `expected at most ${2 * seconds + 2} updates in ${seconds} s for ${burst} PROGRESS events, came ${shown}`,
      );
      daemon.event(task.id, 'TASK_COMPLETE', { result: 'counted' });
    },
  ),
  rule('11.4', 'progress that was held back does not come after the end of its task', async (world) => {
    const marker = await stage(world);
    const { session, task, app, from } = await stage(world);
    const daemon = await world.desk();
    for (let step = 0; step < 5; step += 1) daemon.event(task.id, 'PROGRESS', { action: 'Old', target: String(step) });
    daemon.event(task.id, 'TASK_COMPLETE', { result: 'over' });
    await until(app, session, task.id, 'completed', from);
    const after = app.inbox.mark();
    // Progress of another session, held back as well, but later: when it arrives, anything held back earlier has arrived.
    daemon.event(marker.task.id, 'PROGRESS', { action: 'Marker', target: '1' });
    daemon.event(marker.task.id, 'PROGRESS', { action: 'Marker', target: '2' });
    await app.inbox.until(
      'session_update',
      (frame) => frame.session.id === marker.session.id && frame.session.progress?.target === '2',
      { from: after },
    );
    const stale = app.inbox.all('session_update', (frame) => frame.session.id === session.id, after);
    same(stale, [], 'updates of the session after the end of its task');
    daemon.event(marker.task.id, 'TASK_COMPLETE', { result: 'over, too' });
  }),
  specification(
    '§6.3',
    'event OUTPUT',
    'sockets that asked with events=output get task_output, the others nothing',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const asked = await world.app();
      const daemon = await world.desk();
      const output = `+ line ${randomUUID()}`;
      daemon.event(task.id, 'OUTPUT', { output });
      const frame = await asked.inbox.until('task_output', (shown) => shown.output === output);
      same([frame.sessionId, frame.taskId], [session.id, task.id], 'sessionId and taskId');
      daemon.event(task.id, 'VERBOSE', { content: `${output} in other words` });
      await asked.inbox.until('task_output', (shown) => shown.output === `${output} in other words`, {
        what: 'VERBOSE is like OUTPUT',
      });
      await world.caughtUp(session);
      // Any other frame would be a violation in every check.
      same(
        app.about([session.id], from).map(({ type }) => type),
        ['new_message'],
        'frames of the app that did not ask',
      );
      daemon.event(task.id, 'TASK_COMPLETE', { result: 'printed' });
    },
  ),
  rule(
    '9.10',
    'AGENT_RESPONSE and USER_MESSAGE without a task are the live transcript of a session started locally',
    async (world) => {
      const session = await world.session();
      const { inbox } = await world.plain();
      const daemon = await world.desk();
      const timestamp = '2024-05-06T07:08:09.000Z';
      for (const [eventType, role] of [
        ['USER_MESSAGE', 'USER'],
        ['AGENT_RESPONSE', 'AGENT'],
      ] as const) {
        const uuid = randomUUID();
        const content = `${role} says ${uuid}`;
        daemon.event('', eventType, { session_id: session.native, uuid, content, timestamp });
        const { message, sessionId } = await inbox.until('new_message', (frame) => frame.message.uuid === uuid, {
          what: eventType,
        });
        same(
          [sessionId, message.role, message.content, message.timestamp],
          [session.id, role, content, timestamp],
          eventType,
        );
      }
    },
  ),
  rule(
    '12.2',
    'a message of the user that comes back under its user_message_uuid is not repeated, whatever its text',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const daemon = await world.desk();
      const uuid = randomUUID();
      const answers = [`half an answer ${randomUUID()}`, `the other half ${randomUUID()}`];
      for (const content of answers)
        daemon.event(task.id, 'AGENT_RESPONSE', {
          session_id: session.native,
          uuid: randomUUID(),
          content,
          user_message_uuid: uuid,
        });
      daemon.event('', 'USER_MESSAGE', { session_id: session.native, uuid, content: 'the same, with context added' });
      const marker = await world.caughtUp(session);
      const said = app.inbox.all('new_message', ({ sessionId }) => sessionId === session.id, from);
      same(
        said.map(({ message }) => message.content),
        [...answers, marker.message.content],
        'messages',
      );
      daemon.event(task.id, 'TASK_COMPLETE', { result: 'done' });
    },
  ),
  rule(
    '12.3',
    'the reports of one turn are one set of messages, whichever way they come; what the user said over REST is not repeated',
    async (world) => {
      const { session, task, app, from } = await stage(world);
      const daemon = await world.desk();
      const answer = `the answer ${randomUUID()}`;
      const uuid = randomUUID();
      daemon.event('', 'USER_MESSAGE', { session_id: session.native, uuid: randomUUID(), content: task.frame.message });
      daemon.event(task.id, 'AGENT_RESPONSE', { session_id: session.native, uuid, content: answer });
      daemon.event(task.id, 'TASK_COMPLETE', { session_id: session.native, result: answer });
      daemon.event('', 'AGENT_RESPONSE', { session_id: session.native, uuid, content: answer });
      await until(app, session, task.id, 'completed', from);
      const marker = await world.caughtUp(session);
      const said = app.inbox.all('new_message', ({ sessionId }) => sessionId === session.id, from);
      same(
        said.map(({ message }) => [message.uuid, message.content]),
        [
          [uuid, answer],
          [marker.message.uuid, marker.message.content],
        ],
        'messages',
      );
    },
  ),
  rule('12.1', 'text above 256 KiB is cut in new_message, and says so', async (world) => {
    const session = await world.session();
    const { inbox } = await world.plain();
    const uuid = randomUUID();
    const content = 'ü'.repeat(200 * 1024);
    (await world.desk()).event('', 'AGENT_RESPONSE', { session_id: session.native, uuid, content });
    const { message } = await inbox.until('new_message', (frame) => frame.message.uuid === uuid);
    const bytes = Buffer.byteLength(message.content);
    same(message.truncated, true, 'truncated');
    must(bytes <= 256 * 1024 && bytes > 255 * 1024, `expected a text of almost 256 KiB, came ${bytes} bytes`);
    must(
      content.startsWith(message.content),
      `expected the beginning of the text, came ${show(message.content.slice(-10))}`,
    );
  }),
];
