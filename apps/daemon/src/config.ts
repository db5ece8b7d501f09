/** The config record of a registration (specification §4.1): everything but the secret. */
import { rmSync } from 'node:fs';
import { travelsInClear } from '@relay/protocol';
import { Failure, readIfPresent, reasonOf, replaceOwnerFile } from '@relay/machine';
import type { Home } from './home.ts';
import { exitCodes, type TranscriptSettings } from '@relay/daemon-kit';

/** `show`: apps see which programs have sessions open, and cannot close them. `off`: apps do not see them. */
export const deskModes = ['full', 'show', 'off'] as const;
export type DeskMode = (typeof deskModes)[number];

export interface Config {
  /** Base address of the relay, without a trailing slash. */
  server: string;
  device_id: string;
  hostname: string;
  name: string;
  agent_type: string;
  registered_at: string;
  /** Allows a relay on another machine over http. */
  insecure?: boolean;
  /** The agent that answers here. Absent: the agent of the agent type, else the demonstration. */
  agent?: AgentChoice;
  /** Agents that a person can choose instead. */
  further?: AgentChoice[];
  /**
   * Folders that an app can name as a project, with everything below; if absent (older registrations), the user's home.
   */
  allow?: string[];
  /** The folder of turns without a project; default: where the daemon was started. */
  project?: string;
  /** Maximum number of agents that work at the same time. */
  max_agents?: number;
  /** Permissions are answered at this machine only. */
  ask_at_desk?: boolean;
  /** False: apps cannot choose a mode that never asks. */
  full_access?: boolean;
  /** Default: full. */
  desk?: DeskMode;
  /** The part of the work that apps see; default: everything. */
  transcript?: TranscriptSettings['detail'];
  thoughts?: 'on' | 'off';
  /** The files that apps can read; default: all except secrets. */
  files?: FilesLevel;
  /** Files of people are kept outside of projects. */
  files_outside?: boolean;
  /** False: no file of an agent leaves the machine. */
  files_out?: boolean;
  /** Patterns of names that apps do not see the content of, and of names that they do. */
  hide?: string[];
  show?: string[];
}

export type FilesLevel = 'changes' | 'all' | 'off';

/** An agent as chosen on the command line and kept in the config. */
export interface AgentChoice {
  kind: 'scripted' | 'command' | 'acp';
  /** Name of the preset that the choice came from. */
  preset?: string;
  program?: string;
  args?: string[];
  env?: Record<string, string>;
  /** `acp`: the mode that sessions are put into. */
  mode?: string;
  /** `acp`: the method of `authenticate` that needs no person. */
  authMethod?: string;
  /** `scripted`: the conversation to play. */
  script?: string;
}

const fields = ['server', 'device_id', 'hostname', 'name', 'agent_type', 'registered_at'] as const;

/** Returns undefined if this home has no registration. An invalid file is a Failure, never an empty config. */
export function readConfig(home: Home): Config | undefined {
  const text = readIfPresent(home.configFile);
  if (text === undefined) return undefined;
  const broken = (why: string) =>
    new Failure(
      'CONFIG_BROKEN',
      `${home.configFile} cannot be used: ${why}. Run "relay-daemon register --force" to write it again.`,
      exitCodes.config,
    );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw broken(reasonOf(error));
  }
  if (typeof value !== 'object' || value === null) throw broken('it is not a JSON object');
  const record = value as Record<string, unknown>;
  const missing = fields.find((field) => typeof record[field] !== 'string' || record[field] === '');
  if (missing) throw broken(`"${missing}" is missing`);
  const { agent, further, allow, project, insecure, max_agents: maxAgents, ask_at_desk: askAtDesk } = record;
  const { full_access: fullAccess } = record;
  const { transcript = 'full', thoughts = 'on', desk = 'full', files = 'all', hide, show } = record;
  if (!deskModes.some((word) => word === desk)) throw broken('"desk" must be full, show or off');
  if (agent !== undefined && !isChoice(agent)) throw broken('"agent" is not a valid agent');
  if (
    further !== undefined &&
    !(Array.isArray(further) && further.every((one) => isChoice(one) && one.preset !== undefined))
  )
    throw broken('"further" must be a list of known agents');
  if (allow !== undefined && !isTexts(allow)) throw broken('"allow" must be a list of folders');
  if (insecure !== undefined && typeof insecure !== 'boolean') throw broken('"insecure" must be true or false');
  if (askAtDesk !== undefined && typeof askAtDesk !== 'boolean') throw broken('"ask_at_desk" must be true or false');
  if (fullAccess !== undefined && typeof fullAccess !== 'boolean') throw broken('"full_access" must be true or false');
  if (maxAgents !== undefined && !isAgentCount(maxAgents)) throw broken('"max_agents" must be a number from 1 to 500');
  if (!['full', 'outline', 'off'].some((word) => word === transcript))
    throw broken('"transcript" must be full, outline or off');
  if (thoughts !== 'on' && thoughts !== 'off') throw broken('"thoughts" must be on or off');
  for (const name of ['files_outside', 'files_out'] as const)
    if (record[name] !== undefined && typeof record[name] !== 'boolean')
      throw broken(`"${name}" must be true or false`);
  if (!['all', 'changes', 'off'].some((word) => word === files)) throw broken('"files" must be all, changes or off');
  if (hide !== undefined && !isTexts(hide)) throw broken('"hide" must be a list of patterns');
  if (show !== undefined && !isTexts(show)) throw broken('"show" must be a list of patterns');
  if (project !== undefined && typeof project !== 'string') throw broken('"project" must be a folder');
  return value as Config;
}

/** Each agent takes one or two processes of this machine. */
export const isAgentCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 500;

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

function isChoice(value: unknown): value is AgentChoice {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, preset, program, args, env, mode, authMethod, script } = value as Record<string, unknown>;
  const isText = (text: unknown) => text === undefined || typeof text === 'string';
  const isEnv = typeof env === 'object' && env !== null && Object.values(env).every((text) => typeof text === 'string');
  return (
    (kind === 'scripted' || kind === 'command' || kind === 'acp') &&
    [preset, program, mode, authMethod, script].every(isText) &&
    (args === undefined || isTexts(args)) &&
    (env === undefined || isEnv)
  );
}

/** Like `readConfig`, for commands that cannot do anything without a registration. */
export function requireConfig(home: Home): Config {
  const config = readConfig(home);
  if (config) return config;
  throw new Failure(
    'NOT_REGISTERED',
    `This machine is not registered (no ${home.configFile}). Run "relay-daemon register --server <address>" first.`,
    exitCodes.config,
  );
}

export function writeConfig(home: Home, config: Config): void {
  replaceOwnerFile(home.configFile, `${JSON.stringify(config, null, 2)}\n`);
}

export function forgetConfig(home: Home): void {
  rmSync(home.configFile, { force: true });
}

/**
 * The daemon reaches a relay on another machine over https, unless the person declares the network in between trusted
 * (rules, 16.2).
 * @throws Failure INSECURE_ADDRESS, with `exitCode`
 */
export function refuseClear(server: string, insecure: boolean, exitCode: number): void {
  if (insecure || !travelsInClear(server)) return;
  throw new Failure(
    'INSECURE_ADDRESS',
    `${server} is not encrypted: anyone on the network could read the credential of this device and every message. Use an https:// address ("relay-daemon register --force --server https://..." replaces this registration). If you trust the network in between, add --insecure.`,
    exitCode,
  );
}
