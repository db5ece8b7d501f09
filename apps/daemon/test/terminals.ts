/** Terminals with agent doubles, which record their sessions like the agents. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const double = fileURLToPath(new URL('terminal-double.mjs', import.meta.url));

export interface DoubleOptions {
  /** The folder of Claude Code. */
  folder: string;
  sessionId: string;
  status?: 'idle' | 'busy' | 'waiting';
  ignores?: string;
  /** Without a terminal, like a program in an editor. */
  bare?: boolean;
  env?: Record<string, string>;
}

export const pause = () => new Promise<void>((resolve) => void setTimeout(resolve, 10));

export async function until<T>(find: () => T | undefined): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    await pause();
  }
}

export function terminals() {
  const running: ChildProcess[] = [];
  return {
    /** Resolves with the pid of the double once its record exists. */
    async open({ folder, sessionId, status = 'idle', ignores = '', bare = false, env = {} }: DoubleOptions) {
      const words = [double, folder, sessionId, status, ignores];
      const records = () => (existsSync(join(folder, 'sessions')) ? readdirSync(join(folder, 'sessions')) : []);
      const before = new Set(records());
      const options = { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] as const, detached: true };
      const command = `${process.execPath} ${words.map((word) => `'${word}'`).join(' ')}; echo shell lives on; cat`;
      const shell = bare
        ? spawn(process.execPath, words, { ...options, stdio: ['pipe', 'pipe', 'ignore'] })
        : spawn('script', ['-qec', command, '/dev/null'], { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
      running.push(shell);
      let output = '';
      shell.stdout?.on('data', (piece: Buffer) => (output += piece.toString('utf8')));
      const name = await until(() =>
        records().find((one) => !before.has(one) && readFileSync(join(folder, 'sessions', one), 'utf8').endsWith('}')),
      );
      return {
        pid: Number.parseInt(name, 10),
        record: join(folder, 'sessions', name),
        shell,
        output: () => output,
      };
    },
    close() {
      for (const { pid } of running.splice(0)) {
        try {
          if (pid !== undefined) process.kill(-pid, 'SIGKILL');
        } catch {
          // The process has exited.
        }
      }
    },
  };
}

export const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0] !== 'Z';
  } catch {
    return false;
  }
};
