import { afterEach, describe, expect, it } from '@jest/globals';
import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '@relay/daemon-kit';
import type { DoubleConnection } from '@relay/daemon-kit/conformance';
import { lifeLines } from './children.ts';
import { type DemoOptions, demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

/** How long the daemon collects output before it sends it. */
const joinMs = 250;
/** A clock that skips that delay: the output up to the next event is one frame, however long the agent takes. */
const joining: Clock = {
  ...systemClock,
  after: (delayMs, run) => (delayMs === joinMs ? () => undefined : systemClock.after(delayMs, run)),
};

async function begin({
  receipts = true,
  declares = [],
  daemonClock = systemClock,
  ...options
}: DemoOptions & { home?: string; receipts?: boolean; declares?: string[]; daemonClock?: Clock } = {}) {
  const relay = await home.relay({ autoPong: receipts, declares });
  const { agent, ...folders } = demoAgent(home, options);
  const storeDir = home.folder();
  const daemon = home.daemon(relay, agent, { storeDir, clock: daemonClock });
  const connection = await relay.connection();
  await daemon.connected();
  return { relay, daemon, connection, storeDir, ...folders };
}
const start = (connection: DoubleConnection, taskId: string, instruction: string, projectPath?: string) =>
  connection.send({
    type: 'task_start',
    task_id: taskId,
    instruction,
    ...(projectPath === undefined ? {} : { project_path: projectPath }),
  });
const resume = (connection: DoubleConnection, taskId: string, sessionId: string, message: string) =>
  connection.send({ type: 'task_resume', task_id: taskId, session_id: sessionId, message });
/** Opens a session with a completed first turn. */
async function opened(connection: DoubleConnection) {
  start(connection, 't0', 'hello');
  const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't0');
  return sessionId ?? '';
}

describe('an ACP agent', () => {
  it('names the session, streams, and completes with its last message', async () => {
    const { connection, agentHome, defaultPath } = await begin({ daemonClock: joining });
    start(connection, 't1', 'hello there');
    const complete = await connection.event('TASK_COMPLETE', 't1');
    expect(complete.result).toBe('echo 1: hello there');
    await connection.status();
    expect(connection.words().slice(2)).toEqual([
      'status[t1]',
      'SESSION_STARTED t1',
      'OUTPUT t1',
      'TASK_COMPLETE t1',
      'status[]',
    ]);
    const [name = ''] = readdirSync(agentHome);
    expect(name).toBe(`${complete.session_id}.jsonl`);
    const [first = ''] = readFileSync(join(agentHome, name), 'utf8').split('\n');
    expect(JSON.parse(first)).toMatchObject({ cwd: defaultPath, pwd: defaultPath });
  });

  it('continues in the same session, with one turn at a time', async () => {
    const { connection } = await begin();
    const session = await opened(connection);
    resume(connection, 't1', session, 'a');
    resume(connection, 't2', session, 'b');
    expect(await connection.event('TASK_COMPLETE', 't1')).toMatchObject({ result: 'echo 2: a', session_id: session });
    expect(await connection.event('TASK_COMPLETE', 't2')).toMatchObject({ result: 'echo 3: b' });
  });

  it('reports PROGRESS with the command, once per call, and the output of tools', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'tool');
    expect(await connection.event('PROGRESS', 't1')).toMatchObject({ action: 'Running', target: 'ls -la' });
    expect((await connection.event('OUTPUT', 't1')).output).toContain('total 0');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('listed');
    expect(connection.words().filter((word) => word === 'PROGRESS t1')).toHaveLength(1);
  });

  it.each([
    ['plan', 'Planning', 'leap'],
    ['think', 'Thinking', ''],
  ])('reports PROGRESS for a %s, and keeps thoughts to itself', async (word, action, target) => {
    const { connection } = await begin();
    start(connection, 't1', word);
    expect(await connection.event('PROGRESS', 't1')).toMatchObject({ action, target });
    await connection.event('TASK_COMPLETE', 't1');
    expect(JSON.stringify(connection.frames)).not.toContain('secret');
  });

  it("gives the session the agent's title", async () => {
    const { connection, relay } = await begin();
    start(connection, 't1', 'title');
    await connection.event('TASK_COMPLETE', 't1');
    connection.terminate();
    const { sessions } = await (await relay.connection()).frame('report_sessions');
    expect(sessions).toMatchObject([{ title: 'A title of its own', message_count: 2 }]);
  });

  it('completes with the last of several messages', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'two');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('second');
  });

  it('completes with a note when the model reached a limit', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'max');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toMatch(
      /^as far as it goes\n\nThe agent stopped here/,
    );
  });
});

describe('a question of the agent', () => {
  it("is WAIT_FOR_USER with the agent's text, the command and the labels; the answer continues the same turn under a new task", async () => {
    const { connection } = await begin({ daemonClock: joining });
    start(connection, 't1', 'perm');
    const wait = await connection.event('WAIT_FOR_USER', 't1');
    expect(wait).toMatchObject({
      prompt: 'Delete everything?',
      result: 'I would like to delete it.\n\nDelete everything?\n\nrm -r build',
      options: [{ label: 'Allow' }, { label: 'Reject' }],
    });
    await connection.status();
    resume(connection, 't2', wait.session_id ?? '', 'allow');
    expect(await connection.event('TASK_COMPLETE', 't2')).toMatchObject({ result: 'permission: y' });
    await connection.status();
    expect(connection.words().slice(2)).toEqual([
      'status[t1]',
      'SESSION_STARTED t1',
      'PROGRESS t1',
      'OUTPUT t1',
      'WAIT_FOR_USER t1',
      'status[]',
      'status[t2]',
      'OUTPUT t2',
      'TASK_COMPLETE t2',
      'status[]',
    ]);
  });

  it.each([
    ['2', 'permission: n'],
    ['REJECT', 'permission: n'],
    ['1', 'permission: y'],
    ['3', 'echo 2: 3'],
    ['do something else', 'echo 2: do something else'],
  ])(
    'answered with "%s" completes with "%s": a label or its number is the answer, another text is the next message',
    async (words, result) => {
      const { connection } = await begin();
      start(connection, 't1', 'perm');
      const wait = await connection.event('WAIT_FOR_USER', 't1');
      resume(connection, 't2', wait.session_id ?? '', words);
      expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe(result);
      await connection.settle();
      expect(connection.ends('t1')).toHaveLength(1);
      expect(connection.ends('t2')).toHaveLength(1);
    },
  );

  it('follows the answer to the previous question', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'perms');
    const first = await connection.event('WAIT_FOR_USER', 't1');
    resume(connection, 't2', first.session_id ?? '', 'Allow');
    const second = await connection.event('WAIT_FOR_USER', 't2');
    expect([first.prompt, second.prompt]).toEqual(['Run one?', 'Run two?']);
    resume(connection, 't3', first.session_id ?? '', 'Reject');
    expect((await connection.event('TASK_COMPLETE', 't3')).result).toBe('permissions: y n');
  });

  it('can be a form; the choice returns under its field', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'ask');
    const wait = await connection.event('WAIT_FOR_USER', 't1');
    expect(wait).toMatchObject({
      prompt: 'Which color?',
      options: [{ label: 'Red' }, { label: 'Blue' }, { label: 'Decline' }],
    });
    resume(connection, 't2', wait.session_id ?? '', 'blue');
    const { result } = await connection.event('TASK_COMPLETE', 't2');
    expect(result).toBe('elicited: {"action":"accept","content":{"color":"Blue"}}');
  });

  it('A6: can be a form of several fields, asked one by one; a wrong answer is refused and overwrites nothing', async () => {
    const { connection } = await begin();
    let session = '';
    let task = 0;
    const asked = async () => {
      const { session_id: id, prompt, result, options } = await connection.event('WAIT_FOR_USER', `t${task}`);
      session = id ?? '';
      return { prompt, result, options: options?.map(({ label }) => label) };
    };
    const answer = (words: string) => {
      task++;
      resume(connection, `t${task}`, session, words);
    };
    start(connection, 't0', 'details');
    expect(await asked()).toEqual({
      prompt: 'Where does it listen?\nColor',
      result: 'Where does it listen?\nColor\n\nRed: warm',
      options: ['Red', 'Blue', 'Decline'],
    });
    answer('dark green');
    expect(await asked()).toMatchObject({
      prompt: 'Where does it listen?\nColor',
      result: expect.stringMatching(
        /^“dark green” is not a valid answer: it is not one of the choices\n\nWhere does it listen/,
      ),
    });
    answer('Blue');
    expect(await asked()).toMatchObject({
      prompt: 'Where does it listen?\nNote\nWhat else matters',
      options: ['Skip'],
    });
    answer('it is cold');
    expect(await asked()).toEqual({
      prompt: 'Where does it listen?\nPort',
      result: 'Where does it listen?\nPort\n\nA whole number from 1024 to 65535.\nDefault: 8080',
      options: ['8080', 'Decline'],
    });
    answer('80');
    expect((await asked()).result).toMatch(/^“80” is not a valid answer: A whole number from 1024 to 65535\./);
    answer('8080');
    expect(await asked()).toMatchObject({ prompt: 'Where does it listen?\nMail', options: ['Skip'] });
    answer('Skip');
    const { result } = await connection.event('TASK_COMPLETE', `t${task}`);
    expect(result).toBe('elicited: {"action":"accept","content":{"color":"b","note":"it is cold","port":8080}}');
  });

  it('A7: for a write has verb, object and changed lines', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'write');
    expect(await connection.event('WAIT_FOR_USER', 't1')).toMatchObject({
      prompt: 'Write src/a.ts?',
      result: 'Write src/a.ts?\n\nsrc/a.ts (+2 −0)\n+ one\n+ two',
    });
  });

  it.each([
    ['Reject', 'The agent stopped, because it was not allowed to continue.'],
    ['Allow', 'The agent ended its turn without saying anything.'],
  ])('A2: answered with "%s" is not completed with text from before it', async (words, end) => {
    const { connection } = await begin();
    start(connection, 't1', 'permquiet');
    const wait = await connection.event('WAIT_FOR_USER', 't1');
    expect(wait.result).toMatch(/^I would like to delete it\.\n\n/);
    resume(connection, 't2', wait.session_id ?? '', words);
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe(end);
    connection.send({ type: 'get_messages', request_id: 'r', session_id: wait.session_id ?? '', limit: 50 });
    const { messages } = await connection.frame('messages');
    expect(messages?.map(({ content }) => content)).toEqual(['permquiet', wait.result, words, end]);
  });

  it('accepts no earlier message as its answer', async () => {
    const { connection } = await begin();
    const session = await opened(connection);
    resume(connection, 't1', session, 'perm');
    resume(connection, 't2', session, 'Allow');
    await connection.event('WAIT_FOR_USER', 't1');
    expect((await connection.event('ERROR', 't2')).error).toContain('asked a question before');
    resume(connection, 't3', session, 'Reject');
    expect((await connection.event('TASK_COMPLETE', 't3')).result).toBe('permission: n');
  });

  it.each(['withdraw', 'withdrawone'])(
    'A4: that replaces a withdrawn one is shown, and answered: "%s"',
    async (word) => {
      const { connection } = await begin();
      start(connection, 't1', word);
      expect((await connection.event('WAIT_FOR_USER', 't1')).prompt).toBe('Run one?');
      const { prompt, session_id: session } = await connection.event('WAIT_FOR_USER', 't1');
      expect(prompt).toBe('Run two?');
      await connection.settle();
      resume(connection, 't2', session ?? '', 'Allow');
      expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('permission: y');
    },
  );

  it('A4: that replaces another accepts no message from before the relay got it as its answer', async () => {
    const { connection } = await begin({ receipts: false, declares: ['transcript', 'prompts'] });
    start(connection, 't1', 'withdraw');
    await connection.event('WAIT_FOR_USER', 't1');
    const { session_id: session } = await connection.event('WAIT_FOR_USER', 't1');
    resume(connection, 't2', session ?? '', 'Allow');
    expect(await connection.event('ERROR', 't2')).toMatchObject({
      error: 'The agent has asked another question since. Answer that one instead.',
      code: 'PROMPT_SUPERSEDED',
    });
  });

  it('A4: yields to the next step once withdrawn, and a late answer is refused with the reason', async () => {
    const { connection, agentHome } = await begin();
    start(connection, 't1', 'takeback');
    const { session_id: session, result } = await connection.event('WAIT_FOR_USER', 't1');
    writeFileSync(join(agentHome, 'go on'), '');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('done without it');
    const refused =
      '“Run one?” can no longer be answered: the agent no longer waits for an answer. Nothing was sent to the agent.';
    resume(connection, 't2', session ?? '', 'allow');
    expect((await connection.event('ERROR', 't2')).error).toContain(refused);
    resume(connection, 't3', session ?? '', '1');
    expect((await connection.event('ERROR', 't3')).error).toContain(refused);
    resume(connection, 't4', session ?? '', 'hello');
    expect((await connection.event('TASK_COMPLETE', 't4')).result).toBe('echo 2: hello');
    resume(connection, 't5', session ?? '', 'Allow');
    expect((await connection.event('TASK_COMPLETE', 't5')).result).toBe('echo 3: Allow');
    connection.send({ type: 'get_messages', request_id: 'r', session_id: session ?? '', limit: 7 });
    const { messages } = await connection.frame('messages');
    expect(messages?.map(({ role, content }) => `${role} ${content}`)).toEqual([
      'AGENT done without it',
      expect.stringContaining(`SYSTEM ${refused}`),
      expect.stringContaining(`SYSTEM ${refused}`),
      'USER hello',
      'AGENT echo 2: hello',
      'USER Allow',
      'AGENT echo 3: Allow',
    ]);
    expect(result).toBe('May I?\n\nRun one?');
  });

  it('A4: closes with its turn, and the daemon reports the completion', async () => {
    const { connection, agentHome } = await begin();
    start(connection, 't1', 'meanwhile');
    const { session_id: session } = await connection.event('WAIT_FOR_USER', 't1');
    writeFileSync(join(agentHome, 'go on'), '');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('done meanwhile');
    resume(connection, 't2', session ?? '', 'Allow');
    expect((await connection.event('ERROR', 't2')).error).toContain('the agent no longer waits for an answer.');
  });

  it('A4: lets another message wait for the completed turn once withdrawn', async () => {
    const calls = join(home.folder(), 'calls');
    const { connection, agentHome } = await begin({ env: { DEMO_AGENT_CALLS: calls } });
    start(connection, 't1', 'takeback');
    const { session_id: session } = await connection.event('WAIT_FOR_USER', 't1');
    while (!readFileSync(calls, 'utf8').includes('taken back')) await connection.settle();
    await connection.settle();
    resume(connection, 't2', session ?? '', 'something else');
    await connection.status('t2');
    writeFileSync(join(agentHome, 'go on'), '');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('done without it');
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 2: something else');
  });

  it('A4: accepts no answer after its dismissal', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'perm');
    const { session_id: session } = await connection.event('WAIT_FOR_USER', 't1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    resume(connection, 't2', session ?? '', 'Allow');
    expect((await connection.event('ERROR', 't2')).error).toContain('it was dismissed. Nothing was sent');
    resume(connection, 't3', session ?? '', 'hello');
    expect((await connection.event('TASK_COMPLETE', 't3')).result).toBe('echo 2: hello');
    expect(connection.ends('t1')).toHaveLength(1);
  });

  it.each([
    ['stopped', 'The daemon was stopped.'],
    ['killed', 'The daemon was restarted.'],
  ])(
    'A5: is lost with the daemon that was %s: the task fails, and a late answer is refused with the reason',
    async (how, why) => {
      const { connection, relay, daemon, storeDir, agentHome } = await begin();
      start(connection, 't1', 'perm');
      const { session_id: session } = await connection.event('WAIT_FOR_USER', 't1');
      await connection.status();
      // The files that a killed daemon would leave now.
      const left = join(home.folder(), 'left');
      cpSync(storeDir, left, { recursive: true });
      await daemon.stop();
      const again = demoAgent(home, { home: agentHome });
      home.daemon(relay, again.agent, { storeDir: how === 'killed' ? left : storeDir });
      const second = await relay.connection();
      const told = how === 'killed' ? second : connection;
      expect((await told.event('ERROR', 't1')).error).toBe(
        `${why} The agent’s question can no longer be answered. Send a message to continue.`,
      );
      resume(second, 't2', session ?? '', 'Allow');
      expect((await second.event('ERROR', 't2')).error).toBe(
        `“Delete everything?” can no longer be answered: ${why} Nothing was sent to the agent. To send a message, use other words.`,
      );
      resume(second, 't3', session ?? '', 'go on');
      expect((await second.event('TASK_COMPLETE', 't3')).result).toBe('echo 2: go on');
    },
  );

  it('A5: is lost with its agent: the task fails, and a late answer is refused with the reason', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'permcrash');
    const { session_id: session } = await connection.event('WAIT_FOR_USER', 't1');
    expect((await connection.event('ERROR', 't1')).error).toContain('The agent ended with exit code 3.');
    resume(connection, 't2', session ?? '', 'Allow');
    expect((await connection.event('ERROR', 't2')).error).toContain('the agent no longer waits for an answer.');
    resume(connection, 't3', session ?? '', 'go on');
    expect((await connection.event('TASK_COMPLETE', 't3')).result).toBe('echo 2: go on');
  });
});

describe('a failed turn has exactly one outcome, ERROR, when the agent', () => {
  it.each([
    ['answers with an error', 'fail', 'demo failure: asked for'],
    ['dies', 'crash', 'The agent ended with exit code 3.\ndemo-agent: crashing on request'],
    ['dies in the middle of a line', 'torn', 'The agent ended with exit code 5.'],
    ['A8: passes on an error of its model', 'badmodel', 'API Error: 404 model: mock-9 is not there'],
    ['refuses', 'refuse', 'refused to continue.\nnot that'],
    ['cancels by itself', 'cancelled', 'was cancelled at the agent'],
  ])('%s', async (_name, word, error) => {
    const { connection } = await begin();
    const session = await opened(connection);
    resume(connection, 't1', session, word);
    expect((await connection.event('ERROR', 't1')).error).toContain(error);
    await connection.status();
    resume(connection, 't2', session, 'still there?');
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toMatch(/^echo \d: still there\?$/);
    expect(connection.ends('t1')).toHaveLength(1);
  });

  it.each<[string, DemoOptions, string]>([
    ['is not logged in', { env: { DEMO_AGENT_FAULT: 'auth' }, login: 'Run "demo login".' }, 'Run "demo login".'],
    [
      'never answers initialize',
      { env: { DEMO_AGENT_FAULT: 'hang-initialize' }, timings: { initializeMs: 300 } },
      'initialize',
    ],
    [
      'B11: prints a question instead of an answer',
      { program: 'sh', args: ['-c', 'printf "Log in? [y/N] "; sleep 1000'], timings: { initializeMs: 2000 } },
      'Log in? [y/N]',
    ],
    ['never opens a session', { env: { DEMO_AGENT_FAULT: 'hang-new' }, timings: { openMs: 300 } }, 'session/new'],
    ['cannot work', { env: { DEMO_AGENT_FAULT: 'exit' } }, 'exit code 4.\ndemo-agent: cannot work like this'],
    ['speaks another version', { env: { DEMO_AGENT_FAULT: 'version' } }, 'version 7 of ACP'],
    ['returns no id', { env: { DEMO_AGENT_FAULT: 'no-id' } }, 'no id'],
    ["A8: returns an id in the relay's format", { env: { DEMO_AGENT_FAULT: 'pending-id' } }, 'begins with PENDING-'],
    ['is not installed', { program: '/nowhere/agent' }, 'Cannot start "/nowhere/agent"'],
    ['is not an agent', { program: 'cat', args: [] }, 'initialize'],
    ['exits immediately', { program: 'true', args: [] }, 'exit code 0'],
  ])('%s', async (_name, options, error) => {
    const { connection } = await begin({ ...options, timings: { initializeMs: 5000, ...options.timings } });
    start(connection, 't1', 'hello');
    expect((await connection.event('ERROR', 't1')).error).toContain(error);
    await connection.status();
    expect(connection.words().slice(2)).toEqual(['status[t1]', 'ERROR t1', 'status[]']);
  });
});

describe('the completion of a turn', () => {
  it('A9: without text is a success', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'silent');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe(
      'The agent ended its turn without saying anything.',
    );
  });

  it('A9: lists sounds and links of the answer, each on a line; W7: an image is an item, and not part of the result', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'media');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe(
      '[audio: audio/wav, 30 bytes]\nfile:///tmp/plan.md\nThat is all.',
    );
  });

  it('A8: by a crash shows the output of this turn, and nothing older', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'grumble');
    const { session_id: session } = await connection.event('TASK_COMPLETE', 't1');
    resume(connection, 't2', session ?? '', 'crash');
    expect((await connection.event('ERROR', 't2')).error).toBe(
      'The agent ended with exit code 3.\ndemo-agent: crashing on request',
    );
  });
});

describe('a misbehaving agent', () => {
  it.each(['garbage', 'odd'])('with %s in its output still works', async (word) => {
    const { connection } = await begin();
    start(connection, 't1', word);
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe(
      `after ${word === 'odd' ? 'odd' : 'the garbage'}`,
    );
  });

  it('is bounded when it floods, and its turn still completes', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'flood');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('flooded');
    const outputs = connection.frames.filter((frame) => frame.type === 'event' && frame.event_type === 'OUTPUT');
    const bytes = Buffer.byteLength(JSON.stringify(outputs));
    expect(bytes).toBeLessThan(2 * 1024 * 1024);
  });

  it('is killed when it ignores a cancel, and the session continues with a new process', async () => {
    const { connection } = await begin({ timings: { cancelMs: 100 } });
    const session = await opened(connection);
    resume(connection, 't1', session, 'deaf');
    await connection.event('OUTPUT', 't1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    resume(connection, 't2', session, 'hello');
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 3: hello');
    expect(connection.ends('t1')).toEqual([]);
  });

  it('is killed together with programs that outlive it', async () => {
    const lines = await lifeLines();
    home.later(() => lines.close());
    const { connection, daemon } = await begin();
    start(connection, 't1', `fork ${lines.announce('child')}`);
    await connection.event('TASK_COMPLETE', 't1');
    await lines.born('child');
    await daemon.stop();
    await lines.gone('child');
  });

  it('does not affect other conversations', async () => {
    const { connection } = await begin();
    start(connection, 't1', 'slow');
    await connection.event('OUTPUT', 't1');
    start(connection, 't2', 'crash');
    await connection.event('ERROR', 't2');
    start(connection, 't3', 'hello');
    await connection.event('TASK_COMPLETE', 't3');
    expect(connection.ends('t1')).toEqual([]);
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.status();
  });
});

describe('a cancelled task', () => {
  it.each(['slow', 'hang'])(
    'at "%s" gets no outcome, and disappears from the running tasks immediately',
    async (word) => {
      const { connection } = await begin({ timings: { cancelMs: 200 } });
      start(connection, 't1', word);
      await connection.event('OUTPUT', 't1');
      connection.send({ type: 'task_cancel', task_id: 't1' });
      await connection.status();
      await connection.settle();
      expect(connection.ends('t1')).toEqual([]);
    },
  );

  it('whose session is still opening gets no outcome and starts nothing', async () => {
    const { connection } = await begin({ env: { DEMO_AGENT_FAULT: 'hang-new' } });
    start(connection, 't1', 'hello');
    await connection.status('t1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.status();
    await connection.settle();
    expect(connection.words().slice(2)).toEqual(['status[t1]', 'status[]']);
  });
});

describe('a session whose process has exited', () => {
  const restarted = async (options: DemoOptions = {}) => {
    const first = await begin(options);
    const session = await opened(first.connection);
    await first.daemon.stop();
    const { agent } = demoAgent(home, { ...options, home: first.agentHome });
    home.daemon(first.relay, agent, { storeDir: first.storeDir });
    return { session, connection: await first.relay.connection() };
  };

  it.each<[string, DemoOptions]>([
    ['is resumed', {}],
    ['is loaded by agents that cannot resume', { env: { DEMO_AGENT_WITHOUT: 'resume' } }],
    ['is loaded when resume is advertised but missing', { env: { DEMO_AGENT_DAMAGE: 'resume' } }],
  ])('%s after a restart, without repeating its history', async (_name, options) => {
    const { connection, session } = await restarted(options);
    resume(connection, 't1', session, 'and now');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('echo 2: and now');
    expect(JSON.stringify(connection.frames.filter((frame) => frame.type === 'event'))).not.toContain('echo 1');
  });

  it.each<[string, DemoOptions, string]>([
    ['supports neither', { env: { DEMO_AGENT_WITHOUT: 'resume,load' } }, 'cannot continue an earlier session'],
    ['must never reload', { quirks: { neverReload: true } }, 'Start a new session'],
  ])('fails a task with a clear ERROR when the agent %s', async (_name, options, error) => {
    const { connection, session } = await restarted(options);
    resume(connection, 't1', session, 'and now');
    expect((await connection.event('ERROR', 't1')).error).toContain(error);
  });

  it('is resumed after an idle timeout of the process', async () => {
    const { connection } = await begin({ timings: { idleMs: 1 } });
    const session = await opened(connection);
    resume(connection, 't1', session, 'again');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('echo 2: again');
  });

  it('keeps its process while idle when the agent must never reload', async () => {
    const idleMs = 12_345;
    const ends: (() => void)[] = [];
    const after = (delayMs: number, run: () => void) => {
      if (delayMs === idleMs) ends.push(run);
      return delayMs === idleMs ? () => undefined : systemClock.after(delayMs, run);
    };
    const clock = { ...systemClock, after };
    const { connection } = await begin({ quirks: { neverReload: true }, clock, timings: { idleMs } });
    const session = await opened(connection);
    for (const end of ends) end();
    resume(connection, 't1', session, 'again');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('echo 2: again');
  });

  it('replaces the process with the longest idle time, and not the oldest one', async () => {
    const { connection } = await begin({ maxProcesses: 2, quirks: { neverReload: true } });
    const session = await opened(connection);
    start(connection, 't1', 'hello');
    await connection.event('TASK_COMPLETE', 't1');
    resume(connection, 't2', session, 'more');
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 2: more');
    start(connection, 't3', 'hello');
    await connection.event('TASK_COMPLETE', 't3');
    resume(connection, 't4', session, 'again');
    expect((await connection.event('TASK_COMPLETE', 't4')).result).toBe('echo 3: again');
  });

  it('replaces an idle process when too many live, and fails if all are busy', async () => {
    const { connection } = await begin({ maxProcesses: 1 });
    const session = await opened(connection);
    start(connection, 't1', 'slow');
    await connection.event('OUTPUT', 't1');
    resume(connection, 't2', session, 'hello');
    expect((await connection.event('ERROR', 't2')).error).toContain('at work on this machine already');
    connection.send({ type: 'task_cancel', task_id: 't1' });
  });
});
