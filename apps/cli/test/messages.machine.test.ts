import { describe, expect, it } from '@jest/globals';
import { scene, tellHistory } from './scene.ts';

const stage = scene();

interface TaskFrame {
  task_id: string;
  instruction?: string;
  message?: string;
  project_path?: string;
}

describe('relay queue', () => {
  const textsOf = ({ tasks }: Record<string, unknown>) =>
    (tasks as { content: string }[]).map(({ content }) => content);

  /** A session with a running task and these messages in its queue. Returns all their ids. */
  const line = async (...texts: string[]) => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'line');
    const send = async (content: string) =>
      (await stage.person.relay.call('POST', `/api/sessions/${encodeURIComponent(id)}/messages`, { body: { content } }))
        .body as { taskId: string };
    const { taskId: running } = await send('runs');
    await daemon.next('task_resume', (frame) => frame.task_id === running);
    const tasks: string[] = [];
    for (const text of texts) tasks.push((await send(text)).taskId);
    return { id, running, tasks };
  };
  const queue = async (...more: string[]) => stage.own.json(['queue', 'line', ...more]);

  it('lists the queue, edits and moves a message, by the last characters of an id', async () => {
    const { tasks } = await line('one', 'two');
    const [one, two] = tasks.map((id) => id.slice(-8)) as [string, string];
    expect(textsOf(await queue('edit', one.toLowerCase(), 'another one'))).toEqual(['another one', 'two']);
    expect(textsOf(await queue('move', two, '--before', one))).toEqual(['two', 'another one']);
    expect((await stage.own.run(['queue', 'line'])).out).toMatch(
      new RegExp(`^TASK +SENT +MESSAGE\\n${two} .* two\\n${one} .* another one\\n$`),
    );
  });

  it('removes queued messages, and reports messages that left the queue', async () => {
    const { id, running, tasks } = await line('one', 'two');
    const one = tasks[0]!;
    expect(await queue('remove', one)).toMatchObject({ exit: 0, taskId: one, state: 'cancelled' });
    expect(await queue('remove', running)).toMatchObject({ exit: 1, code: 'TASK_ALREADY_SENT' });
    expect(await queue('remove', 'nothing')).toMatchObject({ exit: 4, code: 'TASK_NOT_FOUND' });
    expect((await queue('clear', one)).exit).not.toBe(0);
    expect(textsOf(await queue('clear'))).toEqual([]);
    await stage.person.relay.call('POST', `/api/sessions/${encodeURIComponent(id)}/messages`, {
      body: { content: 'three' },
    });
    expect((await stage.own.run(['cancel', 'line', '--all'])).out).toBe(
      `Task ${running} is cancelled, and 1 queued behind it.\n`,
    );
  });
});

describe('relay new', () => {
  it('starts a session on a device and names it', async () => {
    const daemon = await stage.daemon('laptop');
    const { code, out } = await stage.own.run([
      'new',
      'laptop',
      'Hello',
      '--project',
      '/src/app',
      '--title',
      'Greeting',
    ]);
    expect(code).toBe(0);
    expect(out).toMatch(/^Session \S{26} on laptop\. Task \S+: queued\.\n$/);
    expect(await daemon.next('task_start')).toMatchObject({ instruction: 'Hello', project_path: '/src/app' });
    const { sessions } = await stage.own.json(['sessions']);
    expect(sessions).toEqual([expect.objectContaining({ title: 'Greeting', projectPath: '/src/app' })]);
  });

  it('gives it a name that works before and after the device has named it', async () => {
    const daemon = await stage.daemon('laptop');
    const { out } = await stage.own.run(['new', 'laptop', 'Hello']);
    const name = /Session (\S+)/.exec(out)![1]!;
    expect(await stage.own.json(['send', name, 'More'])).toMatchObject({
      exit: 0,
      sessionId: `${daemon.deviceId}:scripted:PENDING-${name}`,
    });
    const { task_id: task } = (await daemon.next('task_start')) as unknown as TaskFrame;
    daemon.event(task, 'SESSION_STARTED', { session_id: 'real-name' });
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'real-name', result: 'ok' });
    await daemon.next('task_resume');
    const told = tellHistory(daemon);
    expect(await stage.own.json(['send', name, 'Still'])).toMatchObject({
      exit: 0,
      sessionId: `${daemon.deviceId}:scripted:real-name`,
    });
    await told;
    expect(await stage.own.json(['send', '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x'])).toMatchObject({ exit: 4 });
  });

  it('reads the message from a pipe', async () => {
    const daemon = await stage.daemon('laptop');
    expect((await stage.own.run(['new', 'laptop'], {}, 'two\nlines\n')).code).toBe(0);
    expect(await daemon.next('task_start')).toMatchObject({ instruction: 'two\nlines' });
    expect((await stage.own.run(['new', 'laptop', '-'], {}, 'again')).code).toBe(0);
    expect(await daemon.next('task_start')).toMatchObject({ instruction: 'again' });
  });

  it('with --watch exits with 4 when the device is removed', async () => {
    const daemon = await stage.daemon('laptop');
    await daemon.drop();
    const program = stage.own.start(['new', 'laptop', 'Work', '--watch']);
    await program.says('queued');
    await stage.person.relay.call('DELETE', `/api/devices/${daemon.deviceId}`);
    expect(await program.exit).toMatchObject({ code: 4, err: expect.stringContaining('The device was removed.') });
  });

  it('with --watch prints the conversation until the task completes', async () => {
    const daemon = await stage.daemon('laptop');
    const program = stage.own.start(['new', 'laptop', 'Work', '--watch', '--output']);
    const { task_id: task } = (await daemon.next('task_start')) as unknown as TaskFrame;
    daemon.event(task, 'SESSION_STARTED', { session_id: 'n1' });
    daemon.event(task, 'PROGRESS', { session_id: 'n1', action: 'Reading', target: 'src/a.ts' });
    daemon.event(task, 'OUTPUT', { session_id: 'n1', output: 'a line of output' });
    await program.says('Reading src/a.ts');
    await program.says('a line of output');
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'n1', result: 'All \u001b[31mdone\u001b[0m.' });
    const { code, out, err } = await program.exit;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/agent \d\d:\d\d:\d\d\nAll done\.\n/);
    expect(out).not.toContain('you ');
  });

  it('with --watch exits with 1 when the agent fails, and prints the reason', async () => {
    const daemon = await stage.daemon('laptop');
    const program = stage.own.start(['new', 'laptop', 'Work', '--watch', '--json']);
    const { task_id: task } = (await daemon.next('task_start')) as unknown as TaskFrame;
    daemon.event(task, 'SESSION_STARTED', { session_id: 'n2' });
    daemon.event(task, 'ERROR', { session_id: 'n2', error: 'out of tea' });
    const { code } = await program.exit;
    expect(code).toBe(1);
    const lines = program.lines();
    expect(lines[0]).toMatchObject({ type: 'created', taskId: task });
    expect(lines).toContainEqual(
      expect.objectContaining({
        type: 'new_message',
        message: expect.objectContaining({ role: 'SYSTEM', content: 'out of tea' }),
      }),
    );
    expect(lines.at(-1)).toMatchObject({
      type: 'task',
      task: { id: task, state: 'failed', error: { code: 'AGENT_ERROR' } },
    });
  });

  it('reports that a message waits for an offline device, and fails with --no-queue', async () => {
    const daemon = await stage.daemon('laptop');
    await daemon.drop();
    const refused = await stage.own.json(['new', 'laptop', 'Hello', '--no-queue']);
    expect(refused).toMatchObject({ exit: 5, code: 'DEVICE_OFFLINE' });
    const waiting = await stage.own.json(['new', 'laptop', 'Hello', '--ttl', '60']);
    expect(waiting).toMatchObject({ exit: 0, status: 'pending' });
    expect((await stage.own.run(['cancel', waiting.id])).out).toContain('cancelled');
    expect(await stage.own.json(['cancel', waiting.id])).toMatchObject({ exit: 1, code: 'NO_RUNNING_TASK' });
  });

  it('refuses input that the relay would refuse, before sending it', async () => {
    await stage.daemon('laptop');
    expect(await stage.own.json(['new', 'laptop', ' '])).toMatchObject({ exit: 2 });
    expect(await stage.own.json(['new', 'laptop', 'x', '--ttl', '1e3'])).toMatchObject({ exit: 2 });
    expect(await stage.own.json(['new', 'laptop', 'x', '--ttl', '5', '--no-queue'])).toMatchObject({ exit: 2 });
    expect(await stage.own.json(['new', 'laptop', 'x', '--key', 'a b'])).toMatchObject({ exit: 2 });
    expect(await stage.own.json(['new', 'unknown', 'x'])).toMatchObject({ exit: 4 });
    const large = await stage.own.run(['new', 'laptop', '-'], {}, 'x'.repeat(256 * 1024 + 1));
    expect(large).toMatchObject({ code: 2, out: '' });
    expect((await stage.own.json(['sessions'])).sessions).toEqual([]);
  });
});

describe('relay send', () => {
  it('prints the task and its state', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'conversation-one');
    const { code, out } = await stage.own.run(['send', 'tion-one', 'More']);
    expect(code).toBe(0);
    const { task_id: task, message } = (await daemon.next('task_resume')) as unknown as TaskFrame;
    expect(message).toBe('More');
    expect(out).toBe(`Sent to tion-one. Task ${task}: queued.\n`);
    expect(await stage.own.json(['send', id, 'Even more'])).toMatchObject({ exit: 0, sessionId: id, state: 'queued' });
  });

  it('sends once although the first answer was lost', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'once');
    await stage.own.json(['whoami']);
    stage.world.front.loseAnswer('POST /api/sessions/');
    expect(await stage.own.json(['send', id, 'Only once'])).toMatchObject({ exit: 0, replayed: true });
    const { task_id: task } = (await daemon.next('task_resume')) as unknown as TaskFrame;
    daemon.event(task, 'TASK_COMPLETE', { session_id: 'once', result: 'ok' });
    expect((await stage.own.run(['send', id, 'Then this'])).code).toBe(0);
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'Then this' });
  });

  it('with a key from the user sends once in two runs', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'keyed');
    const first = await stage.own.json(['send', id, 'Deploy', '--key', 'release-1']);
    expect(await stage.own.run(['send', id, 'Deploy', '--key', 'release-1'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(`${first.taskId}.*nothing was sent again`),
    });
    expect(await stage.own.json(['send', id, 'Other', '--key', 'release-1'])).toMatchObject({
      exit: 1,
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('exits with 75 when the relay is unreachable, and with 4 for an unknown session', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'away');
    expect(await stage.own.json(['send', `${id}-not`, 'x'])).toMatchObject({
      exit: 4,
      code: 'SESSION_NOT_FOUND',
      status: 404,
      error: expect.stringContaining('relay sessions'),
    });
    expect(await stage.own.json(['send', 'nothing', 'x'])).toMatchObject({ exit: 4 });
    stage.world.front.setDown(true);
    expect(await stage.own.json(['send', id, 'x'])).toMatchObject({ exit: 75, code: 'UNREACHABLE' });
  });
});

describe('relay answer', () => {
  it('shows the question, and answers with a choice or a text', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'asking');
    expect(await stage.own.json(['answer', id, 'yes'])).toMatchObject({ exit: 1, code: 'NOT_WAITING' });

    const program = stage.own.start(['send', id, 'Shall we?', '--watch']);
    const ask = (await daemon.next('task_resume')) as unknown as TaskFrame;
    daemon.event(ask.task_id, 'WAIT_FOR_USER', {
      session_id: 'asking',
      prompt: 'Which one?',
      result: 'There are two.',
      options: [{ label: 'the red one' }, { label: 'the blue one' }],
    });
    const asked = await program.exit;
    expect(asked.code).toBe(0);
    expect(asked.out).toContain('There are two.');
    expect(asked.out).toMatch(/The agent asks: Which one\?\n {2}1\) the red one\n {2}2\) the blue one\n/);

    const shown = (await stage.own.run(['answer', 'asking'])).out;
    expect(shown).toContain('2) the blue one');
    const question = / --question ([0-9a-f]{8}) --option <number>/.exec(shown)?.[1] ?? '';
    expect(await stage.own.json(['answer', id, '--option', '2', '--question', '00000000'])).toMatchObject({
      exit: 1,
      code: 'PROMPT_SUPERSEDED',
    });
    expect(await stage.own.json(['answer', id, '--option', '3'])).toMatchObject({ exit: 2 });
    expect(await stage.own.json(['answer', id, 'x', '--option', '1'])).toMatchObject({ exit: 2 });
    const answer = ['answer', id, '--option', '2', '--question', question];
    expect(await stage.own.json(answer)).toMatchObject({ exit: 0, sessionId: id, state: 'queued' });
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'the blue one' });
  });

  it('K0: never reaches a question that came after the displayed one', async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'asking');
    const ask = async (prompt: string) => {
      expect(await stage.own.json(['send', id, 'Go on', '--key', `go ${prompt}`.replaceAll(' ', '-')])).toMatchObject({
        exit: 0,
      });
      const task = (await daemon.next('task_resume')) as unknown as TaskFrame;
      daemon.event(task.task_id, 'WAIT_FOR_USER', {
        session_id: 'asking',
        prompt,
        result: '',
        options: [{ label: 'Allow' }, { label: 'Reject' }],
      });
      for (;;) {
        const { out } = await stage.own.run(['answer', id]);
        const shown = out.includes(prompt) ? / --question ([0-9a-f]{8})/.exec(out)?.[1] : undefined;
        if (shown !== undefined) return shown;
      }
    };
    const first = await ask('Run the tests?');
    expect(await stage.own.json(['answer', id, 'Something else', '--question', first])).toMatchObject({ exit: 0 });
    const task = (await daemon.next('task_resume')) as unknown as TaskFrame;
    daemon.event(task.task_id, 'TASK_COMPLETE', { session_id: 'asking', result: 'Done.' });
    const second = await ask('Delete everything?');
    expect(second).not.toBe(first);
    expect(await stage.own.json(['answer', id, '--option', '1', '--question', first])).toMatchObject({
      exit: 1,
      code: 'PROMPT_SUPERSEDED',
    });
    expect(await stage.own.json(['answer', id, '--option', '2', '--question', second])).toMatchObject({ exit: 0 });
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'Reject' });
  });
});

describe('relay pin, read and tidy', () => {
  it('marks a session, finds it by its text, and deletes matching sessions', async () => {
    const daemon = await stage.daemon('laptop');
    await stage.session(daemon, 'walrus', 'Feed the walrus');
    await stage.session(daemon, 'heron', 'Count the herons');
    expect((await stage.own.run(['folders', 'laptop'])).out).toContain('No session of this device');
    expect((await stage.own.run(['read', 'walrus'])).out).toBe('walrus: read.\n');
    expect((await stage.own.run(['pin', 'walrus'])).out).toBe('walrus: read, pinned.\n');
    const { out } = await stage.own.run(['sessions', '--search', 'walr']);
    expect(out).toContain('^ Feed the walrus');
    expect(out).not.toContain('heron');
    expect((await stage.own.run(['tidy', 'delete', '--search', 'walr'])).code).toBe(2);
    expect((await stage.own.run(['tidy', 'delete', '--search', 'walr', '--yes'])).out).toBe('1 session is deleted.\n');
    expect((await stage.own.run(['sessions', '--pinned'])).out).toContain('No sessions');
    expect((await stage.own.run(['sessions', '--search', 'walr'])).out).toBe('No session matches "walr".\n');
  });
});

describe('relay sessions', () => {
  it('lists them newest first, with the shortest distinct ids, and by device and status', async () => {
    expect((await stage.own.run(['sessions'])).out).toContain('relay new');
    const [laptop, desktop] = [await stage.daemon('laptop'), await stage.daemon('desktop')];
    await stage.session(laptop, 'aaaa-same-ending', 'First');
    await stage.session(desktop, 'bbbb-same-ending', 'Second');
    const { out } = await stage.own.run(['sessions']);
    const rows = out.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^ID +STATUS +DEVICE +TITLE +CHANGED$/);
    expect(rows[1]).toMatch(/^b-same-ending +idle +desktop +(?:\* )?Second +just now$/);
    expect(rows[2]).toMatch(/^a-same-ending +idle +laptop +(?:\* )?First +just now$/);
    expect((await stage.own.json(['sessions', '--device', 'desktop'])).sessions).toHaveLength(1);
    expect((await stage.own.json(['sessions', '--status', 'failed'])).sessions).toEqual([]);
    expect(await stage.own.json(['sessions', '--status', 'odd'])).toMatchObject({ exit: 2 });
    expect(await stage.own.json(['send', 'same-ending', 'x'])).toMatchObject({ exit: 2, code: 'AMBIGUOUS' });
    await stage.person.relay.call(
      'PATCH',
      `/api/sessions/${encodeURIComponent(`${laptop.deviceId}:scripted:aaaa-same-ending`)}`,
      {
        body: { archived: true },
      },
    );
    expect((await stage.own.json(['sessions'])).sessions).toHaveLength(1);
    expect((await stage.own.run(['sessions', '--all'])).out).toContain('First (archived)');
  });
});

describe('relay settings', () => {
  it('shows the options, sets one by id or name, and lists the valid ones after an error', async () => {
    const daemon = await stage.daemon('laptop', undefined, { 'X-Daemon-Capabilities': 'settings' });
    await stage.session(daemon, 'chosen-one');
    const options = [
      { id: 'ask', name: 'Ask' },
      { id: 'code', name: 'Write code' },
    ];
    const mode = { id: 'mode', kind: 'mode', name: 'Mode', value: 'ask', options };
    const answer = async (value = 'ask') => {
      const frame = await daemon.next('settings_request');
      const settings = [{ ...mode, value }];
      const about = { request_id: frame.request_id as string, session_id: 'chosen-one' };
      daemon.send({ type: 'settings_response', ...about, settings });
      return frame;
    };
    const shown = stage.own.run(['settings', 'chosen-one']);
    await answer();
    expect((await shown).out).toBe('mode: Mode\n* ask (Ask)\n  code (Write code)\n');
    const chosen = stage.own.run(['settings', 'chosen-one', 'Mode', 'write code']);
    await answer();
    expect((await answer('code')).change).toEqual({ id: 'mode', value: 'code' });
    expect((await chosen).out).toBe('mode: Mode\n  ask (Ask)\n* code (Write code)\n');
    const odd = stage.own.run(['settings', 'chosen-one', 'mode', 'paint']);
    await answer();
    expect(await odd).toMatchObject({ code: 2, err: expect.stringContaining('There are: ask, code.') });
  });
});

describe('a session that a terminal has open', () => {
  const held = {
    state: 'idle',
    program: 'Claude Code',
    terminal: 'pts/3',
    since: '2026-11-28T08:52:11.000Z',
    at: '2026-11-28T09:04:02.000Z',
    sure: true,
    ends: true,
  };

  it('44: appears with its program in the list, accepts --desk with a message, and closes with its turn', async () => {
    const daemon = await stage.daemon('laptop', undefined, { 'X-Daemon-Capabilities': 'desk, transcript, prompts' });
    await stage.session(daemon, 'held-one');
    daemon.send({ type: 'session_held', session_id: 'held-one', held });
    while (!(await stage.own.run(['sessions'])).out.includes('idle, open in Claude Code'));
    expect(await stage.own.run(['send', 'held-one', 'go on', '--desk', 'take'])).toMatchObject({ code: 0 });
    const task = await daemon.next('task_resume');
    expect(task).toMatchObject({ message: 'go on', desk: 'take' });
    daemon.event(task.task_id as string, 'TASK_COMPLETE', { result: 'done' });
    expect(await stage.own.run(['send', 'held-one', 'go on', '--desk', 'later'])).toMatchObject({ code: 2 });
    const released = stage.own.run(['release', 'held-one', '--stop-turn']);
    const { request_id: requestId, stop_turn: stopTurn } = await daemon.next('force_quit_session');
    expect(stopTurn).toBe(true);
    daemon.send({ type: 'force_quit_result', request_id: requestId, session_id: 'held-one', status: 'released' });
    expect((await released).out).toBe('The program that held the session was closed.\n');
  });

  it('44: relay desk releases the session and prints the command, and never runs a command of the relay', async () => {
    const daemon = await stage.daemon('laptop', undefined, { 'X-Daemon-Capabilities': 'desk' });
    await stage.session(daemon, 'own-one');
    const command = 'cd ~/garden && claude --resume own-one';
    const answer = async (more: object) => {
      const frame = await daemon.next('desk_request');
      daemon.send({ type: 'desk_response', request_id: frame.request_id, session_id: 'own-one', ...more });
      return frame;
    };
    const shown = stage.own.run(['desk', 'own-one']);
    expect((await answer({ free: true, command })).let_go).toBe(true);
    expect(await shown).toMatchObject({ code: 0, out: `Nothing runs here, so the session is free.\n${command}\n` });
    const busy = stage.own.run(['desk', 'own-one']);
    await answer({ free: false, why: 'busy', command });
    expect(await busy).toMatchObject({ code: 1, out: expect.stringContaining('The agent is working.') });
    const gone = stage.own.run(['desk', 'own-one', '--go']);
    await answer({ free: true, command: 'touch /tmp/never' });
    expect(await gone).toMatchObject({ code: 1, err: expect.stringContaining('NO_COMMAND') });
  });
});
