/**
 * Runs git so that nothing of a repository runs, nothing is written and nothing is fetched (rules, 25.2). Configuration of the repository can
 * name programs, so each of them is overridden; the environment is made from nothing.
 */
import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { delimiter } from 'node:path';
import { findProgram } from '../agents/programs.ts';
import { signalGroup } from '../agents/process-group.ts';

export class GitFailure extends Error {
  readonly why: 'failed' | 'time' | 'size';
  constructor(why: GitFailure['why'], message: string) {
    super(message);
    this.name = 'GitFailure';
    this.why = why;
  }
}

interface RunOptions {
  timeMs: number;
  maxBytes?: number;
  /** Written to its standard input. */
  input?: string;
}

/** The output of git. Rejects with a GitFailure. */
export type Git = (args: readonly string[], options: RunOptions) => Promise<Buffer>;

const outputBytes = 64 * 1024 * 1024;

const fixed = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.untrackedCache=false',
  'core.sshCommand=false',
  'core.quotePath=false',
  'protocol.allow=never',
  'diff.external=',
  'diff.renameLimit=500',
  'diff.suppressBlankEmpty=false',
  // Git would write the index in spite of GIT_OPTIONAL_LOCKS.
  'diff.autoRefreshIndex=false',
  'safe.bareRepository=explicit',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting]);

/** The environment of git. `ceilings`: folders above which it looks for no repository. */
const environment = (path: string, ceilings: readonly string[]) => ({
  PATH: path,
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_TERMINAL_PROMPT: '0',
  // Permits no protocol. It overrides `protocol.*.allow` of the repository.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_CEILING_DIRECTORIES: ceilings.join(delimiter),
});

/** Git in this folder, with these arguments before each command. Undefined where no git is installed. */
export function gitIn(
  folder: string,
  before: readonly string[],
  { ceilings, env = process.env }: { ceilings: readonly string[]; env?: NodeJS.ProcessEnv },
): Git | undefined {
  const program = findProgram('git', env);
  if (program === undefined) return undefined;
  return (args, { timeMs, maxBytes = outputBytes, input }) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, ['--no-pager', ...fixed, ...before, ...args], {
        cwd: folder,
        env: environment(env.PATH ?? '', ceilings),
        detached: process.platform !== 'win32',
        stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
        windowsHide: true,
      });
      const end = (failure: GitFailure) => {
        if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
        reject(failure);
      };
      const timer = setTimeout(() => end(new GitFailure('time', 'git took too long')), timeMs);
      const chunks: Buffer[] = [];
      let bytes = 0;
      let stderr = '';
      child.stdout!.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) end(new GitFailure('size', 'git printed too much'));
        else chunks.push(chunk);
      });
      child.stderr!.on('data', (chunk: Buffer) => {
        if (stderr.length < 2000) stderr += chunk.toString('utf8');
      });
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
      child.on('error', (error) => {
        clearTimeout(timer);
        reject(new GitFailure('failed', error.message));
      });
      child.on('close', (code) => {
        clearTimeout(timer);
        if (code === 0) resolve(Buffer.concat(chunks));
        else reject(new GitFailure('failed', stderr.slice(0, 2000)));
      });
      lower(child.pid);
    });
}

function lower(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has exited, or the system does not allow it.
  }
}
