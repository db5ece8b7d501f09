/** The machine of the daemon: a full or read-only disk, a clock that jumps. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith } from '@relay/testing/needs';
import { type Agent, type Clock, type TurnReport, openStore, systemClock } from '../src/index.ts';
import { openContents } from '../src/contents.ts';
import { openIncoming } from '../src/incoming.ts';
import { createTranscripts, transcriptSettings } from '../src/transcript/transcripts.ts';
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

describeWith(['root'], 'a disk that becomes read-only in the middle of a turn', () => {
  const mount = (...args: string[]) => expect(spawnSync('mount', args)).toMatchObject({ status: 0 });
  const mounts: string[] = [];
  afterEach(() => {
    for (const folder of mounts.splice(0)) spawnSync('umount', ['--lazy', folder]);
  });

  /** A turn whose disk becomes read-only after its first text. */
  const begin = async () => {
    const storeDir = home.folder();
    mount('-t', 'tmpfs', '-o', 'size=8m,mode=700', 'tmpfs', storeDir);
    mounts.push(storeDir);
    const reports: TurnReport[] = [];
    const ends: (() => void)[] = [];
    const start: Agent['start'] = (_turn, report) => {
      reports.push(report);
      const ended = new Promise<void>((resolve) => ends.push(resolve));
      return { ended, cancel: () => Promise.resolve(ends.at(-1)?.()) };
    };
    const relay = await home.relay({ declares: ['transcript'] });
    home.daemon(relay, naming({ tellsUpdates: true, start }), { storeDir });
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'Water the garden' });
    await connection.event('SESSION_STARTED', 't1');
    const say = (text: string) =>
      reports.at(-1)?.update?.({
        sessionUpdate: 'agent_message_chunk',
        messageId: `m${reports.length}`,
        content: { type: 'text', text },
      });
    const complete = async (taskId: string, result: string) => {
      reports.at(-1)?.complete(result);
      ends.at(-1)?.();
      return connection.event('TASK_COMPLETE', taskId);
    };
    say('Before. ');
    const file = join(storeDir, 'sessions', 's1.jsonl');
    const before = readFileSync(file, 'utf8');
    mount('-o', 'remount,ro', storeDir);
    return {
      connection,
      storeDir,
      file,
      before,
      say,
      complete,
      heal: () => mount('-o', 'remount,rw', storeDir),
    };
  };
  const rowsOf = (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as object);
  const itemsOf = (storeDir: string) => openStore(join(storeDir, 'sessions')).everything('s1')!;

  it('costs only the history: the turn completes and reports the loss, and the file stays intact', async () => {
    const { connection, storeDir, file, before, say, complete, heal } = await begin();
    say('Behind. ');
    expect((await connection.event('PROGRESS', 't1')).target).toContain('EROFS');
    const { result } = await complete('t1', 'Watered.');
    expect(result).toContain('Watered.');
    expect(result).toContain('EROFS');
    expect(readFileSync(file, 'utf8')).toBe(before);
    heal();
    // The daemon stores the next turn again, and leaves no item of the earlier one open.
    connection.send({ type: 'task_resume', task_id: 't2', session_id: 's1', message: 'And the trees?' });
    await connection.status('t2');
    say('All of them.');
    await complete('t2', 'All of them.');
    const text = readFileSync(file, 'utf8');
    expect(text.startsWith(before)).toBe(true);
    expect(rowsOf(text).length).toBeGreaterThan(rowsOf(before).length);
    const items = itemsOf(storeDir);
    expect(items.map(({ role, content }) => [role, content])).toEqual([
      ['USER', 'Water the garden'],
      ['AGENT', 'Before. '],
      ['USER', 'And the trees?'],
      ['AGENT', 'All of them.'],
    ]);
    expect(items.filter(({ part }) => part.open === true)).toEqual([]);
  });

  it('and becomes writable again before the result: that is stored, with a note for people', async () => {
    const { connection, storeDir, say, complete, heal } = await begin();
    say('Behind. ');
    await connection.event('PROGRESS', 't1');
    heal();
    const { message_uuid: last } = await complete('t1', 'Watered.');
    const items = itemsOf(storeDir);
    expect(items.at(-1)).toMatchObject({ uuid: last, content: expect.stringMatching(/^Watered\.[^]*EROFS/) });
    expect(items.filter(({ part }) => part.open === true)).toEqual([]);
    expect(items.some(({ part }) => part.what === 'notice')).toBe(true);
  });

  it('refuses the next turn before its agent starts, with the reason', async () => {
    const { connection, complete } = await begin();
    await complete('t1', 'Watered.');
    connection.send({ type: 'task_resume', task_id: 't2', session_id: 's1', message: 'And the trees?' });
    expect(await connection.event('ERROR', 't2')).toMatchObject({
      error: expect.stringContaining('EROFS'),
      code: 'HISTORY_NOT_WRITTEN',
    });
  });
});

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

  it('under the history fails a task with ERROR before the agent starts, with the reason', async () => {
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

  it('under the journal costs only the records of the journal: the task completes', async () => {
    const { connection, fill } = await begin();
    fill('tasks.jsonl');
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'x' });
    await connection.event('TASK_COMPLETE', 't1');
    await connection.status();
    expect(connection.ends('t1').map(({ event_type: type }) => ended.includes(type))).toEqual([true]);
  });

  it('without space to shorten the file of a session costs nothing: its turn has completed, and the next start succeeds', () => {
    const store = openStore(home.folder());
    const warnings: string[] = [];
    const open = () =>
      createTranscripts({
        store: {
          ...store,
          tidy() {
            throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
          },
        },
        contents: openContents({ folder: home.folder(), nameOf: (name) => name, onTrouble: () => undefined }),
        clock: systemClock,
        settings: transcriptSettings,
        joinMs: 0,
        frames: () => undefined,
        send: () => undefined,
        closed: () => undefined,
        keepsQuestions: true,
        isWatched: () => false,
        log: { info: () => undefined, warn: (what) => warnings.push(what) },
      });
    const words = (taskId: string) =>
      ({ taskId, sessionId: 's1', message: 'Water the garden', projectPath: '/', images: [] }) as const;
    store.create('s1', '/');
    const transcripts = open();
    transcripts.begin(words('t1'), false);
    const uuid = transcripts.end('t1', 's1', { type: 'TASK_COMPLETE', result: 'Watered.' });
    expect(store.everything('s1')!.at(-1)).toMatchObject({ uuid, content: 'Watered.' });
    expect(warnings).toEqual(['history not tidied']);

    transcripts.begin(words('t2'), false);
    transcripts.call('s1', { toolCallId: 'c1', title: 'Open the tap', status: 'in_progress' });
    open().recover();
    expect(store.open('s1')).toEqual([]);
    expect(warnings).toHaveLength(2);
  });

  it('that accepts only a part of the local messages leaves the history unchanged, and all are added later', () => {
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

  it('or a missing folder at the start leads to one sentence, not to a daemon without a history', async () => {
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

  it.each([86_400_000, -86_400_000])('by %d ms keeps a live connection, and still detects a dead one', async (ms) => {
    const relay = await home.relay();
    const { clock, jump } = jumping();
    // Longer than a pause of this process on a busy machine: it checks for silence before it reads the arrived frames.
    home.daemon(relay, echo(), { clock, timings: { silenceMs: 1_500, pingIntervalMs: 250 } });
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

describeWith(['root'], 'a disk that is full while a file arrives', () => {
  it('5.6: refuses the piece with its reason, and the file goes on where it stopped once there is room', () => {
    const folder = home.folder();
    const mount = (...args: string[]) => expect(spawnSync('mount', args)).toMatchObject({ status: 0 });
    mount('-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', folder);
    try {
      const incoming = openIncoming({ folder, clock: { now: () => Date.now() } });
      const id = '01KKNT3B6Q4M8Z1R5T7YB3C6DE';
      const part = Buffer.alloc(32 * 1024, 'x');
      const about = { request_id: 'r', file_id: id } as const;
      const add = (at: number) =>
        incoming.answer({ type: 'file_piece', ...about, offset: at * part.length, data: part.toString('base64') });
      incoming.answer({ type: 'file_open', ...about, name: 'a', size: 3 * part.length });
      expect(add(0)).toMatchObject({ received: part.length });
      expect(add(1)).toMatchObject({ code: 'DEVICE_FULL' });
      expect(incoming.find([id])).toBeUndefined();
      mount('-o', 'remount,size=1m', folder);
      expect(add(1)).toMatchObject({ received: 2 * part.length });
      expect(add(2)).toMatchObject({ received: 3 * part.length, done: true });
    } finally {
      spawnSync('umount', ['--lazy', folder]);
    }
  });
});
