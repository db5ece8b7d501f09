/** `relay-daemon status`: whether this machine is registered, whether a daemon runs, and the state of its connection. */
import type { Terminal } from '@relay/machine';
import { type Config, readConfig } from '../config.ts';
import { type DaemonState, exitCodes } from '@relay/daemon-kit';
import { type Home, homeOf, registeredHomes } from '../home.ts';
import { runningOn } from '../lock.ts';
import { readState } from '../state-file.ts';
import { type CommonOptions, filesSentence } from './place-options.ts';

/** `--profile` selects one profile; otherwise the unnamed profile comes first, then the rest. */
export async function statusCommand(options: CommonOptions, terminal: Terminal): Promise<number> {
  const choice = { home: options.home, env: terminal.env };
  const first = await look(homeOf({ ...choice, profile: options.profile }));
  const named = options.profile === undefined ? registeredHomes(choice).filter(({ profile }) => profile !== '') : [];
  const others = await Promise.all(named.map(look));
  // A home with only named profiles lists no unnamed profile.
  const all = !first.config && others.length > 0 ? others : [first, ...others];
  if (options.json) {
    const profiles = others.map((one) => ({ profile: one.home.profile, ...recordOf(one) }));
    terminal.out(`${JSON.stringify({ ...recordOf(first), ...(profiles.length > 0 ? { profiles } : {}) })}\n`);
  } else {
    terminal.out(all.map((one) => textOf(one)).join('\n'));
  }
  if (all.some(({ config }) => !config)) return exitCodes.config;
  return all.every(({ pid }) => pid === undefined) ? exitCodes.notRunning : exitCodes.ok;
}

interface Look {
  home: Home;
  config: Config | undefined;
  pid: number | undefined;
  state: DaemonState | undefined;
}

async function look(home: Home): Promise<Look> {
  const pid = await runningOn(home.stateDir);
  return { home, config: readConfig(home), pid, state: readState(home) };
}

function recordOf({ config, pid, state }: Look) {
  // The variables of an agent can hold keys.
  const { agent, ...rest } = config ?? {};
  const { env: _env, ...shown } = agent ?? { kind: undefined };
  return {
    registered: config !== undefined,
    ...rest,
    ...(agent ? { agent: shown } : {}),
    running: pid !== undefined,
    ...(pid ? { pid } : {}),
    ...(state ? { connection: { ...state, current: pid !== undefined } } : {}),
  };
}

function textOf({ home, config, pid, state }: Look): string {
  const folder = home.configDir;
  const rows: [string, string][] = [];
  if (home.profile !== '') rows.push(['Profile', home.profile]);
  if (config) {
    rows.push(['Registered', `${config.name} (${config.hostname}), agent type ${config.agent_type}`]);
    rows.push(['Device', config.device_id], ['Server', config.server]);
  } else {
    rows.push(['Registered', 'no. Run "relay-daemon register --server <address>".']);
  }
  if (config) rows.push(['Files', filesSentence(config)]);
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
