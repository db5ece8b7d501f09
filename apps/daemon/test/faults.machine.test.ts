/**
 * The agent or the daemon dies at every step of a turn: every task gets an outcome, and no task gets two different
 * ones, except a task whose question died with it: the daemon reports that.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DoubleConnection } from '@relay/daemon-kit/conformance';
import { readConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { registered, running } from './registered.ts';

const home = house();
afterEach(() => home.clear());

async function begin(env: Record<string, string> = {}) {
  const relay = await home.relay();
  const folder = registered(home, relay);
  const place = homeOf({ home: folder, env: {} });
  const config = readConfig(place);
  const agent = { kind: 'acp', preset: 'demo', env: { DEMO_AGENT_HOME: home.folder(), ...env } } as const;
  if (config) writeConfig(place, { ...config, agent });
  const pidFile = join(place.stateDir, 'agents.json');
  // Runs last: kills the processes that a killed daemon leaves on purpose.
  home.later(() => {
    const left = existsSync(pidFile) ? (JSON.parse(readFileSync(pidFile, 'utf8')) as number[]) : [];
    for (const pid of left.filter(lives))
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It has exited since: agents leave when their daemon is gone.
      }
    return Promise.resolve();
  });
  const start = () => running(home, folder);
  const program = start();
  const connection = await relay.connection();
  /** The agent processes of the daemon, once they exist. */
  const agents = async () => {
    for (;;) {
      const pids = existsSync(pidFile) ? (JSON.parse(readFileSync(pidFile, 'utf8')) as number[]) : [];
      if (pids.length > 0) return pids;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { relay, start, program, connection, agents };
}
type World = Awaited<ReturnType<typeof begin>>;

const startTask = (connection: DoubleConnection, instruction: string) =>
  connection.send({ type: 'task_start', task_id: 't1', instruction });
const resumeTask = (connection: DoubleConnection, taskId: string, session: string, message: string) =>
  connection.send({ type: 'task_resume', task_id: taskId, session_id: session, message });

/** Whether the process runs; dead processes stay in the table if no parent reaps them. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = existsSync('/proc') ? readFileSync(`/proc/${pid}/stat`, 'latin1') : ') R';
    return !/^\) [ZX]/.test(stat.slice(stat.lastIndexOf(')')));
  } catch {
    return false;
  }
}

/** A step of a turn and the way to reach it. Returns the session, if it has a name by then. */
const steps: Record<string, { env?: Record<string, string>; reach: (world: World) => Promise<string> }> = {
  'the session is being opened': {
    env: { DEMO_AGENT_FAULT: 'hang-new' },
    async reach({ connection }) {
      startTask(connection, 'hello');
      await connection.status('t1');
      return '';
    },
  },
  'the agent is silent': {
    async reach({ connection }) {
      startTask(connection, 'hang');
      return (await connection.event('OUTPUT', 't1')).session_id ?? '';
    },
  },
  'the agent speaks': {
    async reach({ connection }) {
      startTask(connection, 'slow');
      return (await connection.event('OUTPUT', 't1')).session_id ?? '';
    },
  },
  'the agent waits for an answer': {
    async reach({ connection }) {
      startTask(connection, 'perm');
      return (await connection.event('WAIT_FOR_USER', 't1')).session_id ?? '';
    },
  },
  'an answer brought the next question': {
    async reach({ connection }) {
      startTask(connection, 'perms');
      const session = (await connection.event('WAIT_FOR_USER', 't1')).session_id ?? '';
      resumeTask(connection, 't2', session, 'Allow');
      await connection.event('WAIT_FOR_USER', 't2');
      return session;
    },
  },
  'the turn is over': {
    async reach({ connection }) {
      startTask(connection, 'hello');
      return (await connection.event('TASK_COMPLETE', 't1')).session_id ?? '';
    },
  },
};
const names = Object.keys(steps);

describe('the daemon is killed while', () => {
  it.each(names)('%s: after its restart every task has its outcome, and the session continues', async (name) => {
    const { env, reach } = steps[name]!;
    const world = await begin(env);
    const { program, relay, connection, start } = world;
    const session = await reach(world);
    program.child.kill('SIGKILL');
    await program.exit;
    start();
    const after = await relay.connection();
    await after.settle();
    for (const taskId of name.includes('next question') ? ['t1', 't2'] : ['t1']) {
      const ends = [...connection.ends(taskId), ...after.ends(taskId)];
      // A relay can get an outcome twice, but never two different ones; after a question it gets the loss as well (A5).
      const different = new Map(ends.map((end) => [JSON.stringify(end), end.event_type]));
      const asked = { 'the agent waits for an answer': 't1', 'an answer brought the next question': 't2' }[name];
      if (asked === taskId) expect([...different.values()]).toEqual(['WAIT_FOR_USER', 'ERROR']);
      else expect(different.size).toBe(1);
    }
    if (session === '') return;
    resumeTask(after, 't9', session, 'and now');
    expect((await after.event('TASK_COMPLETE', 't9')).result).toMatch(/^echo \d: and now$/);
  });

  it('the relay cannot get the outcome: the next daemon sends it', async () => {
    const { program, relay, connection, start } = await begin();
    startTask(connection, 'hello');
    // At once: on a busy machine the turn can be over before this test takes another frame.
    connection.freeze();
    await program.says('task ended');
    program.child.kill('SIGKILL');
    await program.exit;
    start();
    const after = await relay.connection();
    expect((await after.event('TASK_COMPLETE', 't1')).result).toBe('echo 1: hello');
  });
});

describe('the agent is killed while', () => {
  it.each(names)('%s: every task has one outcome, and the session continues', async (name) => {
    const { env, reach } = steps[name]!;
    const world = await begin(env);
    const { connection, agents, program } = world;
    const session = await reach(world);
    for (const pid of await agents()) process.kill(pid, 'SIGKILL');
    const over = /over|answer/.test(name);
    await program.says('agent process ended');
    if (!over) expect((await connection.event('ERROR', 't1')).error).toContain('SIGKILL');
    if (session !== '') {
      resumeTask(connection, 't9', session, 'and now');
      expect((await connection.event('TASK_COMPLETE', 't9')).result).toMatch(/^echo \d: and now$/);
    }
    await connection.settle();
    const ends = connection.ends('t1').map(({ event_type: type }) => type);
    if (name === 'the agent waits for an answer') expect(ends).toEqual(['WAIT_FOR_USER', 'ERROR']);
    else expect(ends).toHaveLength(1);
  });

  it('its turn is being cancelled: the task gets no outcome, and the session continues', async () => {
    const { connection, agents } = await begin();
    startTask(connection, 'deaf');
    const { session_id: session } = await connection.event('OUTPUT', 't1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.status();
    for (const pid of await agents()) process.kill(pid, 'SIGKILL');
    resumeTask(connection, 't2', session ?? '', 'and now');
    await connection.event('TASK_COMPLETE', 't2');
    expect(connection.ends('t1')).toEqual([]);
  });
});

describe('a daemon that was killed', () => {
  it("leaves no agent behind: the next one kills the first one's processes", async () => {
    const { program, relay, connection, start, agents } = await begin();
    startTask(connection, 'hang');
    await connection.event('OUTPUT', 't1');
    const left = await agents();
    expect(left).toHaveLength(1);
    program.child.kill('SIGKILL');
    await program.exit;
    const next = start();
    await relay.connection();
    await next.says(/ERROR|turned|connected/);
    // A killed process stays listed until its parent has reaped it.
    for (const pid of left) while (lives(pid)) await delay(20);
  });
});
