/** The daemon as a service of the user on this system: the place of its definition, and the commands that control it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { exitCodes } from '@relay/daemon-kit';
import { Failure, homeFolder, xdgFolder } from '@relay/machine';
import { programFile } from '../files.ts';
import {
  type ServicePlan,
  launchdLabel,
  launchdPlist,
  programIn,
  serviceName,
  systemdUnit,
  windowsTask,
} from './definitions.ts';

export type ServiceAction = 'start' | 'stop' | 'logs';

interface ServiceSystem {
  name: 'systemd' | 'launchd' | 'windows';
  file: string;
  definition: (plan: ServicePlan) => string;
  /** Commands that stop an earlier installation; their failure is ignored. */
  before?: string[][];
  /** Commands after the definition was written, and before it is removed. Each is a program and its arguments. */
  install: string[][];
  uninstall: string[][];
  run: Readonly<Record<ServiceAction, string[]>>;
  /** Succeeds while the service runs. Absent: the manager does not distinguish running from installed. */
  runs?: string[];
  /** Succeeds while an earlier installation still stops and blocks the next. */
  ends?: string[];
  /** Advice for the user. */
  hint?: string;
}

/** Throws a Failure on systems without a known service manager. */
export function serviceSystem(
  env: NodeJS.ProcessEnv,
  stateDir: string,
  platform: NodeJS.Platform = process.platform,
): ServiceSystem {
  if (platform === 'linux') {
    const systemctl = (...words: string[]) => ['systemctl', '--user', ...words];
    return {
      name: 'systemd',
      file: join(xdgFolder(env, 'XDG_CONFIG_HOME'), 'systemd', 'user', `${serviceName}.service`),
      definition: systemdUnit,
      // `restart`, so that a second installation runs the new definition.
      install: [systemctl('daemon-reload'), systemctl('enable', serviceName), systemctl('restart', serviceName)],
      uninstall: [systemctl('disable', '--now', serviceName)],
      run: {
        start: systemctl('start', serviceName),
        stop: systemctl('stop', serviceName),
        logs: ['journalctl', '--user', '--unit', serviceName, '--lines', '100', '--no-pager'],
      },
      runs: systemctl('is-active', serviceName),
      hint: 'On a machine where you are not logged in all the time, also run: loginctl enable-linger',
    };
  }
  if (platform === 'darwin') {
    const file = join(homeFolder(env), 'Library', 'LaunchAgents', `${launchdLabel}.plist`);
    const domain = `gui/${process.getuid?.() ?? 501}`;
    return {
      name: 'launchd',
      file,
      definition: launchdPlist,
      before: [['launchctl', 'bootout', `${domain}/${launchdLabel}`]],
      install: [['launchctl', 'bootstrap', domain, file]],
      uninstall: [['launchctl', 'bootout', `${domain}/${launchdLabel}`]],
      run: {
        start: ['launchctl', 'kickstart', `${domain}/${launchdLabel}`],
        stop: ['launchctl', 'kill', 'TERM', `${domain}/${launchdLabel}`],
        logs: ['tail', '-n', '100', logFileOf(stateDir)],
      },
      ends: ['launchctl', 'print', `${domain}/${launchdLabel}`],
    };
  }
  if (platform === 'win32') {
    const file = join(stateDir, `${serviceName}.xml`);
    return {
      name: 'windows',
      file,
      definition: windowsTask,
      before: [['schtasks', '/End', '/TN', serviceName]],
      install: [
        ['schtasks', '/Create', '/F', '/TN', serviceName, '/XML', file],
        ['schtasks', '/Run', '/TN', serviceName],
      ],
      uninstall: [['schtasks', '/Delete', '/F', '/TN', serviceName]],
      run: {
        start: ['schtasks', '/Run', '/TN', serviceName],
        stop: ['schtasks', '/End', '/TN', serviceName],
        logs: ['cmd', '/c', 'type', logFileOf(stateDir)],
      },
    };
  }
  throw new Failure(
    'NO_SERVICE',
    `There is no known service manager on ${platform}. Run "relay-daemon up" yourself.`,
    exitCodes.failed,
  );
}

const logFileOf = (stateDir: string) => join(stateDir, 'daemon.log');

/** Variables that agents need and that a service does not get by itself. Keys are left out: they belong in the `env` file. */
const keptVariables = [
  'PATH',
  'RELAY_DAEMON_HOME',
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'LANG',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'NODE_EXTRA_CA_CERTS',
];

/** Paths, which a service would look for in another folder. */
const pathVariables = ['RELAY_DAEMON_HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'NODE_EXTRA_CA_CERTS'];

export function servicePlan(env: NodeJS.ProcessEnv, stateDir: string, args: readonly string[]): ServicePlan {
  const kept = keptVariables.flatMap((name): [string, string][] => {
    const value = env[name];
    return value ? [[name, pathVariables.includes(name) ? resolve(value) : value]] : [];
  });
  return {
    node: process.execPath,
    script: calledAs(),
    args: ['up', ...args],
    env: Object.fromEntries(kept),
    user: [env.USERDOMAIN, env.USERNAME].filter(Boolean).join('\\'),
    logFile: logFileOf(stateDir),
  };
}

/** The path this program was called by: a link that an update moves takes the service along. */
function calledAs(): string {
  const path = process.argv[1] ?? '';
  return isSame(path, programFile) ? resolve(path) : programFile;
}

function isSame(...paths: [string, string]): boolean {
  try {
    const [one, other] = paths.map((path) => realpathSync(path));
    return one === other;
  } catch {
    // An executable contains no script.
    return paths[0] === paths[1];
  }
}

export function writeDefinition(system: ServiceSystem, plan: ServicePlan): void {
  mkdirSync(dirname(system.file), { recursive: true });
  const text = system.definition(plan);
  // The Task Scheduler reads UTF-16 with a byte order mark.
  if (system.name === 'windows') writeFileSync(system.file, `\ufeff${text}`, { encoding: 'utf16le', mode: 0o600 });
  else writeFileSync(system.file, text, { mode: 0o600 });
}

export function removeDefinition(system: ServiceSystem): boolean {
  const was = existsSync(system.file);
  rmSync(system.file, { force: true });
  return was;
}

/** Runs the commands one after the other, up to the first that fails; undefined when all succeeded, else the output of the failed one. */
export function runCommands(commands: readonly string[][], env: NodeJS.ProcessEnv): string | undefined {
  for (const [program = '', ...args] of commands) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000, env });
    if (status === 0) continue;
    return `${[program, ...args].join(' ')}: ${error?.message ?? (stderr.trim() || `exit code ${status}`)}`;
  }
  return undefined;
}

/**
 * Returns the definition of the installed service; undefined if not installed. `gone`: a file it starts that is
 * missing. `other`: the script it starts, if it is not this program.
 */
export function installedService(
  env: NodeJS.ProcessEnv,
  platform?: NodeJS.Platform,
): { file: string; gone?: string; other?: string } | undefined {
  try {
    const { file } = serviceSystem(env, '', platform);
    if (!existsSync(file)) return undefined;
    const started = programIn(readFileSync(file, 'utf8'));
    const gone = started?.find((path) => isAbsolute(path) && !existsSync(path));
    if (gone !== undefined) return { file, gone };
    const script = started?.[1];
    return script === undefined || isSame(script, programFile) ? { file } : { file, other: script };
  } catch {
    return undefined;
  }
}
