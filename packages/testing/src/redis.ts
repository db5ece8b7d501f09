/**
 * Real Redis servers for tests: in a temporary folder, on free loopback ports, without persistence. They stop with the
 * process that started them, also on `kill -9`, and tests can kill, freeze and empty them. Independent of the relay.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './programs.ts';

const startTimeoutMs = 30_000;
const commandTimeoutMs = 5_000;

export interface TestRedis {
  readonly host: string;
  readonly port: number;
  /** `redis://…`, with the password when there is one. */
  readonly url: string;
  /** Sends one command, by redis-cli, and returns its answer; fails after 5 s. */
  command(...words: string[]): Promise<string>;
  /** Runs redis-cli with these arguments alone; fails after a minute. */
  cli(...args: string[]): Promise<string>;
  /** Everything stored is lost; who is connected stays. */
  flush(): Promise<void>;
  /** Kills it like a crash, and waits until it is gone. Keeps no data. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port, empty. */
  restart(): Promise<void>;
  /** Freezes it: connections stay and nothing is answered. */
  pause(): void;
  /** Thaws it. */
  resume(): void;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

interface RedisSettings {
  /** Password for clients; unset by default. */
  password?: string;
  /** Lines of the configuration, as `['maxmemory', '4mb']`. */
  config?: readonly (readonly [name: string, value: string])[];
  /** The program: `redis-sentinel` for a sentinel. */
  program?: 'redis-server' | 'redis-sentinel';
  /** A configuration file that the program can rewrite. */
  configFile?: string;
  port?: number;
}

/**
 * Starts a server; resolves when it answers. Throws when Redis is not installed, naming the packages to install.
 */
export async function startRedis(settings: RedisSettings = {}): Promise<TestRedis> {
  const program = findProgram(settings.program ?? 'redis-server');
  const cli = findProgram('redis-cli');
  const folder = mkdtempSync(path.join(os.tmpdir(), 'relay-redis-'));
  const port = settings.port ?? (await freePort());
  const host = '127.0.0.1';
  const { password } = settings;
  const config = [
    ['port', String(port)],
    ['bind', host],
    ['dir', folder],
    ['logfile', ''],
    ...(settings.program === 'redis-sentinel' ? [] : storeless),
    ...(password === undefined ? [] : [['requirepass', password]]),
    ...(settings.config ?? []),
  ];
  const args = [
    ...(settings.configFile === undefined ? [] : [settings.configFile]),
    ...config.flatMap(([name, value]) => [`--${name}`, value ?? '']),
  ];
  const ask = async (args: string[], timeout: number): Promise<string> => {
    const env = password === undefined ? process.env : { ...process.env, REDISCLI_AUTH: password };
    const { stdout } = await promisify(execFile)(cli, args, { timeout, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  };
  const command = (...words: string[]) =>
    ask(['-h', host, '-p', String(port), '--no-auth-warning', ...words], commandTimeoutMs);
  let server = await launch(program, args, folder);
  return {
    host,
    port,
    url: `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}${host}:${port}`,
    command,
    cli: (...args) => ask(args, 60_000),
    flush: async () => void (await command('FLUSHALL')),
    kill: () => server.end(),
    restart: async () => {
      await server.end();
      server = await launch(program, args, folder);
    },
    pause: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
    stop: async () => {
      await server.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const storeless = [
  ['save', ''],
  ['appendonly', 'no'],
];

interface Server {
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills it, frozen or not, and waits until it is gone. */
  end(): Promise<void>;
}

/**
 * Runs the server beside a watcher that reads our stdin, which closes with our process: then the watcher kills the
 * server and removes its folder.
 * Prints its process id first.
 */
const guardian = `
  folder=$1; shift
  exec 3<&0
  "$@" 3<&- </dev/null & server=$!
  echo "pid:$server:"
  { if ! read -r word <&3; then rm -rf "$folder"; fi
    kill -CONT $server; kill -KILL $server
  } 2>/dev/null >/dev/null &
  wait $server`;

async function launch(program: string, args: string[], folder: string): Promise<Server> {
  const child = spawn('/bin/sh', ['-c', guardian, 'sh', folder, program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // an interrupt from the terminal is ours to handle
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const pid = await ready(child);
  let ended = false;
  return {
    signal: (signal) => void process.kill(pid, signal),
    end: async () => {
      child.ref();
      if (!ended) child.stdin.end('end\n');
      ended = true;
      await exited;
    },
  };
}

/**
 * Resolves with the process id when the log shows that it accepts connections; rejects with the log if it exits first.
 */
function ready(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let log = '';
    let done = false;
    const clock = setTimeout(() => fail(`did not start within ${startTimeoutMs} ms`), startTimeoutMs);
    const fail = (reason: string) => {
      clearTimeout(clock);
      child.stdin!.destroy();
      if (!done) reject(new Error(`Redis ${reason}:\n${log}`));
      done = true;
    };
    child.once('exit', (code) => fail(`ended with code ${String(code)}`));
    child.once('error', reject);
    child.stderr!.resume();
    child.stdout!.on('data', (text: Buffer) => {
      if (done) return; // read on, so that the server never waits for us
      log += text.toString('utf8');
      const pid = /pid:(\d+):/.exec(log);
      if (!pid || !/Ready to accept connections|Sentinel ID is/.test(log)) return;
      clearTimeout(clock);
      done = true;
      child.unref();
      for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Socket).unref();
      resolve(Number(pid[1]));
    });
  });
}

function findProgram(name: string): string {
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(dir, name);
    if (dir !== '' && existsSync(file)) return file;
  }
  throw new Error(
    `Redis is not installed: no \`${name}\` on the PATH. On Debian and Ubuntu: apt-get install redis-server redis-sentinel`,
  );
}
