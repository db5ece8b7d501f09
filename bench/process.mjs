// Child processes of the bench: the shipped relay, and the systems for comparison. Reads memory from /proc.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const relayMain = fileURLToPath(new URL('../apps/standalone/dist/main.js', import.meta.url));
const observer = new URL('./observer.mjs', import.meta.url).href;
const startTimeoutMs = 120_000;
const stopTimeoutMs = 15_000;

/** Nothing of the caller's configuration reaches the relay; limits that a bench would run into are raised. */
const relayEnvironment = (dataDir) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  PORT: '0',
  METRICS_PORT: '0',
  AUTH_BUILTIN: 'off',
  AUTH_DEV_ISSUER: 'on',
  LOG_LEVEL: 'warn',
  DATA_DIR: dataDir,
  RATE_LIMIT_PER_MINUTE: '1000000',
  SOCKETS_PER_USER: '100000',
  DEVICES_PER_USER: '1000',
  SESSION_CREATE_PER_MINUTE: '1000000',
  FRAMES_PER_SECOND: '1000000',
  FRAME_BURST: '1000000',
});

/**
 * Starts `apps/standalone/dist/main.js` and resolves when it listens. `observed` loads observer.mjs into it; otherwise
 * it runs exactly as `npm start` runs it. Rejects with its last output if it exits first.
 */
export function startRelay(dataDir, { observed = false } = {}) {
  return start(relayMain, {
    env: relayEnvironment(dataDir),
    execArgv: observed ? ['--expose-gc', '--import', observer] : [],
    port: (said) => /listening on [^\s]*:(\d+)\)/.exec(said)?.[1],
  });
}

/** Starts one of `bench/baseline/`, always observed; it prints the port it listens on. */
export function startBaseline(name) {
  return start(fileURLToPath(new URL(`./baseline/${name}.mjs`, import.meta.url)), {
    env: { PATH: process.env.PATH },
    execArgv: ['--expose-gc', '--import', observer],
    port: (said) => /listening on (\d+)/.exec(said)?.[1],
  });
}

/**
 * Starts a program and resolves when `port` finds the port in its output. Rejects with its last output if it exits
 * first.
 */
export async function start(file, { env, execArgv = [], port: portIn }) {
  const startedAt = performance.now();
  const child = fork(file, [], { env, execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], serialization: 'advanced' });
  const lastResort = () => child.kill('SIGKILL');
  // Before the removal of folders that it might still write to.
  process.prependOnceListener('exit', lastResort);
  child.once('exit', () => process.off('exit', lastResort));
  let said = '';
  const port = await new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`${file} ${why}. It said:\n${said}`));
    const clock = setTimeout(() => fail(`did not listen within ${startTimeoutMs} ms`), startTimeoutMs);
    const listen = (chunk) => {
      said = `${said}${chunk}`.slice(-10_000);
      const port = portIn(said);
      if (port === undefined) return;
      clearTimeout(clock);
      resolve(Number(port));
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('error', reject);
    child.once('exit', (code, signal) => fail(`ended with ${signal ?? `code ${code}`}`));
  });
  const startMs = performance.now() - startedAt;
  let lastId = 0;
  const ask = (what, args) =>
    new Promise((resolve, reject) => {
      const id = (lastId += 1);
      const settle = (act) => {
        child.off('message', take);
        child.off('exit', lost);
        act();
      };
      const take = (reply) => reply.id === id && settle(() => resolve(reply));
      const lost = () => settle(() => reject(new Error(`${file} has gone. It said:\n${said}`)));
      child.on('message', take);
      child.once('exit', lost);
      child.send({ id, what, args });
    });
  return {
    pid: child.pid,
    port,
    startMs,
    url: `http://127.0.0.1:${port}`,
    ws: `ws://127.0.0.1:${port}`,
    /** The texts for people, and the log: warnings only. */
    said: () => said,
    memoryMB: () => memoryMB(child.pid),
    /** Since the last time: durations of requests as the server saw them, and processor time. Observed children only. */
    take: () => ask('take'),
    /**
     * Sends a request to a child of the bench: `{ id, what, args }`, answered by `{ id, result }` or `{ id, error }`.
     */
    call: async (what, args) => {
      const { error, result } = await ask(what, args);
      if (error !== undefined) throw new Error(`${what}: ${error}`);
      return result;
    },
    /** After a garbage collection. Observed children only. */
    settledMemoryMB: () => ask('memory'),
    /** Sends SIGTERM, and SIGKILL after `patienceMs`. Resolves with the exit code: null for a signal. */
    stop: async (patienceMs = stopTimeoutMs) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const clock = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      const [code] = await gone;
      clearTimeout(clock);
      return code;
    },
  };
}

/** Resident memory now and at its highest, as the kernel counts it (Linux). */
function memoryMB(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name) => (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6;
  return { resident: of('VmRSS'), peak: of('VmHWM'), anonymous: of('RssAnon') };
}
