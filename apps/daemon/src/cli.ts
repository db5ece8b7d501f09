/** The command line: parses the arguments, runs one command, returns its exit code. */
import { Command, CommanderError } from 'commander';
import { type Terminal, Failure, reasonOf } from '@relay/machine';
import type { ChoiceOptions } from './agents/choice.ts';
import type { CommonOptions } from './commands/place-options.ts';
import { registerCommand } from './commands/register.ts';
import { upCommand } from './commands/up.ts';
import { type DeskQuestionsOptions, deskQuestionsCommand } from './commands/desk-questions.ts';
import { hookCommand } from './desk-questions/hook.ts';
import { agentsCommand } from './commands/agents.ts';
import { doctorCommand } from './commands/doctor.ts';
import { type ServiceOptions, serviceCommand } from './commands/service.ts';
import { statusCommand } from './commands/status.ts';
import { unregisterCommand } from './commands/unregister.ts';
import { exitCodes } from '@relay/daemon-kit';
import { daemonVersion } from './files.ts';

/** As the command line gives it; `--agent` can be repeated. */
type Given<O extends ChoiceOptions> = Omit<O, 'agent' | 'further'> & { agent?: string[] };

const exitCodesHelp = `
Exit codes:
  0 done   1 failed   3 not running (status)   64 wrong usage   65 the script is wrong
  69 the relay cannot be reached   73 already registered   75 another process runs on this profile
  77 denied or expired   78 not registered, or refused by the relay: a restart will not help`;

const examples = `
Examples:
  relay-daemon up                                              every profile that is registered
  relay-daemon up --agent claude_code                          an agent that "relay-daemon agents" knows
  relay-daemon up --agent-command "my-agent --acp"             any other agent that speaks ACP
  relay-daemon run --agent scripted --script conversation.json
  relay-daemon run --agent command -- claude -p                one process per message, the message goes on stdin
  relay-daemon run --agent command -- my-agent --session {session} --say {message}`;

/** Runs one command and returns its exit code. Never throws. `words`: the arguments without node and script. */
export async function runCli(words: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const done = (code: number) => void (exitCode = code);
  const program = createProgram(terminal, done);
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    const failure = error instanceof Failure ? error : new Failure('UNEXPECTED', reasonOf(error), exitCodes.failed);
    const json = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined).includes('--json');
    terminal.err(json ? `${JSON.stringify({ error: failure.message, code: failure.code })}\n` : `${failure.message}\n`);
    return failure.exitCode;
  }
}

function createProgram(terminal: Terminal, done: (exitCode: number) => void): Command {
  const program = new Command('relay-daemon')
    .description('Connects AI agents on this machine to an agent session relay.')
    .version(daemonVersion)
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showHelpAfterError('(see relay-daemon --help)')
    .addHelpText('after', exitCodesHelp);

  const common = (command: Command) =>
    command
      .option('--home <folder>', 'folder for all files (default: RELAY_DAEMON_HOME, else XDG folders)')
      .option('--profile <name>', 'name of the registration; each is a separate device')
      .option('--json', 'machine-readable output');
  const command = (name: string, description: string) => common(program.command(name).description(description));
  const run =
    <O>(work: (options: O, terminal: Terminal) => number | Promise<number>) =>
    async (options: O) =>
      done(await work(options, terminal));
  /** The first agent answers unless a person chooses one of the further ones. */
  const runWithAgent =
    <O extends ChoiceOptions>(work: (words: readonly string[], options: O, terminal: Terminal) => Promise<number>) =>
    async (words: string[], { agent, ...options }: Given<O>) => {
      const chosen = agent ? { agent: agent[0], further: agent.slice(1) } : {};
      done(await work(words, { ...options, ...chosen } as unknown as O, terminal));
    };
  const gather = (folder: string, folders: string[] = []) => [...folders, folder];
  const withAgent = (with_: Command) =>
    with_
      .argument('[program...]', 'after "--": the program that answers, and its arguments')
      .option(
        '--agent <kind>',
        'a name that "relay-daemon agents" shows, "auto" (the best that is installed first, and all others), or "acp", "command", "scripted"; repeat for more to choose among (default: command if a program is given)',
        gather,
      )
      .option('--agent-command <words>', 'any agent that speaks ACP on stdin and stdout')
      .option('--mode <mode>', 'mode of the agent for its sessions')
      .option(
        '--auth-method <id>',
        'how the agent logs in, one of the methods that it offers (default: any that needs no person)',
      )
      .option('--script <file>', 'conversation to play (default: a demonstration)')
      .option('--project <folder>', 'working folder when an app names no project (default: where you registered)')
      .option(
        '--allow <folder>',
        'folder that apps may use as a project; repeat for more (default: where you registered)',
        gather,
      )
      .option('--max-agents <number>', 'how many agents may work at the same time; more tasks wait (default: 8)')
      .option('--ask-at-desk', 'permissions are answered at this terminal only; without a terminal they are refused')
      .option('--no-full-access', 'apps cannot choose a mode that never asks')
      .option(
        '--desk <mode>',
        'programs that have sessions open: full (apps see them and can close them), show, or off (default: full)',
      )
      .option(
        '--transcript <detail>',
        'what apps see of the work: full, outline (titles and states of tools), or off (default: full)',
      )
      .option('--thoughts <on|off>', 'whether apps see thoughts of the agent (default: on)')
      .option(
        '--files <level>',
        'which files of sessions apps may read: all, changes (lists and differences), or off (default: all; with --transcript outline or off: off)',
      )
      .option(
        '--hide <pattern>',
        'names of files whose content apps never get, besides the usual ones; repeat for more',
        gather,
      )
      .option('--files-outside', 'keep files that people send outside of the projects')
      .option('--no-files-out', 'no file of an agent leaves this machine')
      .option('--show <pattern>', 'names of files that are no secrets after all; repeat for more', gather);

  withAgent(command('register', 'connect this machine to your account'))
    .option('--server <address>', 'base address of the relay', 'http://localhost:4000')
    .option('--agent-type <type>', 'type of the agent (default: the name of the agent)')
    .option('--name <name>', 'name of the device in apps (default: the host name)')
    .option('--hostname <name>', 'host name to register (default: of this machine)')
    .option('--qr', 'draw the link as a QR code even if this is not a screen')
    .option('--no-qr', 'never draw the QR code')
    .option(
      '--key <key>',
      'register with this key, without a person: from "relay devices invite" (or set RELAY_DAEMON_KEY)',
    )
    .option('--force', 'replace an existing registration')
    .option('--insecure', 'use http to a relay on another machine: anyone on the network can read the credential')
    .action(runWithAgent(registerCommand));

  withAgent(command('up', 'connect and run tasks until SIGINT or SIGTERM'))
    .alias('run')
    .option('--verbose', 'also log the text of conversations')
    .option('--insecure', 'use http to a relay on another machine, for this run')
    .option('--supervised', 'exit with 0 instead of 78, for service managers that always restart')
    .addHelpText('after', examples)
    .action(runWithAgent(upCommand));

  command('status', 'show registration, process and connection').action(run(statusCommand));
  command('agents', 'show the known agents, and which of them are installed here').action(run(agentsCommand));
  command('doctor', 'find problems and their solutions').action(run(doctorCommand));
  command('unregister', 'remove this device from the relay and from this machine')
    .option('--force', 'remove it from this machine even if the relay cannot be reached')
    .action(run(unregisterCommand));

  const deskQuestions = program
    .command('desk-questions')
    .description('ask questions of Claude Code in a terminal in your apps as well');
  const switches = {
    on: 'add the hook to the settings of Claude Code',
    off: 'remove it',
    status: 'show whether it is there',
  } as const;
  for (const [name, description] of Object.entries(switches) as [keyof typeof switches, string][]) {
    const action = common(deskQuestions.command(name).description(description));
    if (name === 'on') action.option('--yes', 'add it without a question');
    action.action(async (options: DeskQuestionsOptions) => done(await deskQuestionsCommand(name, options, terminal)));
  }
  common(program.command('hook', { hidden: true }).description('run by Claude Code').argument('<agent>'))
    // prettier-ignore
    .action(async (_agent: string, options: CommonOptions) => done(await hookCommand(options, terminal)));

  const service = program.command('service').description('run the daemon as a user service');
  const actions = {
    install: 'install the service, start it now and at every log-in',
    status: 'show whether it is installed and runs',
    remove: 'stop and remove it',
    start: 'start it',
    stop: 'stop it',
    logs: 'show its latest log lines',
  } as const;
  for (const [name, description] of Object.entries(actions) as [keyof typeof actions, string][]) {
    const action = common(service.command(name).description(description));
    if (name === 'remove') action.alias('uninstall');
    if (name === 'install') action.option('--print', 'only show what would be written');
    action.action(async (options: ServiceOptions) => done(await serviceCommand(name, options, terminal)));
  }

  return program;
}
