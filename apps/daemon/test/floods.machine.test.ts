/** An agent with excessive output, and a full disk: the cost, and the sessions that bear it. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Item, transcriptLimits } from '@relay/protocol';
import type { DoubleConnection, RelayDouble } from '@relay/daemon-kit/conformance';
import { readConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { registered, running } from './registered.ts';

const home = house();
afterEach(() => home.clear());

async function prepared() {
  const relay = await home.relay({ declares: ['transcript', 'prompts'], waitMs: 180_000 });
  const folder = registered(home, relay);
  const place = homeOf({ home: folder, env: {} });
  const agent = { kind: 'acp' as const, preset: 'demo', env: { DEMO_AGENT_HOME: home.folder() } };
  writeConfig(place, { ...readConfig(place)!, agent });
  return { relay, folder, sessions: join(place.stateDir, 'sessions') };
}
const start = (connection: DoubleConnection, taskId: string, instruction: string) =>
  connection.send({ type: 'task_start', task_id: taskId, instruction });
async function pageOf(connection: DoubleConnection, sessionId: string, limit = 200) {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit, parts: true });
  const frame = await connection.frame('messages');
  return { items: (frame.messages ?? []) as Item[], hasMore: frame.has_more, bytes: JSON.stringify(frame).length };
}

describe('an agent that sends 100 MB of output, 50,000 calls and titles of a megabyte', () => {
  it('costs no more than its bounds, and disturbs no other session', async () => {
    const { relay, folder } = await prepared();
    const { child } = running(home, folder);
    const connection = await relay.connection();
    start(connection, 't1', 'torrent');
    const { session_id: sessionId } = await connection.event('SESSION_STARTED', 't1');
    start(connection, 't2', 'hello');
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 1: hello');
    expect(connection.ends('t1')).toEqual([]);
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('over');

    const told = connection.texts.filter((text) => text.includes('"TRANSCRIPT"'));
    expect(Math.max(...told.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(transcriptLimits.frameBytes);
    const { items, hasMore, bytes } = await pageOf(connection, sessionId!);
    expect(hasMore).toBe(true);
    expect(items.length).toBeLessThanOrEqual(transcriptLimits.pageItems);
    expect(bytes).toBeLessThanOrEqual(transcriptLimits.pageBytes);
    const tools = items.filter(({ part }) => part.kind === 'tool');
    for (const { part } of tools)
      expect(Buffer.byteLength(part.title as string)).toBeLessThanOrEqual(transcriptLimits.inputBytes);
    expect(tools.every(({ part }) => part.status !== 'pending' && part.status !== 'running')).toBe(true);
    // The peak memory of the process, in KiB.
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
    expect(peak).toBeLessThan(600 * 1024);
  }, 300_000);
});

describe('a disk that fills up during a turn', () => {
  const main = fileURLToPath(new URL('../dist/bundle.js', import.meta.url));
  /** 256 blocks of 512 bytes per file: larger writes fail with EFBIG, as they fail with ENOSPC on a full disk. */
  const limited = async ({ relay, folder }: { relay: RelayDouble; folder: string }) => {
    const words = [process.execPath, main, 'run', '--home', folder];
    const child = spawn('sh', ['-c', `trap '' XFSZ; ulimit -f 256; exec "$0" "$@"`, ...words], { stdio: 'ignore' });
    const gone = new Promise((resolve) => child.once('exit', resolve));
    const stop = async () => {
      child.kill('SIGKILL');
      await gone;
    };
    home.later(stop);
    return { connection: await relay.connection(), stop };
  };

  it('is reported with the answer; the file stays valid, also after a torn row, and the session continues', async () => {
    const world = await prepared();
    const { connection, stop } = await limited(world);
    start(connection, 't1', 'flood');
    const { session_id: sessionId } = await connection.event('SESSION_STARTED', 't1');
    const { result } = await connection.event('TASK_COMPLETE', 't1');
    expect(result).toMatch(/^flooded\n\n\[Part of this turn is missing from its history, because the disk .*EFBIG/);
    expect(connection.frames).toContainEqual(
      expect.objectContaining({ event_type: 'PROGRESS', action: 'Not saved in the history' }),
    );
    start(connection, 't2', 'hello');
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 1: hello');
    const large = `hello ${'x'.repeat(128 * 1024)}`;
    connection.send({ type: 'task_resume', task_id: 't3', session_id: sessionId!, message: large });
    expect((await connection.event('ERROR', 't3')).code).toBe('HISTORY_NOT_WRITTEN');
    await stop();

    const file = () =>
      readdirSync(world.sessions)
        .map((name) => join(world.sessions, name))
        .find((path) => readFileSync(path, 'utf8').includes(sessionId!))!;
    const written = readFileSync(file(), 'utf8');
    for (const line of written.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
    appendFileSync(file(), '{"i":{"uuid":"torn');
    running(home, world.folder);
    const again = await world.relay.connection();
    const { items } = await pageOf(again, sessionId!);
    expect(readFileSync(file(), 'utf8').startsWith(written)).toBe(true);
    expect(readFileSync(file(), 'utf8')).not.toContain('torn');
    expect(items[0]).toMatchObject({ role: 'USER', content: 'flood' });
    expect(items.every(({ part }) => part.open !== true)).toBe(true);
    again.send({ type: 'task_resume', task_id: 't4', session_id: sessionId!, message: 'hello' });
    expect((await again.event('TASK_COMPLETE', 't4')).result).toMatch(/^echo \d: hello$/);
  }, 120_000);
});
