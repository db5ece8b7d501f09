/** The daemon as a process, at a relay that sends invalid frames, and on a machine with a full disk. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { limits } from '@relay/protocol';
import type { DoubleConnection } from '@relay/daemon-kit/conformance';
import { readConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { registered, running } from './registered.ts';

const home = house();
afterEach(() => home.clear());

async function begin() {
  const relay = await home.relay();
  const folder = registered(home, relay);
  const place = homeOf({ home: folder, env: {} });
  const agent = { kind: 'acp' as const, preset: 'demo', env: { DEMO_AGENT_HOME: home.folder() } };
  writeConfig(place, { ...readConfig(place)!, agent });
  running(home, folder);
  return { relay, connection: await relay.connection() };
}
const start = (connection: DoubleConnection, taskId: string, instruction: string) =>
  connection.send({ type: 'task_start', task_id: taskId, instruction });

describe('a relay', () => {
  it('can send an instruction as large as a frame: the agent gets all of it', async () => {
    const { connection } = await begin();
    const frame = { type: 'task_start', task_id: 't1', instruction: '' };
    const room = limits.daemonFrameBytes - Buffer.byteLength(JSON.stringify(frame));
    // The agent counts its input and echoes it; the answer is bounded.
    connection.send({ ...frame, instruction: `size ${'x'.repeat(room - 5)}` });
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe(`${room} characters`);
    start(connection, 't2', 'hello');
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 1: hello');
  });

  it('that sends a larger frame loses the connection, and finds the daemon and its work again', async () => {
    const { relay, connection } = await begin();
    start(connection, 't1', 'hang');
    await connection.event('OUTPUT', 't1');
    connection.sendText(JSON.stringify({ type: 'ping', more: 'x'.repeat(limits.daemonFrameBytes) }));
    expect((await connection.closed).code).toBe(1009);
    const again = await relay.connection();
    await again.status('t1');
    again.send({ type: 'task_cancel', task_id: 't1' });
    await again.status();
    start(again, 't2', 'hello');
    await again.event('TASK_COMPLETE', 't2');
  });

  it('that sends frames in the wrong order gets exactly one outcome per task', async () => {
    const { connection } = await begin();
    connection.send({ type: 'task_cancel', task_id: 't1' });
    connection.send({ type: 'task_resume', task_id: 't2', session_id: 'nobody', message: 'x' });
    connection.send({ type: 'unwatch_session', session_id: 'nobody' });
    start(connection, 't1', 'hello');
    start(connection, 't1', 'hello again');
    connection.send({ type: 'task_resume', task_id: 't1', session_id: 'nobody', message: 'the same id' });
    connection.send({ type: 'no_such_frame', task_id: 't1' });
    connection.sendText('{"type":"task_start"');
    connection.sendText(Buffer.from([0xff, 0x00]));
    connection.send({ type: 'task_start', task_id: 't3', instruction: 'x', project_path: '/etc' });
    const { session_id: session } = await connection.event('TASK_COMPLETE', 't1');
    // A turn without a question: it can have begun before the daemon reads the cancel.
    connection.send({ type: 'task_resume', task_id: 't4', session_id: session ?? '', message: 'slow' });
    connection.send({ type: 'task_cancel', task_id: 't4' });
    connection.send({ type: 'task_cancel', task_id: 't4' });
    connection.send({ type: 'task_resume', task_id: 't5', session_id: session ?? '', message: 'last' });
    await connection.event('TASK_COMPLETE', 't5');
    expect(connection.ends('t3')).toMatchObject([{ error: expect.stringContaining('--allow') }]);
    const counts = ['t1', 't2', 't3', 't4', 't5'].map((taskId) => connection.ends(taskId).length);
    expect(counts).toEqual([1, 1, 1, 0, 1]);
  });
});

describe('a daemon whose files cannot grow', () => {
  it('fails every task, with the reason, and continues', async () => {
    const relay = await home.relay();
    const folder = registered(home, relay);
    const main = fileURLToPath(new URL('../dist/bundle.js', import.meta.url));
    // 16 blocks per file: larger writes fail with EFBIG, as they fail with ENOSPC on a full disk.
    const limited = `trap '' XFSZ; ulimit -f 16; exec "$0" "$@"`;
    const words = [process.execPath, main, 'run', '--home', folder, '--project', home.folder(), '--', 'cat'];
    const child = spawn('sh', ['-c', limited, ...words], { stdio: 'ignore' });
    home.later(async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    });
    const connection = await relay.connection();
    // Each task fits; the journal of all of them does not.
    for (let task = 0; task < 40; task++) {
      start(connection, `t${task}`, `${task} ${'x'.repeat(500)}`);
      await connection.event('TASK_COMPLETE', `t${task}`);
    }
    start(connection, 'large', 'x'.repeat(64 * 1024));
    expect((await connection.event('ERROR', 'large')).error).toContain('EFBIG');
    start(connection, 'after', 'hello');
    expect((await connection.event('TASK_COMPLETE', 'after')).result).toBe('hello');
    expect(connection.ends('large')).toHaveLength(1);
  });
});
