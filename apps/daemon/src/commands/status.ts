/** `relay-daemon status`: is this machine registered, does a daemon run, how is its connection. */
import { existsSync } from 'node:fs';
import { type Config, readConfig } from '../config.ts';
import { type DaemonState, exitCodes } from '@relay/daemon-kit';
import { homeOf } from '../home.ts';
import { lockAddress, lockHolder } from '../lock.ts';
import { readState } from '../state-file.ts';
import type { CommonOptions, Terminal } from './terminal.ts';

export async function statusCommand(options: CommonOptions, terminal: Terminal): Promise<number> {
  const home = homeOf({ home: options.home, env: terminal.env });
  const config = readConfig(home);
  const pid = existsSync(home.stateDir) ? await lockHolder(lockAddress(home.stateDir)) : undefined;
  const state = readState(home);
  if (options.json) terminal.out(`${JSON.stringify(recordOf(config, pid, state))}\n`);
  else terminal.out(textOf(config, pid, state, home.configDir));
  if (!config) return exitCodes.config;
  return pid === undefined ? exitCodes.notRunning : exitCodes.ok;
}

const recordOf = (config: Config | undefined, pid: number | undefined, state: DaemonState | undefined) => ({
  registered: config !== undefined,
  ...(config ?? {}),
  running: pid !== undefined,
  ...(pid ? { pid } : {}),
  ...(state ? { connection: { ...state, current: pid !== undefined } } : {}),
});

function textOf(
  config: Config | undefined,
  pid: number | undefined,
  state: DaemonState | undefined,
  folder: string,
): string {
  const rows: [string, string][] = [];
  if (config) {
    rows.push(['Registered', `${config.name} (${config.hostname}), agent type ${config.agent_type}`]);
    rows.push(['Device', config.device_id], ['Server', config.server]);
  } else {
    rows.push(['Registered', 'no. Run "relay-daemon register --server <address>".']);
  }
  rows.push(['Home', folder]);
  rows.push(['Process', pid === undefined ? 'not running' : `running${pid ? `, pid ${pid}` : ''}`]);
  if (state) rows.push([pid === undefined ? 'Last state' : 'Connection', sentenceOf(state)]);
  if (pid !== undefined && state)
    rows.push(['Tasks', state.runningTasks.length ? state.runningTasks.join(', ') : 'none']);
  return rows.map(([name, value]) => `${`${name}:`.padEnd(12)}${value}\n`).join('');
}

function sentenceOf({ connection, since, problem, nextAttemptAt }: DaemonState): string {
  const why = problem ? `: ${problem}` : '';
  const next = nextAttemptAt ? `, next attempt at ${nextAttemptAt}` : '';
  return `${connection} since ${since}${why}${next}`;
}
