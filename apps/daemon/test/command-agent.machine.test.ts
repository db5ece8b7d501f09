import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandTimings, commandAgent } from '../src/index.ts';
import { lifeLines } from './children.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

interface Run {
  args?: readonly string[];
  program?: string;
  projectPath?: string;
  timings?: Partial<CommandTimings>;
  platform?: NodeJS.Platform;
}
const node = (script: string) => ({ program: process.execPath, args: ['-e', script] });

async function begin({ program = 'cat', args = [], projectPath, timings = {}, platform }: Run) {
  const relay = await home.relay();
  const defaultPath = home.folder();
  const agent = commandAgent({ program, args, rules: { defaultPath }, timings, platform });
  home.daemon(relay, agent);
  const connection = await relay.connection();
  const start = (taskId: string, instruction = 'hello') =>
    connection.send({
      type: 'task_start',
      task_id: taskId,
      instruction,
      ...(projectPath === undefined ? {} : { project_path: projectPath }),
    });
  return { relay, connection, start, defaultPath };
}

describe('the command agent', () => {
  it('sends the message to a real program on stdin, streams its output, and completes with it, trimmed', async () => {
    const { connection, start } = await begin({ program: 'cat' });
    start('t1', '\n  Grüße, "world" $HOME `id`\n\n');
    const complete = await connection.event('TASK_COMPLETE', 't1');
    expect(complete.result).toBe('Grüße, "world" $HOME `id`');
    await connection.status();
    expect(connection.words().slice(-5)).toEqual([
      'status[t1]',
      'SESSION_STARTED t1',
      'OUTPUT t1',
      'TASK_COMPLETE t1',
      'status[]',
    ]);
    expect(connection.frames).toContainEqual(expect.objectContaining({ output: '\n  Grüße, "world" $HOME `id`\n\n' }));
  });

  it('fills message and session into the arguments, once, and without a shell', async () => {
    const { connection, start } = await begin({
      program: process.execPath,
      args: [
        '-e',
        'console.log(JSON.stringify(process.argv.slice(1)))',
        '--',
        '{message}',
        'id={session}',
        '{unknown}',
      ],
    });
    start('t1', '{session}; echo $(id) *');
    const { result, session_id: sessionId } = await connection.event('TASK_COMPLETE', 't1');
    expect(JSON.parse(result)).toEqual(['{session}; echo $(id) *', `id=${sessionId}`, '{unknown}']);
  });

  it('starts programs that npm installed on Windows', async () => {
    const program = join(home.folder(), 'my-agent');
    writeFileSync(program, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    writeFileSync(`${program}.CMD`, '"%_prog%"  "%dp0%\\my-agent.mjs" %*\r\n', { mode: 0o755 });
    writeFileSync(`${program}.mjs`, 'console.log(process.argv.slice(2).join());');
    const { connection, start } = await begin({ program, args: ['-p', '{message}'], platform: 'win32' });
    start('t1', 'hello');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('-p,hello');
  });

  it('runs in the project path, or in the default path', async () => {
    const folder = realpathSync(home.folder());
    const first = await begin({ ...node('console.log(process.cwd(), process.env.PWD)'), projectPath: folder });
    first.start('t1');
    expect((await first.connection.event('TASK_COMPLETE', 't1')).result).toBe(`${folder} ${folder}`);
    const second = await begin(node('console.log(process.cwd())'));
    second.start('t1');
    expect((await second.connection.event('TASK_COMPLETE', 't1')).result).toBe(second.defaultPath);
  });

  it('resumes in the path of the session', async () => {
    const folder = realpathSync(home.folder());
    const { connection, start } = await begin({ ...node('console.log(process.cwd())'), projectPath: folder });
    start('t1');
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't1');
    connection.send({ type: 'task_resume', task_id: 't2', session_id: sessionId ?? '', message: 'again' });
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe(folder);
  });

  it('fails with ERROR if the project path is missing, a file, or not absolute', async () => {
    const folder = home.folder();
    writeFileSync(join(folder, 'file'), '');
    for (const [projectPath, words] of [
      [join(folder, 'missing'), 'does not exist'],
      [join(folder, 'file'), 'not a directory'],
      ['relative/path', 'must be absolute'],
    ] as const) {
      const { connection, start } = await begin({ projectPath });
      start('t1');
      expect((await connection.event('ERROR', 't1')).error).toContain(words);
      await connection.settle();
      expect(connection.ends('t1')).toHaveLength(1);
    }
  });

  it('fails with ERROR, exit code and the last lines of stderr if the program fails', async () => {
    // Joins the two writes even if a busy machine puts a long time between them.
    const { connection, start } = await begin({
      ...node('console.error("first"); console.error("the reason"); process.exit(3)'),
      timings: { joinMs: 60_000 },
    });
    start('t1');
    const { error } = await connection.event('ERROR', 't1');
    expect(error).toContain('exit code 3');
    expect(error).toContain('the reason');
    expect(connection.frames).toContainEqual(
      expect.objectContaining({ event_type: 'OUTPUT', output: 'first\nthe reason\n' }),
    );
  });

  it('fails with ERROR and the signal if the program is killed', async () => {
    const { connection, start } = await begin(node('process.kill(process.pid, "SIGKILL")'));
    start('t1');
    expect((await connection.event('ERROR', 't1')).error).toContain('SIGKILL');
  });

  it('fails with ERROR if the program does not exist or is not executable', async () => {
    const folder = home.folder();
    writeFileSync(join(folder, 'plain'), 'text', { mode: 0o644 });
    for (const [program, words] of [
      ['no-such-program-here', 'no such program'],
      [join(folder, 'plain'), 'may not be executed'],
    ] as const) {
      const { connection, start } = await begin({ program });
      start('t1');
      expect((await connection.event('ERROR', 't1')).error).toContain(words);
      await connection.status();
    }
  });

  it('fails with ERROR if the message is too long for an argument', async () => {
    const { connection, start } = await begin({ program: 'echo', args: ['{message}'] });
    start('t1', 'x'.repeat(200 * 1024));
    expect((await connection.event('ERROR', 't1')).error).toContain('stdin');
  });

  it('supports a program that never reads its input', async () => {
    const { connection, start } = await begin(node('process.exit(0)'));
    start('t1', 'x'.repeat(900_000));
    await connection.event('TASK_COMPLETE', 't1');
  });

  it('keeps characters whole across two writes', async () => {
    const { connection, start } = await begin(
      node(
        'process.stdout.write(Buffer.from([0xe2, 0x82])); setTimeout(() => process.stdout.write(Buffer.from([0xac])), 30)',
      ),
    );
    start('t1');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('€');
    const output = connection.frames.flatMap((frame) =>
      frame.type === 'event' && frame.event_type === 'OUTPUT' ? [frame.output] : [],
    );
    expect(output.join('')).toBe('€');
  });

  it('bounds an endless result, and keeps its last part', async () => {
    const { connection, start } = await begin(node('for (let i = 0; i < 100000; i++) console.log("line " + i)'));
    start('t1');
    const { result } = await connection.event('TASK_COMPLETE', 't1');
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(256 * 1024);
    expect(result.endsWith('line 99999')).toBe(true);
  });

  it('kills the whole process group on cancel, including processes that ignore SIGTERM', async () => {
    const lines = await lifeLines();
    home.later(() => lines.close());
    const stubborn = `process.on('SIGTERM', () => {}); ${lines.announce('grandchild')}`;
    const { connection, start } = await begin({
      ...node(
        `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stubborn)}]); ${lines.announce('child')}`,
      ),
      timings: { killAfterMs: 50 },
    });
    start('t1');
    await Promise.all([lines.born('child'), lines.born('grandchild')]);
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.status();
    await Promise.all([lines.gone('child'), lines.gone('grandchild')]);
    await connection.settle();
    expect(connection.ends('t1')).toEqual([]);
  });

  it('kills leftover children after the program exits', async () => {
    const lines = await lifeLines();
    home.later(() => lines.close());
    // The child exits only after the grandchild has announced itself; the grandchild holds stdout open.
    const { connection, start } = await begin({
      ...node(
        `const child = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(`${lines.announce('left over')} console.log('up')`)}], { stdio: ['ignore', 'pipe', 'inherit'] });
         child.stdout.once('data', () => { console.log('done'); process.exit(0); });`,
      ),
      timings: { drainMs: 20 },
    });
    start('t1');
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('done');
    await lines.gone('left over');
  });

  it('kills its programs when the daemon stops', async () => {
    const lines = await lifeLines();
    home.later(() => lines.close());
    const relay = await home.relay();
    const agent = commandAgent({ ...node(lines.announce('child')), rules: { defaultPath: home.folder() } });
    const daemon = home.daemon(relay, agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    await lines.born('child');
    await daemon.stop();
    await lines.gone('child');
    expect(connection.ends('t1')).toHaveLength(1);
  });

  it('runs the turns of one session in sequence', async () => {
    const folder = home.folder();
    mkdirSync(join(folder, 'turns'));
    // Fails if another turn is inside.
    const { connection, start } = await begin({
      ...node(
        `const fs = require('fs'); fs.mkdirSync('turns/inside'); setTimeout(() => fs.rmdirSync('turns/inside'), 30)`,
      ),
      projectPath: folder,
    });
    start('t0');
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't0');
    for (const taskId of ['t1', 't2', 't3']) {
      connection.send({ type: 'task_resume', task_id: taskId, session_id: sessionId ?? '', message: 'x' });
    }
    for (const taskId of ['t1', 't2', 't3']) await connection.event('TASK_COMPLETE', taskId);
  });
});
