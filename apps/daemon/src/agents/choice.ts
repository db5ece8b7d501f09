/** Turns a choice on the command line or in the config into an agent. Only this file knows all kinds of agents. */
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import {
  type Agent,
  type Clock,
  type Log,
  type Outside,
  exitCodes,
  maxAgentsDefault,
  readScript,
  scriptedAgent,
} from '@relay/daemon-kit';
import { Failure, homeFolder, xdgFolder } from '@relay/machine';
import type { AgentChoice, Config, DeskMode } from '../config.ts';
import { type Home, homeOf } from '../home.ts';
import { acpAgent } from './acp/agent.ts';
import { markerVariable } from './acp/pool.ts';
import type { AskAtDesk } from './acp/at-desk.ts';
import { presetOf, presets, versionOf } from './acp/presets.ts';
import { commandAgent } from './command.ts';
import { deskDoor, doorAddress } from '../desk-questions/door.ts';
import { hookSeconds } from '../desk-questions/settings.ts';
import { deskOf } from './desk.ts';
import { codexReadIn } from './history/codex.ts';
import { limitsOf } from './history/readers.ts';
import { holdersOf } from './holders/holders.ts';
import { demoAgentFile, demoScript } from '../files.ts';
import { commandWords, findProgram, startable } from './programs.ts';
import { type ProjectRules, fromHome } from './project.ts';

export interface ChoiceOptions {
  agent?: string;
  /** Named after the first one. */
  further?: readonly string[];
  agentCommand?: string;
  mode?: string;
  authMethod?: string;
  script?: string;
}

const usage = (why: string) => new Failure('BAD_OPTION', why, exitCodes.usage);

/** Returns the choice in the arguments of a command line; undefined without a choice. */
export function choiceOf(
  words: readonly string[],
  options: ChoiceOptions,
  env: NodeJS.ProcessEnv = process.env,
): AgentChoice | undefined {
  const { agent, agentCommand, mode, authMethod, script } = options;
  const ofAcp = { ...(mode === undefined ? {} : { mode }), ...(authMethod === undefined ? {} : { authMethod }) };
  if (agentCommand !== undefined) {
    if (words.length > 0 || (agent !== undefined && agent !== 'acp')) {
      throw usage('--agent-command names the agent: use neither --agent nor a program after "--" with it.');
    }
    return { kind: 'acp', ...ofAcp, ...programOf(commandWords(agentCommand), '--agent-command "my-agent --acp"') };
  }
  const kind = agent ?? (words.length > 0 ? 'command' : script === undefined ? undefined : 'scripted');
  if (script !== undefined && kind !== 'scripted') throw usage('--script needs --agent scripted.');
  switch (kind) {
    case undefined:
      return undefined;
    case 'scripted':
      if (words.length > 0) throw usage('A program after "--" needs --agent command.');
      return { kind, ...(script === undefined ? {} : { script: resolve(script) }) };
    case 'command':
      return { kind, ...programOf(words, 'relay-daemon run --agent command -- claude -p') };
    case 'acp':
      return { kind, ...ofAcp, ...programOf(words, 'relay-daemon up --agent acp -- my-agent --acp') };
    case 'auto':
      if (words.length > 0) throw usage('--agent auto chooses an installed agent: use no program after "--" with it.');
      return { kind: 'acp', preset: installedAgent(env), ...ofAcp };
    case 'demo':
      return { kind: 'acp', preset: 'demo', ...ofAcp };
    default: {
      const preset = presetOf(kind);
      if (!preset) {
        const names = presets.map(({ name }) => name).join(', ');
        throw usage(`--agent must be one of ${names}, demo, auto, or "acp", "command" or "scripted", not "${kind}".`);
      }
      return { kind: 'acp', preset: preset.name, ...ofAcp };
    }
  }
}

/**
 * Returns the agents beside the first: the named ones, or with "auto" all other installed agents. Undefined if the
 * arguments name no agents.
 */
export function furtherOf(
  first: AgentChoice | undefined,
  { agent, further = [] }: ChoiceOptions,
  env: NodeJS.ProcessEnv = process.env,
): AgentChoice[] | undefined {
  if (!first) return undefined;
  const named = further.map((name) => {
    if (name === 'demo') return name;
    const preset = presetOf(name);
    if (!preset)
      throw usage(`--agent "${name}" after the first must be a name that "relay-daemon agents" shows, or demo.`);
    return preset.name;
  });
  if (named.length > 0 && (first.kind !== 'acp' || first.preset === undefined))
    throw usage('Several agents must be names that "relay-daemon agents" shows.');
  const names = agent === 'auto' && named.length === 0 ? installedAgents(env) : named;
  return [...new Set(names)].filter((name) => name !== first.preset).map((preset) => ({ kind: 'acp', preset }));
}

/** Returns the installed agents, the best first. A person must name an agent that never asks. */
const installedAgents = (env: NodeJS.ProcessEnv): string[] =>
  presets
    .filter(({ command, quirks }) => !quirks?.neverAsks && findProgram(command, env) !== undefined)
    .toSorted((one, other) => one.tier - other.tier)
    .map(({ name }) => name);

/** The demonstration if no agent is installed. */
const installedAgent = (env: NodeJS.ProcessEnv): string => installedAgents(env)[0] ?? 'demo';

function programOf(words: readonly string[], example: string): { program: string; args: string[] } {
  const [program, ...args] = words;
  if (program === undefined) throw usage(`Name the program after "--", for example: ${example}`);
  // The choice is kept, and a later start comes from another folder.
  return { program: program === basename(program) ? program : resolve(program), args };
}

/** Returns the choice of a registration, used when the command line names no agent. */
export function choiceOfConfig({ agent, agent_type: agentType }: Config): AgentChoice {
  if (agent) return agent;
  const preset = presetOf(agentType);
  return preset ? { kind: 'acp', preset: preset.name } : { kind: 'scripted' };
}

/**
 * Where an agent can work: the allowed folders and the default folder. Registrations from before this setting allow the
 * user's home. Folders with keys are always closed: the daemon's own, those of `relay`, and of ssh (rules, 16.3).
 */
export function rulesOf(
  config: Pick<Config, 'allow' | 'project'>,
  given: { allow?: string[]; project?: string },
  { roots }: Pick<Home, 'roots'>,
  env: NodeJS.ProcessEnv = process.env,
): ProjectRules {
  const defaultPath = resolve(fromHome(given.project ?? config.project ?? '.'));
  const allowed = (given.allow ?? config.allow ?? [homedir()]).map((folder) => resolve(fromHome(folder)));
  return {
    defaultPath,
    allowed: [...new Set([...allowed, defaultPath])],
    closed: [...new Set([...roots, ...homeOf({ env }).roots, ...foldersOfKeys(env)])],
  };
}

function foldersOfKeys(env: NodeJS.ProcessEnv): string[] {
  const { RELAY_CLI_CONFIG_DIR: cli } = env;
  return [
    join(homeFolder(env), '.ssh'),
    join(xdgFolder(env, 'XDG_CONFIG_HOME'), 'relay'),
    ...(cli ? [resolve(cli)] : []),
  ];
}

interface AgentPlace {
  rules: ProjectRules;
  /** The state folder of the profile; marks the processes of its agents. */
  stateDir: string;
  log: Log;
  /** Maximum number of working agents; the same number again can be idle or wait for an answer. */
  maxAgents?: number | undefined;
  askAtDesk?: AskAtDesk | undefined;
  noFullAccess?: boolean | undefined;
  /** Whether apps see the programs that have sessions open, and can close them. Default: both. */
  desk?: DeskMode | undefined;
  /** One of several, and not the first. */
  isFurther?: boolean;
  /** The clock of its processes. Default: the system's. */
  clock?: Clock;
}

/** How an ACP agent is started, and its preset. */
export function launchOf(choice: AgentChoice) {
  const preset = choice.preset === undefined ? undefined : presetOf(choice.preset);
  const isDemo = choice.preset === 'demo';
  const wanted = choice.program ?? (isDemo ? process.execPath : (preset?.command ?? ''));
  const found = findProgram(wanted);
  const started = startable(found ?? wanted);
  return {
    preset,
    found,
    program: started.program,
    args: [...started.args, ...(choice.args ?? (isDemo ? [demoAgentFile] : [...(preset?.args ?? [])]))],
    env: { ...preset?.env, ...choice.env },
    login: preset?.login,
    authMethod: choice.authMethod,
  };
}

/** The agent that answers, and access to its sessions that were started locally. */
export function agentOf(
  choice: AgentChoice,
  {
    rules,
    stateDir,
    log,
    maxAgents = maxAgentsDefault,
    askAtDesk,
    noFullAccess,
    desk = 'full',
    isFurther = false,
    clock,
  }: AgentPlace,
): { agent: Agent; outside?: Outside } {
  switch (choice.kind) {
    case 'scripted':
      return { agent: scriptedAgent(choice.script === undefined ? demoScript() : readScript(choice.script)) };
    case 'command':
      return { agent: commandAgent({ program: choice.program ?? '', args: choice.args ?? [], rules }) };
    case 'acp': {
      const { preset, program, args, env, login } = launchOf(choice);
      if ((noFullAccess || askAtDesk !== undefined) && preset?.quirks?.neverAsks)
        throw usage(
          `${preset.title} runs every command without asking: start it without --no-full-access and --ask-at-desk, or use another agent.`,
        );
      const whole = { ...process.env, ...env };
      const holders = holdersOf({ preset, env: whole, marker: `${markerVariable}=${markerOf(stateDir)}`, desk });
      const isSeen = desk !== 'off';
      const agent = acpAgent({
        program,
        args,
        env,
        rules,
        log,
        marker: markerOf(stateDir),
        pidFile: join(stateDir, isFurther ? `agents-${choice.preset}.json` : 'agents.json'),
        mode: choice.mode,
        authMethod: choice.authMethod,
        maxProcesses: 2 * maxAgents,
        askAtDesk,
        limitsOf: limitsOf(preset, { ...process.env, ...env }),
        wasRead: preset?.history === 'codex' ? codexReadIn({ ...process.env, ...env }) : undefined,
        noFullAccess,
        listed: preset?.history === undefined,
        ...(clock ? { clock } : {}),
        ...(isSeen ? { holders } : {}),
        ...(preset?.holder === 'codex' ? { timings: { idleMs: codexIdleMs } } : {}),
        ...(preset?.quirks ? { quirks: preset.quirks } : {}),
        ...(login === undefined ? {} : { login }),
      });
      // No one starts a session with the demonstration locally.
      if (choice.preset === 'demo') return { agent };
      const outside = deskOf({ agent, preset, env: whole, rules, holders, log });
      const address = doorAddress(stateDir);
      if (!isSeen || askAtDesk !== undefined || preset?.holder !== 'claude' || address === undefined)
        return { agent, outside };
      const door = deskDoor({ address, holders, log, hookSeconds, ...(clock ? { clock } : {}) });
      const close = async () => void (await Promise.all([door.close(), agent.close?.()]));
      return { agent: { ...agent, deskAsker: door, close }, outside };
    }
  }
}

/** A process of Codex keeps its session locked: it exits soon, so that a terminal can continue (rules, 24.5). */
const codexIdleMs = 60_000;

/** Returns the name of an agent for people; undefined for an agent unknown here. */
export function productOf({ preset: name }: AgentChoice): { name: string; version?: string } | undefined {
  const preset = name === undefined ? undefined : presetOf(name);
  if (!preset) return undefined;
  const path = findProgram(preset.command);
  const version = path === undefined ? undefined : versionOf(preset, path);
  return { name: preset.title, ...(version === undefined ? {} : { version }) };
}

/** Equal for every start on the same state folder, and unique to it. */
const markerOf = (stateDir: string) => createHash('sha256').update(resolve(stateDir)).digest('hex').slice(0, 32);
