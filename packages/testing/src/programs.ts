/** System programs that tests start: found on the PATH, stopped with the test that started them. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';

/** The path of a program. Throws, naming the package to install, if it is missing: a test is never skipped silently. */
export function findProgram(name: string, debianPackage: string): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin', '/usr/local/bin'];
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this one.
    }
  }
  throw new Error(
    `${name} is not installed. On Debian and Ubuntu: apt-get install --no-install-recommends ${debianPackage}`,
  );
}

/**
 * A port of the loopback address that was free a moment ago, and that the system gives to no connection and to no listener of itself: it
 * stays free until a program of these tests asks for it. Workers of Jest get different ports.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * (portsPerWorker - 1));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

const portsPerWorker = 2400;
/** Above 10080, which fetch and browsers refuse, and below the ports that Linux gives to connections, for eight workers. */
const firstPort = 10_100 + portsPerWorker * (Number(process.env.JEST_WORKER_ID ?? 0) % 8);
/** The ports of this process: the program of an earlier one might not listen yet. */
const given = new Set<number>();

/** The same, as the next one was. */
export async function twoFreePorts(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + 1)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const isOurs = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  await new Promise((resolve) => server.close(resolve));
  return isOurs;
}

export interface Child {
  readonly process: ChildProcess;
  /** The last 200,000 characters of its output. */
  output(): string;
  /** Resolves when its output matches; rejects, with the output, if it exits first or takes too long. */
  wrote(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void;
  /** Sends a signal, waits for the exit, and returns the exit code: null after a fatal signal. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

const keptCharacters = 200_000;
const patienceMs = 60_000;

/** Starts a program whose output is read. It is killed when this process exits. */
export function startProgram(command: string, args: readonly string[], options: SpawnOptions = {}): Child {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let written = '';
  const readers = new Set<() => void>();
  const read = (chunk: Buffer) => {
    written = (written + chunk.toString('utf8')).slice(-keptCharacters);
    for (const look of readers) look();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const lastResort = () => child.kill('SIGKILL');
  process.once('exit', lastResort);
  const exited = once(child, 'exit').then(([code]) => {
    process.off('exit', lastResort);
    for (const look of readers) look();
    return code as number | null;
  });
  exited.catch(() => undefined);
  const gone = () => child.exitCode !== null || child.signalCode !== null;
  return {
    process: child,
    output: () => written,
    wrote: (pattern, withinMs = patienceMs) =>
      new Promise((resolve, reject) => {
        const done = (act: () => void) => {
          readers.delete(look);
          clearTimeout(timer);
          act();
        };
        const fail = (why: string) => reject(new Error(`${command} ${args.join(' ')} ${why}:\n${written}`));
        const timer = setTimeout(() => done(() => fail(`has not written ${pattern} in ${withinMs} ms`)), withinMs);
        const look = () => {
          const found = pattern.exec(written);
          if (found) done(() => resolve(found));
          else if (gone()) done(() => fail(`ended (${child.exitCode ?? child.signalCode})`));
        };
        readers.add(look);
        look();
      }),
    signal: (signal) => void child.kill(signal),
    end: (signal) => {
      child.kill(signal);
      // A stopped process reacts to SIGKILL only, until it continues.
      if (signal === 'SIGTERM') child.kill('SIGCONT');
      return exited;
    },
  };
}

/** Runs a program until it exits. Throws with its output if it fails. */
export function runProgram(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed (${status}): ${stderr}${stdout}`);
  return stdout;
}
