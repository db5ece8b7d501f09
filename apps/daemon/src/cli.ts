/** The command line: words → one of four commands → an exit code. */
import { Command, CommanderError } from 'commander';
import { type RegisterOptions, registerCommand } from './commands/register.ts';
import { type RunOptions, runCommand } from './commands/run.ts';
import { statusCommand } from './commands/status.ts';
import type { CommonOptions, Terminal } from './commands/terminal.ts';
import { type UnregisterOptions, unregisterCommand } from './commands/unregister.ts';
import { exitCodes, Failure, reasonOf } from '@relay/daemon-kit';
import { daemonVersion } from './version.ts';

const exitCodesHelp = `
Exit codes:
  0 done   1 failed   3 not running (status)   64 wrong usage   65 the script is wrong
  69 the relay cannot be reached   73 already registered   75 another process runs on this home
  77 denied or expired   78 not registered, or turned away by the relay: starting again will not help`;

const examples = `
Examples:
  relay-daemon run                                             the built-in demonstration
  relay-daemon run --agent scripted --script conversation.json
  relay-daemon run --agent command -- claude -p                the message goes on stdin
  relay-daemon run --agent command -- my-agent --session {session} --say {message}`;

/** Runs one command to its end and returns the exit code. Never throws. `words` are the arguments without node and script. */
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
    .description('The bridge between an agent session relay and an AI agent on this machine.')
    .version(daemonVersion)
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
    .showHelpAfterError('(relay-daemon --help says more)')
    .addHelpText('after', exitCodesHelp);

  const command = (name: string, description: string) =>
    program
      .command(name)
      .description(description)
      .option('--home <folder>', 'where everything is kept (default: RELAY_DAEMON_HOME, else XDG folders)')
      .option('--json', 'machine-readable output');

  command('register', 'connect this machine to your account')
    .option('--server <address>', 'base address of the relay', 'http://localhost:4000')
    .option('--agent-type <type>', 'what kind of agent answers here', 'scripted')
    .option('--name <name>', 'how the device is shown (default: the host name)')
    .option('--hostname <name>', 'host name to register (default: of this machine)')
    .option('--force', 'replace an existing registration')
    .action(async (options: RegisterOptions) => done(await registerCommand(options, terminal)));

  command('run', 'connect and do the work; ends with SIGINT or SIGTERM')
    .argument('[program...]', 'after "--": the program that answers, and its arguments')
    .option('--agent <kind>', '"scripted" or "command" (default: command if a program is given)')
    .option('--script <file>', 'conversation to play (default: a demonstration)')
    .option('--project <folder>', 'where the program runs when an app names no project (default: here)')
    .option('--verbose', 'also log what is said')
    .addHelpText('after', examples)
    .action(async (words: string[], options: RunOptions) => done(await runCommand(words, options, terminal)));

  command('status', 'show registration, process and connection').action(async (options: CommonOptions) =>
    done(await statusCommand(options, terminal)),
  );

  command('unregister', 'remove this device from the relay and forget it')
    .option('--force', 'forget it here even if the relay cannot be told')
    .action(async (options: UnregisterOptions) => done(await unregisterCommand(options, terminal)));

  return program;
}
