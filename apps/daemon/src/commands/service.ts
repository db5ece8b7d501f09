/** `relay-daemon service install|status|remove|start|stop|logs`: the daemon as a service of the user. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { exitCodes } from '@relay/daemon-kit';
import { type Terminal, Failure } from '@relay/machine';
import { requireConfig } from '../config.ts';
import { homeOf, registeredHomes } from '../home.ts';
import { runningOn } from '../lock.ts';
import {
  type ServiceAction,
  removeDefinition,
  runCommands,
  servicePlan,
  serviceSystem,
  writeDefinition,
} from '../service/service.ts';
import type { CommonOptions } from './place-options.ts';

const maxLogBytes = 64 * 1024 * 1024;
/** Longer than a service manager waits before it kills a stopping daemon. */
const endMs = 30_000;

export interface ServiceOptions extends CommonOptions {
  /** Only show the definition. */
  print?: boolean;
}

export async function serviceCommand(
  action: 'install' | 'remove' | 'status' | ServiceAction,
  options: ServiceOptions,
  terminal: Terminal,
  platform: NodeJS.Platform = process.platform,
): Promise<number> {
  const { env } = terminal;
  const home = homeOf({ home: options.home, profile: options.profile, env });
  const system = serviceSystem(env, home.stateDir, platform);
  const run = (...commands: string[][]) => runCommands(commands, env);
  const print = (event: string, text: string, fields: Record<string, unknown> = {}) =>
    terminal.out(options.json ? `${JSON.stringify({ event, file: system.file, ...fields })}\n` : `${text}\n`);
  const failed = (what: string) => new Failure('SERVICE_FAILED', what, exitCodes.failed);
  switch (action) {
    case 'install': {
      const plan = servicePlan(env, home.stateDir, upArgs(options));
      if (options.print) {
        terminal.out(system.definition(plan));
        return exitCodes.ok;
      }
      if (registeredHomes({ home: options.home, env }).length === 0) requireConfig(home);
      writeDefinition(system, plan);
      for (const command of system.before ?? []) run(command);
      const until = performance.now() + endMs;
      while (system.ends && run(system.ends) === undefined && performance.now() < until) await pause(200);
      const problem = run(...system.install);
      if (problem) throw failed(`${system.file} was written, but the service could not be started. ${problem}`);
      const text = system.definition(plan).replaceAll(/^(?=.)/gm, '    ');
      print('installed', `Installed and started: ${system.file}\n\n${text}${system.hint ? `\n${system.hint}` : ''}`);
      return exitCodes.ok;
    }
    case 'remove': {
      const problem = run(...system.uninstall);
      const was = removeDefinition(system);
      if (!was) throw failed(`The service is not installed (no ${system.file}).`);
      if (system.name === 'systemd') run(['systemctl', '--user', 'daemon-reload']);
      if (problem) terminal.err(`${problem}\n`);
      print('removed', `Removed: ${system.file}`);
      return exitCodes.ok;
    }
    case 'status': {
      const installed = existsSync(system.file);
      const running = installed && (system.runs ? run(system.runs) === undefined : await isUp(options, env));
      const state = running ? 'running' : installed ? 'installed, and not running' : 'not installed';
      print(state, `${state[0]!.toUpperCase()}${state.slice(1)}${installed ? `: ${system.file}` : '.'}`, {
        installed,
        running,
      });
      return running ? exitCodes.ok : exitCodes.notRunning;
    }
    case 'start':
    case 'stop': {
      const problem = run(system.run[action]);
      if (problem) throw failed(problem);
      print(action === 'start' ? 'started' : 'stopped', action === 'start' ? 'Started.' : 'Stopped.');
      return exitCodes.ok;
    }
    case 'logs': {
      const [program = '', ...args] = system.run.logs;
      // Not straight to the terminal: other programs might have written to that log too.
      const { status, stdout, stderr, error } = spawnSync(program, args, {
        encoding: 'utf8',
        maxBuffer: maxLogBytes,
        env,
      });
      if (error) throw failed(`${program}: ${error.message}`);
      terminal.out(stdout);
      terminal.err(stderr);
      return status ?? exitCodes.failed;
    }
  }
}

/** Whether a daemon runs on one of the homes that the service starts. */
async function isUp({ home, profile }: CommonOptions, env: NodeJS.ProcessEnv): Promise<boolean> {
  const homes = profile === undefined ? registeredHomes({ home, env }) : [homeOf({ home, profile, env })];
  const pids = await Promise.all(homes.map(({ stateDir }) => runningOn(stateDir)));
  return pids.some((pid) => pid !== undefined);
}

/** A service starts in another folder. */
const upArgs = ({ home, profile }: CommonOptions) => [
  ...(home === undefined ? [] : ['--home', resolve(home)]),
  ...(profile === undefined ? [] : ['--profile', profile]),
];
