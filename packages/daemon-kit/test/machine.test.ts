/** The machine below the daemon: a full disk, a clock that jumps. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, type Clock, systemClock } from '../src/index.ts';
import { echo, house } from './house.ts';

const home = house();
afterEach(() => home.clear());

/** Names its sessions `s1`, `s2` …, so that a test knows their files. */
const naming = (agent: Agent): Agent => {
  let count = 0;
  return {
    ...agent,
    start: (turn, report) => agent.start(turn, report),
    open: () => Promise.resolve({ sessionId: `s${++count}` }),
  };
};

describe('a full disk', () => {
  /** /dev/full answers every write with ENOSPC. */
  const begin = async () => {
    const relay = await home.relay({ declares: ['transcript'] });
    const storeDir = home.folder();
    home.daemon(relay, naming(echo()), { storeDir });
    const connection = await relay.connection();
    const fill = (file: string) => {
      rmSync(join(storeDir, file), { force: true, recursive: true });
      symlinkSync('/dev/full', join(storeDir, file));
    };
    return { connection, fill, storeDir };
  };
  const ended = ['TASK_COMPLETE', 'ERROR'];

  it('under the history ends a task with ERROR before the agent starts, and says why', async () => {
    const { connection, fill } = await begin();
    fill('sessions/s1.jsonl');
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    const { error, code } = await connection.event('ERROR', 't1');
    expect([error, code]).toEqual([expect.stringContaining('ENOSPC'), 'HISTORY_NOT_WRITTEN']);
    await connection.status();
    connection.send({ type: 'task_start', task_id: 't2', instruction: 'x' });
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('You said: x');
  });

  it('that fills up in the middle of a conversation does the same', async () => {
    const { connection, fill } = await begin();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    await connection.event('TASK_COMPLETE', 't1');
    fill('sessions/s1.jsonl');
    connection.send({ type: 'task_resume', task_id: 't2', session_id: 's1', message: 'y' });
    expect((await connection.event('ERROR', 't2')).error).toContain('ENOSPC');
    await connection.status();
    expect(connection.ends('t2')).toHaveLength(1);
  });

  it('under the journal costs only the records of the journal: the task ends', async () => {
    const { connection, fill } = await begin();
    fill('tasks.jsonl');
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    await connection.event('TASK_COMPLETE', 't1');
    await connection.status();
    expect(connection.ends('t1').map(({ event_type: type }) => ended.includes(type))).toEqual([true]);
  });

  it('that writes only a part of a file leaves the old one unchanged', () => {
    const file = join(home.folder(), 'config.json');
    // No file may be larger than 8 blocks of 512 bytes; one write writes a part and reports it only by the count.
    const script = `
      import { replaceOwnerFile } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
      replaceOwnerFile(process.argv[1], 'good');
      try { replaceOwnerFile(process.argv[1], 'x'.repeat(100_000)); } catch (error) { console.log(error.code); }`;
    const words = [process.execPath, '--input-type=module', '--eval', script, file];
    const { stdout } = spawnSync('sh', ['-c', `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`, ...words], {
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe('EFBIG');
    expect(readFileSync(file, 'utf8')).toBe('good');
  });

  it('that writes only a part of the messages from elsewhere leaves the history unchanged, and all are added later', () => {
    const folder = home.folder();
    const script = `
      import { openStore } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
      const store = openStore(process.argv[1]);
      const uuid = (index) => '00000000-0000-5000-8000-' + String(index).padStart(12, '0');
      const messages = Array.from({ length: 100 }, (_, index) => (
        { uuid: uuid(index), role: 'AGENT', content: String(index), timestamp: '2026-01-01T00:00:00.000Z', part: { kind: 'text' } }));
      if (!store.has('s1')) store.create('s1', '');
      let code = 'taken';
      try { store.take('s1', messages); } catch (error) { code = error.code; }
      const contents = store.messages('s1').map(({ content }) => Number(content));
      console.log(JSON.stringify({ code, contents, count: store.session('s1').messageCount }));`;
    const words = [process.execPath, '--input-type=module', '--eval', script, folder];
    const take = (limit: string) => {
      const { stdout } = spawnSync('sh', ['-c', `${limit}exec "$0" "$@"`, ...words], { encoding: 'utf8' });
      return JSON.parse(stdout) as { code: string; contents: number[]; count: number };
    };
    const full = take("trap '' XFSZ; ulimit -f 8; ");
    expect(full).toEqual({ code: 'EFBIG', contents: [], count: 0 });
    const free = take('');
    expect(free).toEqual({ code: 'taken', contents: Array.from({ length: 100 }, (_, index) => index), count: 100 });
  });

  it('or a missing folder at the start is one sentence, not a daemon without a history', async () => {
    const relay = await home.relay();
    const storeDir = home.folder();
    mkdirSync(join(storeDir, 'other'));
    symlinkSync('/dev/full', join(storeDir, 'sessions'));
    expect(() => home.daemon(relay, echo(), { storeDir })).toThrow();
  });
});

describe('a clock that jumps', () => {
  const jumping = () => {
    let offsetMs = 0;
    const clock: Clock = { ...systemClock, now: () => Date.now() + offsetMs };
    return { clock, jump: (ms: number) => (offsetMs += ms) };
  };

  it.each([86_400_000, -86_400_000])('by %d ms keeps a live connection, and still notices a dead one', async (ms) => {
    const relay = await home.relay();
    const { clock, jump } = jumping();
    home.daemon(relay, echo(), { clock, timings: { silenceMs: 300, pingIntervalMs: 50 } });
    const first = await relay.connection();
    await first.settle();
    jump(ms);
    first.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    await first.event('TASK_COMPLETE', 't1');
    first.freeze();
    const second = await relay.connection();
    await second.settle();
    expect(second.words()).toContain('report_sessions');
  });
});
