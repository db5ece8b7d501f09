/**
 * Runs a program per message: the message on its standard input, its output as OUTPUT, its exit as the completion of
 * the turn. No shell is involved. No process of the program outlives the turn.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import {
  type Agent,
  type Clock,
  fieldBytes,
  fill,
  outputStream,
  type RunningTurn,
  settledWithin,
  systemClock,
  tail,
  type Turn,
  type TurnReport,
} from '@relay/daemon-kit';
import { reasonOf, systemCode } from '@relay/machine';
import { agentEnvironment } from './environment.ts';
import { findProgram, startable } from './programs.ts';
import { type ProjectRules, projectFolder } from './project.ts';
import { type KillTimings, endGroup, killLeftOver, killTimings, signalGroup } from './process-group.ts';

interface CommandOptions {
  program: string;
  /** `{message}`, `{session}`, `{task}` and `{project}` are filled in. */
  args: readonly string[];
  rules: ProjectRules;
  clock?: Clock;
  timings?: Partial<CommandTimings>;
  /** Default: the one of this process. */
  platform?: NodeJS.Platform | undefined;
}

export interface CommandTimings extends KillTimings {
  /** The time during which output is collected before it is emitted. */
  joinMs: number;
  /** How long the pipes can stay open after the program exited, because a child holds them. */
  drainMs: number;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const stderrBytes = 4096;
/** Passes the task to the program, and marks its processes as ours. */
const taskVariable = 'RELAY_TASK_ID';

export function commandAgent(options: CommandOptions): Agent {
  const { clock = systemClock } = options;
  const timings: CommandTimings = { joinMs: 250, drainMs: 500, ...killTimings, ...options.timings };
  const groups = new Set<number>();

  return {
    start(turn, report) {
      const path = projectFolder(turn.projectPath, options.rules);
      if ('error' in path) return refuse(report, path.error);
      const values = { message: turn.message, session: turn.sessionId, task: turn.taskId, project: path.directory };
      const args = options.args.map((arg) => fill(arg, values));
      let child: Child;
      try {
        const found = findProgram(options.program, process.env, options.platform);
        const started = startable(found ?? options.program, options.platform);
        child = spawn(started.program, [...started.args, ...args], {
          cwd: path.directory,
          detached: process.platform !== 'win32',
          windowsHide: true,
          stdio: ['pipe', 'pipe', 'pipe'],
          env: agentEnvironment({ PWD: path.directory, [taskVariable]: turn.taskId, RELAY_SESSION_ID: turn.sessionId }),
        });
      } catch (error) {
        // Some refusals of the system are thrown, others are emitted.
        return refuse(report, cannotStart(options.program, error));
      }
      return run(child, turn, report);
    },
    reap: ({ taskId, pid }) => void killLeftOver(pid, `${taskVariable}=${taskId}`),
    abort() {
      for (const leader of groups) signalGroup(leader, 'SIGKILL');
    },
  };

  function run(child: Child, turn: Turn, report: TurnReport): RunningTurn {
    const leader = child.pid;
    const answer = tail(fieldBytes.message);
    const complaint = tail(stderrBytes);
    const output = outputStream((text) => report.output(text), clock, timings.joinMs);
    const writeOut = output.writer();
    const writeErr = output.writer();
    let failure: Error | undefined;

    if (leader !== undefined) {
      groups.add(leader);
      report.process(leader);
    }
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
      child.once('error', (error) => {
        failure = error;
        if (leader === undefined) resolve({ code: null, signal: null });
      });
    });
    child.stdout.on('data', (chunk: Buffer) => {
      answer.push(chunk);
      writeOut(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      complaint.push(chunk);
      writeErr(chunk);
    });
    // A program that ignores its input, or exits early, breaks the pipe: its exit code is more telling.
    child.stdin.on('error', () => undefined);
    child.stdin.end(turn.message);

    const finish = async (): Promise<void> => {
      const { code, signal } = await exited;
      if (leader !== undefined && !(await settledWithin(clock, timings.drainMs, closed))) {
        child.stdout.destroy();
        child.stderr.destroy();
      }
      output.flush();
      output.stop();
      if (leader === undefined) report.error(cannotStart(options.program, failure));
      else if (code === 0) report.complete(answer.text().trim());
      else report.error(endOf(options.program, code, signal, complaint.text().trim()));
      if (leader === undefined) return;
      await endGroup(leader, clock, timings);
      groups.delete(leader);
    };
    const ended = finish();

    return {
      ended,
      async cancel() {
        output.stop();
        if (leader !== undefined && groups.has(leader)) await endGroup(leader, clock, timings);
        await ended;
      },
    };
  }
}

function refuse(report: TurnReport, error: string): RunningTurn {
  report.error(error);
  return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
}

function cannotStart(program: string, error: unknown): string {
  const code = systemCode(error);
  if (code === 'ENOENT') return `Cannot start "${program}": there is no such program in the PATH of the daemon.`;
  if (code === 'EACCES') return `Cannot start "${program}": it may not be executed.`;
  if (code === 'E2BIG')
    return `Cannot start "${program}": the message is too long for an argument. Leave out {message}: it is on stdin.`;
  return `Cannot start "${program}": ${reasonOf(error)}.`;
}

function endOf(program: string, code: number | null, signal: NodeJS.Signals | null, complaint: string): string {
  const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  return `${program} ${how}.${complaint ? `\n${complaint}` : ''}`;
}
