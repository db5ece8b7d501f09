/** Programs that hold a session outside the daemon, according to the agents' records; and how a terminal closes. */
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, silentLog, systemClock } from '@relay/daemon-kit';
import { presetOf } from '../src/agents/acp/presets.ts';
import { agentOf } from '../src/agents/choice.ts';
import { holdersOf } from '../src/agents/holders/holders.ts';
import { historyOf } from '../src/agents/history/readers.ts';
import { demoAgent, demoAgentFile } from './demo-agent.ts';
import { temporaryFolders } from '@relay/testing/folders';
import { house } from './house.ts';
import { lives, terminals, until } from './terminals.ts';

const folders = temporaryFolders();
const desk = terminals();
const others: number[] = [];
const home = house();
afterEach(async () => {
  await home.clear();
  desk.close();
  for (const pid of others.splice(0)) process.kill(pid, 'SIGKILL');
  folders.remove();
});

const marker = 'RELAY_DAEMON_AGENT=test';
/** `patienceMs`: the time for each signal. A program that obeys leaves at once. */
const holders = (root: string, { mode = 'full', agent = 'claude_code', patienceMs = 10_000 } = {}) =>
  holdersOf({ preset: presetOf(agent), env: { HOME: root }, marker, desk: mode as 'full', patienceMs });
const place = () => {
  const root = folders.make();
  return { root, folder: join(root, '.claude') };
};
/** A process that is not an agent. */
const sleeper = (options: object = {}) => {
  const { pid } = spawn('sleep', ['1000'], { stdio: 'ignore', ...options });
  others.push(pid!);
  return pid!;
};
const startOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')[19]!;
const put = (folder: string, pid: number, fields: object) => {
  mkdirSync(join(folder, 'sessions'), { recursive: true });
  writeFileSync(
    join(folder, 'sessions', `${pid}.json`),
    JSON.stringify({ pid, sessionId: 's1', status: 'idle', ...fields }),
  );
};
/** A user with processes outside our control. */
const foreignPid = () =>
  process.getuid?.() === 0
    ? sleeper({ uid: 65_534, gid: 65_534 })
    : Number(readdirSync('/proc').find((name) => /^\d+$/.test(name) && Number(name) > 1 && ownerOf(name) === '0'));
const ownerOf = (pid: string) => /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];

describe('a holder of a session', () => {
  it.each(['idle', 'busy', 'waiting'] as const)('44: appears with its terminal while it is %s', async (status) => {
    const { root, folder } = place();
    await desk.open({ folder, sessionId: 's1', status });
    const held = holders(root).of('s1');
    expect(held).toMatchObject({ state: status, program: 'Claude Code', sure: true, ends: true });
    expect(held?.terminal).toMatch(/^pts\/\d+$/);
    expect(held?.waits).toBe(status === 'waiting' ? 'permission prompt' : undefined);
    expect(JSON.stringify(held)).not.toMatch(/pid|\/tmp/);
    expect(holders(root).of('another')).toBeUndefined();
  });

  it('44: closes after one SIGINT, and its shell and a second terminal survive', async () => {
    const { root, folder } = place();
    const one = await desk.open({ folder, sessionId: 's1' });
    const other = await desk.open({ folder, sessionId: 's2' });
    expect(await holders(root).end('s1', false)).toMatchObject({ result: 'released', program: 'Claude Code' });
    expect(lives(one.pid)).toBe(false);
    await until(() => (/claude --resume s1\s+shell lives on/.test(one.output()) ? true : undefined));
    expect(lives(other.pid)).toBe(true);
    expect(holders(root).of('s1')).toBeUndefined();
    expect(await holders(root).end('s1', false)).toEqual({ result: 'not_held' });
  });

  it('44: closes only on request while it works or waits for a person', async () => {
    const { root, folder } = place();
    const { pid } = await desk.open({ folder, sessionId: 's1', status: 'busy' });
    expect(await holders(root).end('s1', false)).toMatchObject({ result: 'busy' });
    expect(lives(pid)).toBe(true);
    expect(await holders(root).end('s1', true)).toMatchObject({ result: 'released' });
  });

  it('44: without a terminal is foreign, and gets no signal', async () => {
    const { root, folder } = place();
    const { pid } = await desk.open({ folder, sessionId: 's1', bare: true });
    expect(holders(root).of('s1')).toMatchObject({ sure: true, ends: false, why: 'foreign' });
    expect(await holders(root).end('s1', true)).toMatchObject({ result: 'foreign' });
    expect(lives(pid)).toBe(true);
  });

  it('44: that ignores SIGINT gets SIGTERM', async () => {
    const { root, folder } = place();
    await desk.open({ folder, sessionId: 's1', ignores: 'SIGINT' });
    expect(await holders(root, { patienceMs: 2000 }).end('s1', false)).toMatchObject({ result: 'released' });
  });

  it('44: survives if it ignores both signals, and the answer is failed with its terminal', async () => {
    const { root, folder } = place();
    const { pid } = await desk.open({ folder, sessionId: 's1', ignores: 'SIGINT SIGTERM' });
    const { terminal } = holders(root).of('s1')!;
    const kill = jest.spyOn(process, 'kill');
    expect(await holders(root, { patienceMs: 400 }).end('s1', false)).toMatchObject({
      result: 'failed',
      detail: `It did not end. Close it in ${terminal}.`,
    });
    // 6: to this process alone, and never SIGKILL.
    const signals = kill.mock.calls.filter(([, signal]) => signal !== 0);
    kill.mockRestore();
    expect(signals).toEqual([
      [pid, 'SIGINT'],
      [pid, 'SIGTERM'],
    ]);
    expect(lives(pid)).toBe(true);
  });

  it('44: appears and never closes with --desk show', async () => {
    const { root, folder } = place();
    const { pid } = await desk.open({ folder, sessionId: 's1' });
    expect(holders(root, { mode: 'show' }).of('s1')).toMatchObject({ sure: true, ends: false });
    expect(await holders(root, { mode: 'show' }).end('s1', true)).toMatchObject({ result: 'foreign' });
    expect(lives(pid)).toBe(true);
  });

  it("44: excludes the daemon's own processes", async () => {
    const { root, folder } = place();
    await desk.open({ folder, sessionId: 's1', env: { RELAY_DAEMON_AGENT: 'test' } });
    expect(holders(root).of('s1')).toBeUndefined();
  });
});

describe('a record of a holder', () => {
  it('44: is ignored if it names another program', () => {
    const { root, folder } = place();
    const pid = sleeper();
    put(folder, pid, { procStart: startOf(pid) });
    expect(holders(root).of('s1')).toBeUndefined();
  });

  it('44: never causes a signal if it names a later process with the same number', async () => {
    const { root, folder } = place();
    const { pid } = await desk.open({ folder, sessionId: 's1' });
    put(folder, pid, { procStart: String(Number(startOf(pid)) - 1) });
    expect(holders(root).of('s1')).toBeUndefined();
    expect(await holders(root).end('s1', true)).toEqual({ result: 'not_held' });
    expect(lives(pid)).toBe(true);
  });

  it("44: is ignored if it names another user's process", () => {
    const { root, folder } = place();
    const pid = foreignPid();
    put(folder, pid, { procStart: startOf(pid) });
    expect(holders(root).of('s1')).toBeUndefined();
  });

  it('44: without a start time is likely, and never causes a signal', async () => {
    const { root, folder } = place();
    const { pid } = await desk.open({ folder, sessionId: 's1' });
    put(folder, pid, {});
    expect(holders(root).of('s1')).toMatchObject({ sure: false, ends: false });
    expect(await holders(root).end('s1', true)).toMatchObject({ result: 'foreign' });
    expect(lives(pid)).toBe(true);
  });

  it('44: is ignored if its process is gone, its file is torn or its session is missing', () => {
    const { root, folder } = place();
    put(folder, 4_000_000, { procStart: '1' });
    put(folder, process.pid, { sessionId: 7 });
    writeFileSync(join(folder, 'sessions', '77.json'), '{"sess');
    expect(holders(root).look()).toEqual(new Map());
  });
});

/** A server of Codex that has these sessions locked. Resolves with its pid. */
function codexServer(root: string, ids: readonly string[]) {
  const locks = join(root, '.codex/thread-writer-locks');
  mkdirSync(locks, { recursive: true });
  const files = ids.map((id) => join(locks, `${id}.lock`));
  for (const file of files) writeFileSync(file, '');
  const held = files.map((file, n) => `open(F${n}, '>', "${file}"); flock(F${n}, 2);`).join(' ');
  const { pid } = spawn('perl', ['-e', `$0 = 'codex'; ${held} sleep 1000`], { stdio: 'ignore' });
  others.push(pid!);
  return pid!;
}

describe('a request to release a session', () => {
  type Open = (root: string, sessionId: string) => Promise<unknown>;
  const terminal =
    (more: object): Open =>
    (root, sessionId) =>
      desk.open({ folder: join(root, '.claude'), sessionId, ...more });
  const cases: [result: string, open: Open, agent?: string][] = [
    ['not_held', () => Promise.resolve()],
    ['released', terminal({})],
    ['busy', terminal({ status: 'busy' })],
    ['foreign', terminal({ bare: true })],
    ['failed', terminal({ ignores: 'SIGINT SIGTERM' })],
    [
      'shared',
      (root, sessionId) => {
        codexServer(root, [sessionId, 'another']);
        // It locks them one after the other.
        const codex = holders(root, { agent: 'codex' });
        return until(() => codex.of('another') && codex.of(sessionId));
      },
      'codex',
    ],
  ];

  it.each(cases)('44, desk 5: results in %s at the relay', async (result, open, agent = 'claude_code') => {
    const root = folders.make();
    const relay = await home.relay({ declares: ['transcript', 'prompts', 'desk'] });
    const patience = result === 'failed' ? { patienceMs: 400 } : {};
    home.daemon(relay, demoAgent(home, { holders: holders(root, { agent, ...patience }) }).agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't1');
    await open(root, sessionId!);
    const release = (id: string) => {
      connection.send({ type: 'force_quit_session', request_id: 'r1', session_id: id });
      return connection.frame('force_quit_result');
    };
    expect(await release(sessionId!)).toMatchObject({ status: result, session_id: sessionId });
    expect(await release('another')).toMatchObject({ status: 'unknown_session' });
  });
});

describe('a lock of Codex', () => {
  it('44: of a server with two sessions is shared, and the server survives', async () => {
    const root = folders.make();
    const pid = codexServer(root, ['t1', 't2']);
    const codex = holders(root, { agent: 'codex' });
    const held = await until(() => codex.of('t2') && codex.of('t1'));
    expect(held).toMatchObject({ program: 'Codex', state: 'unknown', sure: true, ends: false, why: 'shared' });
    expect(await codex.end('t1', true)).toMatchObject({ result: 'shared' });
    expect(lives(pid)).toBe(true);
  });
});

describe('our own process of Codex', () => {
  /** The program of an agent that has this file locked as long as it runs, and its daemon. `minutes`: the timers of 60 s. */
  async function locked() {
    const root = folders.make();
    const lock = join(root, 'thread.lock');
    const minutes = new Set<() => void>();
    const after: Clock['after'] = (delayMs, run) => {
      if (delayMs !== 60_000) return systemClock.after(delayMs, run);
      minutes.add(run);
      return () => void minutes.delete(run);
    };
    const choice = {
      kind: 'acp',
      preset: 'codex',
      program: 'flock',
      args: ['--nonblock', lock, process.execPath, demoAgentFile],
      env: { DEMO_AGENT_HOME: root, CODEX_HOME: root },
    } as const;
    const place = { rules: { defaultPath: root }, stateDir: root, log: silentLog };
    const { agent } = agentOf({ ...choice, args: [...choice.args] }, { ...place, clock: { ...systemClock, after } });
    const relay = await home.relay();
    home.daemon(relay, agent);
    const isFree = () => spawnSync('flock', ['--nonblock', lock, 'true']).status === 0;
    return { connection: await relay.connection(), isFree, minutes };
  }

  it('44, desk 10: leaves after 60 s without a turn, so that a terminal can lock the session; a later message starts it again', async () => {
    const { connection, isFree, minutes } = await locked();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't1');
    expect(isFree()).toBe(false);
    for (const end of minutes) end();
    await until(() => isFree() || undefined);
    connection.send({ type: 'task_resume', task_id: 't2', session_id: sessionId!, message: 'again' });
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('echo 2: again');
    expect(isFree()).toBe(false);
  });
});

describe('a record of another agent', () => {
  it('44: of Qwen Code is certain if the process started with it, of Copilot never', async () => {
    const root = folders.make();
    const { pid } = await desk.open({ folder: join(root, '.claude'), sessionId: 'x' });
    const chats = join(root, '.qwen/projects/p/chats');
    mkdirSync(chats, { recursive: true });
    const qwen = { ...presetOf('qwen')!, programs: ['claude'] };
    const of = (startedAt: number) => {
      const row = { pid, session_id: 'q1', started_at: new Date(startedAt).toISOString() };
      writeFileSync(join(chats, 'q1.runtime.json'), JSON.stringify(row));
      return holdersOf({ preset: qwen, env: { HOME: root }, marker, desk: 'full' }).of('q1');
    };
    expect(of(Date.now())).toMatchObject({ sure: true, ends: true });
    expect(of(Date.now() - 60_000)).toBeUndefined();
    const state = join(root, '.copilot/session-state/c1');
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, `inuse.${pid}.lock`), '');
    const copilot = { ...presetOf('copilot')!, programs: ['claude'] };
    expect(holdersOf({ preset: copilot, env: { HOME: root }, marker, desk: 'full' }).of('c1')).toMatchObject({
      sure: false,
      ends: false,
    });
  });
});

describe('a history of Claude Code with an open call at its end', () => {
  const time = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  const rows = [
    { type: 'user', uuid: 'u1', cwd: '/my/project', message: { role: 'user', content: 'go' } },
    {
      type: 'assistant',
      uuid: 'a1',
      message: {
        id: 'm1',
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'sleep 1000' } },
        ],
        stop_reason: 'tool_use',
      },
    },
  ].map((row, index) => ({ ...row, timestamp: time(index) }));
  const scene = () => {
    const { root, folder } = place();
    const path = join(folder, 'projects/-my-project/s1.jsonl');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const here = holders(root);
    return { folder, here, outside: historyOf(presetOf('claude_code'), { HOME: root }, here)! };
  };

  it('44: is active while its terminal lives, and complete after it left', async () => {
    const { folder, here, outside } = scene();
    await desk.open({ folder, sessionId: 's1', status: 'busy' });
    expect(outside.sessions()).toMatchObject([{ sessionId: 's1', isActive: true }]);
    expect(outside.read('s1')?.open).toBe(true);
    const before = outside.stamp('s1');
    await here.end('s1', true);
    await until(() => (outside.stamp('s1') === before ? undefined : true));
    expect(outside.read('s1')).toMatchObject({ open: false, updates: expect.arrayContaining([expect.anything()]) });
    expect(outside.sessions()).toMatchObject([{ isActive: false }]);
  });

  it('44: closes at the relay with a mark, and a watcher gets it without another line in the file', async () => {
    const { folder, here, outside } = scene();
    await desk.open({ folder, sessionId: 's1', status: 'busy' });
    const relay = await home.relay({ declares: ['transcript', 'prompts', 'desk'] });
    home.daemon(relay, demoAgent(home).agent, { outside, timings: { watchIntervalMs: 20 } });
    const connection = await relay.connection();
    connection.send({ type: 'watch_session', session_id: 's1' });
    const read = async () => {
      connection.send({ type: 'get_messages', request_id: 'r', session_id: 's1', limit: 10, parts: true });
      const { messages } = await connection.frame('messages');
      return messages?.map(({ part }) => [part?.kind, part?.what ?? part?.status].filter(Boolean).join(' '));
    };
    expect(await read()).toEqual(['user', 'text']);
    await here.end('s1', true);
    expect(await connection.frame('session_activity')).toMatchObject({ session_id: 's1' });
    expect(await read()).toEqual(['user', 'text', 'tool unknown', 'mark interrupted']);
  });

  it('44: stays open for a Claude Code version without program records', () => {
    expect(scene().outside.read('s1')?.open).toBe(true);
  });
});

it('44: the command continues a session in its folder, with any name', () => {
  const claude = holders('/home/ada');
  expect(claude.command('s1', '/home/ada/projects/garden-api')).toBe('cd ~/projects/garden-api && claude --resume s1');
  expect(claude.command('s1', "/srv/it's $HOME")).toBe(String.raw`cd '/srv/it'\''s $HOME' && claude --resume s1`);
  expect(claude.command('s1', '/srv/a\nb')).toBeUndefined();
  expect(holders('/home/ada', { agent: 'gemini' }).command('s1', '/srv')).toBeUndefined();
});
