/** The built program as a real process. Run `npm run build` before the tests. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/bundle.js', import.meta.url));
const waitMs = 30_000;

export interface Program {
  child: ChildProcessWithoutNullStreams;
  out: () => string;
  err: () => string;
  /** Resolves once the text has appeared on stdout or stderr. */
  says(text: string | RegExp): Promise<void>;
  exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export function startProgram(args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, RELAY_DAEMON_HOME: undefined, ...env },
  });
  let out = '';
  let err = '';
  const wakes: (() => void)[] = [];
  const changed = () => {
    for (const wake of wakes.splice(0)) wake();
  };
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    changed();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
    changed();
  });
  let over = false;
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => {
      over = true;
      changed();
      resolve({ code, signal });
    });
  });
  return {
    child,
    out: () => out,
    err: () => err,
    exit,
    async says(text) {
      const there = () => (typeof text === 'string' ? `${out}${err}`.includes(text) : text.test(`${out}${err}`));
      const deadline = Date.now() + waitMs;
      while (!there()) {
        if (over || Date.now() > deadline) throw new Error(`never said ${String(text)}; said: ${out}${err}`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, 1000);
          wakes.push(() => {
            clearTimeout(timer);
            resolve();
          });
        });
      }
    },
  };
}

/** Runs the program until it exits. */
export async function runProgram(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const program = startProgram(args, env);
  const { code } = await program.exit;
  return { code, out: program.out(), err: program.err() };
}
