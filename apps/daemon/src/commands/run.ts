/** `relay-daemon run`: connects, stays connected, and does the work until it is told to stop. */
import { resolve } from 'node:path';
import {
  type Agent,
  createDaemon,
  createLog,
  type Daemon,
  exitCodes,
  Failure,
  type Log,
  makePrivateFolder,
  readScript,
  reasonOf,
  scriptedAgent,
} from '@relay/daemon-kit';
import { commandAgent } from '../agents/command.ts';
import { requireConfig } from '../config.ts';
import { readCredentials } from '../credentials.ts';
import { homeOf } from '../home.ts';
import { demoScriptFile } from '../agents/demo-script.ts';
import { lockAddress, takeLock } from '../lock.ts';
import { writeState } from '../state-file.ts';
import { daemonVersion } from '../version.ts';
import type { CommonOptions, Terminal } from './terminal.ts';

export interface RunOptions extends CommonOptions {
  agent?: string;
  script?: string;
  project?: string;
  verbose?: boolean;
}

export async function runCommand(command: readonly string[], options: RunOptions, terminal: Terminal): Promise<number> {
  const home = homeOf({ home: options.home, env: terminal.env });
  const config = requireConfig(home);
  const refreshToken = readCredentials(home);
  const agent = agentOf(command, options);
  makePrivateFolder(home.stateDir);
  const lock = await takeLock(lockAddress(home.stateDir));
  const log = createLog({
    write: terminal.err,
    json: options.json ?? false,
    verbose: options.verbose ?? false,
    secrets: [refreshToken],
  });
  try {
    log.info('starting', { version: daemonVersion, pid: process.pid, server: config.server, device: config.device_id });
    const daemon = createDaemon({
      server: config.server,
      deviceId: config.device_id,
      refreshToken,
      agentType: config.agent_type,
      agent,
      storeDir: home.stateDir,
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
    const release = stopOnSignals(daemon, log);
    const stop = await daemon.ended;
    release();
    if (stop.reason === 'stopped') return exitCodes.ok;
    // 78 tells a service manager that starting again will not help.
    throw new Failure(stop.reason.toUpperCase(), stop.message, exitCodes.config);
  } finally {
    await lock.release();
  }
}

function agentOf(command: readonly string[], options: RunOptions): Agent {
  const usage = (why: string) => new Failure('BAD_OPTION', why, exitCodes.usage);
  const kind = options.agent ?? (command.length > 0 ? 'command' : 'scripted');
  if (kind === 'scripted') {
    if (command.length > 0) throw usage('A program after "--" needs --agent command.');
    return scriptedAgent(readScript(options.script ?? demoScriptFile));
  }
  if (kind !== 'command') throw usage(`--agent must be "scripted" or "command", not "${kind}".`);
  if (options.script !== undefined) throw usage('--script needs --agent scripted.');
  const [program, ...args] = command;
  if (program === undefined) {
    throw usage('Name the program after "--", for example: relay-daemon run --agent command -- claude -p');
  }
  return commandAgent({ program, args, defaultPath: resolve(options.project ?? '.') });
}

/** The first signal leaves in order, the second one at once. Whatever ends this process, no agent stays behind. */
function stopOnSignals(daemon: Daemon, log: Log): () => void {
  let leaving = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (leaving) process.exit(exitCodes.failed);
    leaving = true;
    log.info('stopping', { signal });
    void daemon.stop();
  };
  const onExit = () => daemon.abort();
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('exit', onExit);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('exit', onExit);
  };
}
