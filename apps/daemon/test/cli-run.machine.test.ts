import { afterEach, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lifeLines } from './children.ts';
import { house } from './house.ts';
import { runProgram } from './program.ts';
import { registered, running, token } from './registered.ts';

const home = house();
afterEach(() => home.clear());

describe('relay-daemon run', () => {
  it('runs a real program for a task and reports it to the relay', async () => {
    const relay = await home.relay();
    const folder = registered(home, relay);
    const project = home.folder();
    const program = running(home, folder, '--allow', project, '--agent', 'command', '--', '/bin/cat');
    const connection = await relay.connection();
    expect(connection.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      'x-device-id': 'device-1',
      'x-agent-type': 'claude_code',
    });
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'private words', project_path: project });
    expect(await connection.event('TASK_COMPLETE', 't1')).toMatchObject({ result: 'private words' });
    await connection.status();
    program.child.kill('SIGTERM');
    expect(await program.exit).toEqual({ code: 0, signal: null });
    expect((await connection.closed).code).toBe(1000);
    expect(program.err()).toContain('connected');
    expect(program.err()).not.toContain(token);
    expect(program.err()).not.toContain('private words');
  });

  it('plays a script, and logs JSON lines with texts on request', async () => {
    const relay = await home.relay();
    const script = join(home.folder(), 'conversation.json');
    writeFileSync(script, JSON.stringify({ turns: [[{ type: 'complete', text: 'scripted {message}' }]] }));
    const program = running(
      home,
      registered(home, relay),
      '--agent',
      'scripted',
      '--script',
      script,
      '--json',
      '--verbose',
    );
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    expect(await connection.event('TASK_COMPLETE', 't1')).toMatchObject({ result: 'scripted hello' });
    program.child.kill('SIGINT');
    expect((await program.exit).code).toBe(0);
    const events = program
      .err()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events).toContainEqual(expect.objectContaining({ event: 'user said', text: 'hello' }));
    expect(events).toContainEqual(expect.objectContaining({ event: 'agent said', text: 'scripted hello' }));
  });

  it('continues when the reader of its log is gone', async () => {
    const relay = await home.relay();
    const program = running(home, registered(home, relay), '--agent', 'scripted');
    const connection = await relay.connection();
    program.child.stderr.destroy();
    program.child.stdout.destroy();
    for (const taskId of ['t1', 't2', 't3']) {
      connection.send({ type: 'task_start', task_id: taskId, instruction: 'hello' });
      await connection.event('TASK_COMPLETE', taskId);
    }
  });

  it('refuses a second process on the same home, and names the first', async () => {
    const relay = await home.relay();
    const folder = registered(home, relay);
    const first = running(home, folder);
    await relay.connection();
    const second = await runProgram(['run', '--home', folder]);
    expect(second.code).toBe(75);
    expect(second.err).toContain(`pid ${first.child.pid}`);
  });

  it('exits with 78 and one sentence when the relay refuses the credential', async () => {
    const relay = await home.relay();
    relay.refusals.push({ status: 401, body: { error: 'revoked', code: 'TOKEN_REVOKED', status: 401 } });
    const program = running(home, registered(home, relay));
    expect((await program.exit).code).toBe(78);
    expect(program.err().trim().split('\n').at(-1)).toMatch(/credential .* register --force/);
  });

  it.each([4401, 4404, 4409])('exits with 78 after close %d', async (closeCode) => {
    const relay = await home.relay();
    const program = running(home, registered(home, relay));
    (await relay.connection()).close(closeCode);
    expect((await program.exit).code).toBe(78);
  });

  it('exits with 0 instead under a service manager without support for 78', async () => {
    const relay = await home.relay();
    const program = running(home, registered(home, relay), '--supervised');
    (await relay.connection()).close(4401);
    expect((await program.exit).code).toBe(0);
    expect(program.err().trim().split('\n').at(-1)).toMatch(/register --force/);
  });

  it.each([
    ['on SIGTERM', ['SIGTERM']],
    // The system sends it, and the shell sends it again.
    ['when its terminal is closed', ['SIGHUP', 'SIGHUP']],
  ] as const)('fails running tasks with ERROR %s, and leaves no process behind', async (_when, signals) => {
    const relay = await home.relay();
    const lines = await lifeLines();
    home.later(() => lines.close());
    const project = home.folder();
    const agent = ['--project', project, '--', process.execPath, '-e', lines.announce('agent')];
    const program = running(home, registered(home, relay), ...agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    await lines.born('agent');
    for (const signal of signals) program.child.kill(signal);
    await connection.event('ERROR', 't1');
    expect((await program.exit).code).toBe(0);
    await lines.gone('agent');
  });

  it('remembers messages after kill -9, fails interrupted tasks, and kills leftover processes', async () => {
    const relay = await home.relay();
    const lines = await lifeLines();
    home.later(() => lines.close());
    const folder = registered(home, relay);
    const project = home.folder();
    // Answers immediately, except to "stay".
    const script = `let m = ''; process.stdin.on('data', (c) => m += c).on('end', () => { if (m === 'stay') { ${lines.announce('agent')} } else console.log('answer to ' + m); });`;
    const args = ['--project', project, '--', process.execPath, '-e', script];
    const first = running(home, folder, ...args);
    const before = await relay.connection();
    before.send({ type: 'task_start', task_id: 't1', instruction: 'first' });
    const { session_id: sessionId = '' } = await before.event('TASK_COMPLETE', 't1');
    before.send({ type: 'task_resume', task_id: 't2', session_id: sessionId ?? '', message: 'stay' });
    await lines.born('agent');
    before.send({ type: 'get_messages', request_id: 'r', session_id: sessionId ?? '', limit: 50 });
    const known = (await before.frame('messages')).messages ?? [];
    first.child.kill('SIGKILL');
    await first.exit;

    running(home, folder, ...args);
    const after = await relay.connection();
    await lines.gone('agent');
    await after.settle();
    expect(after.words()).toEqual(['ERROR t2', 'status[]', 'report_sessions']);
    after.send({ type: 'get_messages', request_id: 'r', session_id: sessionId ?? '', limit: 50 });
    const { messages = [] } = await after.frame('messages');
    expect(messages?.slice(0, known.length)).toEqual(known);
    expect(messages?.map(({ content }) => content)).toEqual([
      'first',
      'answer to first',
      'stay',
      expect.stringContaining('crashed'),
    ]);
    after.send({ type: 'task_resume', task_id: 't3', session_id: sessionId ?? '', message: 'again' });
    expect(await after.event('TASK_COMPLETE', 't3')).toMatchObject({ result: 'answer to again' });
  });

  it.each<[string, string[], number, string]>([
    ['is not registered', [], 78, 'relay-daemon register'],
    ['gets an unknown agent', ['--agent', 'magic'], 64, 'scripted'],
    ['gets no program', ['--agent', 'command'], 64, '--'],
    ['gets a script and a program', ['--script', 'x', '--', 'cat'], 64, '--script'],
    ['gets a script that does not exist', ['--script', '/no/such/script.json'], 65, '/no/such/script.json'],
    ['gets an unknown option', ['--magic'], 64, '--magic'],
  ])('prints a remedy when it %s', async (name, args, exitCode, words) => {
    const relay = await home.relay();
    const folder = name === 'is not registered' ? home.folder() : registered(home, relay);
    const result = await runProgram(['run', '--home', folder, ...args]);
    expect(result.code).toBe(exitCode);
    expect(result.err).toContain(words);
  });
});
