/** The built program as a real process. Run `npm run build` before the tests. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/bundle.js', import.meta.url));
const waitMs = 20_000;

export interface Result {
  code: number | null;
  out: string;
  err: string;
}

export interface Program {
  child: ChildProcessWithoutNullStreams;
  out: () => string;
  err: () => string;
  /** Lines of stdout as JSON. */
  lines: () => Record<string, any>[]; // eslint-disable-line @typescript-eslint/no-explicit-any -- tests look into records of every shape
  /** Resolves once the text has appeared on stdout or stderr. */
  says(text: string | RegExp): Promise<void>;
  exit: Promise<Result>;
}

export function startProgram(args: readonly string[], env: NodeJS.ProcessEnv = {}): Program {
  const child = spawn(process.execPath, [main, ...args], {
    env: {
      ...process.env,
      RELAY_CLI_URL: undefined,
      RELAY_CLI_TOKEN: undefined,
      NO_COLOR: undefined,
      FORCE_COLOR: undefined,
      ...env,
    },
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
  const exit = new Promise<Result>((resolve) => {
    child.on('close', (code) => {
      over = true;
      changed();
      resolve({ code, out, err });
    });
  });
  return {
    child,
    out: () => out,
    err: () => err,
    lines: () =>
      out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
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
