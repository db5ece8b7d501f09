// The four that are measured side by side: the relay, its single process, the physical limit and Socket.IO; each with a load of its own.
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuUs, startCpu } from '../cpu.mjs';
import { start } from '../process.mjs';
import { startInstances, startSingle } from './relay.mjs';
import { startRival } from './rivals.mjs';

const loadMain = fileURLToPath(new URL('../load/main.mjs', import.meta.url));
const flatUs = 4_000;
const lookMs = 100;
const looks = 100;

export const names = {
  relay: 'relay',
  before: 'before',
  single: 'single process',
  raw: 'raw',
  bare: 'express, limiter, raw',
  floor: 'floor',
  socketio: 'Socket.IO',
};

const starts = {
  relay: (options) => startInstances(options),
  /** The relay of another revision. */
  before: (options) => startInstances({ ...options, build: options.before }),
  single: (options) => startSingle({ ...options, dataDir: options.folder() }),
  raw: (options) => startRival('raw', options),
  /** The raw system with the usual limiter of a public service before its routes. */
  bare: (options) => startRival('raw', { ...options, http: 'express' }),
  /** The raw system with the work that the promise requires; requests meet a limiter and a token. */
  floor: (options) => startRival('raw', { ...options, http: 'express', needs: options.floorNeeds }),
  socketio: (options) => startRival('socketio', options),
};

/**
 * Starts the named systems together; if `before` is set, the folder of another revision, starts the relay of both
 * instead. `stop` stops all of them.
 */
export async function startAll(wanted, options) {
  const which = options.before === undefined ? wanted : ['relay', 'before'];
  const running = [];
  const stop = async () => {
    await Promise.all(
      running.splice(0).map(async ({ load, system }) => {
        await load.stop();
        await system.stop();
      }),
    );
  };
  const started = await Promise.allSettled(
    which.map(async (name) => {
      options.progress?.(`starting: ${names[name]}`);
      const system = await starts[name](options);
      try {
        return { name, system, load: await startLoad(system) };
      } catch (error) {
        await system.stop();
        throw error;
      }
    }),
  );
  for (const { status, value } of started) if (status === 'fulfilled') running.push(value);
  const failed = started.find(({ status }) => status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  return { systems: running, stop };
}

/** A process that acts as this system's clients; `env`: further variables of it. */
export async function startLoad(system, env = {}) {
  const child = await start(loadMain, {
    env: { PATH: process.env.PATH, ...env },
    port: (said) => /listening on (\d+)/.exec(said)?.[1],
  });
  const { dialect, people } = system;
  const use = () =>
    child.call('use', { dialect, people, apps: system.apps(), daemons: system.daemons(), http: system.http() });
  await use();
  return {
    ask: (what, args) => child.call(what, args),
    /** Addresses changed: everything from now on goes to the new ones; no open connection uses them. */
    use,
    stop: () => child.stop(),
  };
}

/**
 * Processor time, in µs, caused by `act`: until it has resolved and the processes are at rest again. `{ result, busyMs,
 * pods, redis, database, all }`, where `all` is pods and Redis, and `busyMs` the time until rest, to 100 ms.
 */
export async function measured(system, act) {
  const groups = await system.groups();
  const read = startCpu(groups);
  const startedAt = performance.now();
  const result = await act();
  let before = read();
  let busyMs = performance.now() - startedAt;
  for (let n = 0; n < looks; n += 1) {
    await wait(lookMs);
    const now = read();
    const moved = now.pods + now.redis + now.database - before.pods - before.redis - before.database;
    before = now;
    if (moved < flatUs) break;
    busyMs = performance.now() - startedAt;
  }
  // A connection to PostgreSQL that opened during `act` is a new process: all its time counts.
  const known = new Set(groups.database);
  for (const pid of (await system.groups()).database) if (!known.has(pid)) before.database += cpuUs(pid);
  return { result, busyMs, ...before, all: before.pods + before.redis };
}
