/** `relay-daemon up` (alias `run`): connects every profile, stays connected, and runs tasks until it is stopped. */
import { join } from 'node:path';
import {
  type Daemon,
  type Log,
  type Stop,
  type TranscriptSettings,
  type Workspace,
  exitCodes,
  makePrivateFolder,
  createLog,
  createDaemon,
} from '@relay/daemon-kit';
import { type Terminal, Failure, reasonOf } from '@relay/machine';
import {
  type ChoiceOptions,
  agentOf,
  choiceOf,
  choiceOfConfig,
  furtherOf,
  productOf,
  rulesOf,
} from '../agents/choice.ts';
import type { ProjectRules } from '../agents/project.ts';
import { browserOf } from '../agents/folders.ts';
import { workspaceOf } from '../changes/workspace.ts';
import { exchangeOf } from '../exchange/exchange.ts';
import { type AgentChoice, type Config, requireConfig, refuseClear } from '../config.ts';
import { readCredentials } from '../credentials.ts';
import { type Home, homeOf, registeredHomes } from '../home.ts';
import { addressOf, formerAddress, takeHome } from '../lock.ts';
import { writeState } from '../state-file.ts';
import { daemonVersion } from '../files.ts';
import { keyboardOf } from './keyboard.ts';
import {
  type CommonOptions,
  type FileOptions,
  type PlaceOptions,
  type TranscriptOptions,
  agentCountOf,
  deskModeOf,
  filesOf,
  transcriptSettings,
} from './place-options.ts';

interface UpOptions extends CommonOptions, ChoiceOptions, PlaceOptions, TranscriptOptions, FileOptions {
  verbose?: boolean;
  supervised?: boolean;
  insecure?: boolean;
}

interface Running {
  home: Home;
  daemon: Daemon;
  release: () => Promise<void>;
}

export async function upCommand(words: readonly string[], options: UpOptions, terminal: Terminal): Promise<number> {
  try {
    return await upAll(words, options, terminal);
  } catch (error) {
    const helpless = error instanceof Failure && error.exitCode === exitCodes.config;
    if (!options.supervised || !helpless) throw error;
    // launchd and Windows restart after every failure; no exit code prevents it.
    terminal.err(`${error.message}\n`);
    return exitCodes.ok;
  }
}

async function upAll(words: readonly string[], options: UpOptions, terminal: Terminal): Promise<number> {
  const given = choiceOf(words, options, terminal.env);
  const homes = homesOf(options, given, terminal);
  const several = homes.length > 1;
  const running: Running[] = [];
  const failures: unknown[] = [];
  try {
    for (const home of homes) {
      try {
        running.push(await begin(home, given, options, terminal));
      } catch (error) {
        // A profile that cannot start does not stop the others.
        if (!several) throw error;
        terminal.err(`Profile ${home.profile || '(default)'}: ${reasonOf(error)}\n`);
        failures.push(error);
      }
    }
    const code = exitCodeOf(failures);
    if (running.length === 0) throw new Failure('NOTHING_STARTED', 'No profile could be started.', code);
    const release = stopOnSignals(running.map(({ daemon }) => daemon));
    const stops = await Promise.all(running.map((one) => untilEnded(one, several, terminal)));
    release();
    return verdict(stops, several, code);
  } finally {
    await Promise.all(running.map((one) => one.release()));
  }
}

/** The named profile; else all of them. An agent on the command line is for one profile. */
function homesOf(options: UpOptions, given: AgentChoice | undefined, terminal: Terminal): Home[] {
  const choice = { home: options.home, env: terminal.env };
  if (options.profile !== undefined || given !== undefined) return [homeOf({ ...choice, profile: options.profile })];
  const homes = registeredHomes(choice);
  return homes.length > 0 ? homes : [homeOf(choice)];
}

async function begin(
  home: Home,
  given: AgentChoice | undefined,
  options: UpOptions,
  terminal: Terminal,
): Promise<Running> {
  const config = requireConfig(home);
  refuseClear(config.server, options.insecure ?? config.insecure ?? false, exitCodes.config);
  const refreshToken = readCredentials(home);
  const maxAgents = agentCountOf(options) ?? config.max_agents;
  const transcript = transcriptSettings({
    transcript: options.transcript ?? config.transcript,
    thoughts: options.thoughts ?? config.thoughts,
  });
  const choice = given ?? choiceOfConfig(config);
  const log = createLog({
    write: terminal.err,
    json: options.json ?? false,
    verbose: options.verbose ?? false,
    secrets: [refreshToken],
    ...(home.profile === '' ? {} : { about: { profile: home.profile } }),
  });
  makePrivateFolder(home.stateDir);
  const lock = await takeHome(addressOf(home.stateDir), formerAddress(home.stateDir));
  try {
    // Only with the lock: this kills the agents that an earlier daemon left running.
    const rules = rulesOf(config, options, home, terminal.env);
    const place = {
      rules,
      stateDir: home.stateDir,
      log,
      maxAgents,
      desk: deskModeOf(options) ?? config.desk,
      ...((options.askAtDesk ?? config.ask_at_desk) ? { askAtDesk: keyboardOf(terminal) } : {}),
      noFullAccess: options.fullAccess === false || config.full_access === false,
    };
    const answering = agentOf(choice, place);
    const others = (furtherOf(given, options, terminal.env) ?? config.further ?? []).filter(
      ({ preset }) => preset !== config.agent_type && preset !== choice.preset,
    );
    const further = others.map((one) => ({
      agentType: one.preset!,
      ...productOf(one),
      ...agentOf(one, { ...place, isFurther: true }),
    }));
    log.info('starting', { version: daemonVersion, pid: process.pid, server: config.server, device: config.device_id });
    const daemon = createDaemon({
      ...identityOf(config, refreshToken),
      ...answering,
      product: productOf(choice),
      further,
      browse: browserOf(rules),
      workspace: workspaceFor(config, options, { rules, home, log, detail: transcript.detail }),
      exchange: exchangeOf({
        rules,
        log,
        folder: join(home.stateDir, 'files'),
        outside: options.filesOutside ?? config.files_outside ?? false,
        sends: options.filesOut !== false && config.files_out !== false,
      }),
      storeDir: home.stateDir,
      maxAgents,
      transcript,
      daemonVersion,
      log,
      onChange(state) {
        try {
          writeState(home, state);
        } catch (error) {
          log.warn('state not written', { why: reasonOf(error) });
        }
      },
    });
    daemon.start();
    return { home, daemon, release: lock.release };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Returns undefined when apps cannot read any file. */
function workspaceFor(
  config: Config,
  options: FileOptions,
  { rules, home, log, detail }: { rules: ProjectRules; home: Home; log: Log; detail: TranscriptSettings['detail'] },
): Workspace | undefined {
  const files = options.files ?? config.files;
  const level = filesOf(files === undefined ? {} : { files }, detail);
  if (level === 'off') return undefined;
  return workspaceOf({
    rules,
    level,
    log,
    marksFolder: join(home.stateDir, 'marks'),
    hide: options.hide ?? config.hide,
    show: options.show ?? config.show,
  });
}

const identityOf = (config: Config, refreshToken: string) => ({
  server: config.server,
  deviceId: config.device_id,
  refreshToken,
  agentType: config.agent_type,
});

async function untilEnded({ home, daemon }: Running, several: boolean, terminal: Terminal): Promise<Stop> {
  const stop = await daemon.ended;
  if (several && stop.reason !== 'stopped') terminal.err(`Profile ${home.profile || '(default)'}: ${stop.message}\n`);
  return stop;
}

/**
 * 78 informs a service manager that a restart will not help; another code, that it might help a profile that did not
 * start.
 */
const exitCodeOf = (failures: readonly unknown[]): number =>
  failures
    .map((error) => (error instanceof Failure ? error.exitCode : exitCodes.failed))
    .find((code) => code !== exitCodes.config) ?? exitCodes.config;

/** Exits with `exitCode` if the relay refused every profile. */
function verdict(stops: readonly Stop[], several: boolean, exitCode: number): number {
  const refused = stops.find(({ reason }) => reason !== 'stopped');
  if (!refused || stops.some(({ reason }) => reason === 'stopped')) return exitCodes.ok;
  const message = several ? 'The relay refused every profile that this daemon ran.' : refused.message;
  throw new Failure(refused.reason.toUpperCase(), message, exitCode);
}

/**
 * The first signal drains, the second exits at once. No agent outlives this process. The system and the shell both send
 * SIGHUP when a terminal closes, so it never counts as the second. (SIGHUP also stops Node.js under nohup, because
 * Node.js undoes nohup.)
 */
function stopOnSignals(daemons: readonly Daemon[]): () => void {
  let leaving = false;
  const onSignal = () => {
    if (leaving) process.exit(exitCodes.failed);
    leaving = true;
    for (const daemon of daemons) void daemon.stop();
  };
  const onHangUp = () => {
    if (!leaving) onSignal();
  };
  const onExit = () => {
    for (const daemon of daemons) daemon.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onHangUp);
  process.on('exit', onExit);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('SIGHUP', onHangUp);
    process.off('exit', onExit);
  };
}
