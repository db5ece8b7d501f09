/** The command line: parses arguments, runs one command, and returns its exit code. */
import { Command, CommanderError } from 'commander';
import { type Terminal, Failure, reasonOf } from '@relay/machine';
import { addAccountCommands } from './commands/account.ts';
import { runOn } from './commands/add-command.ts';
import { completionOf, shells } from './commands/completion.ts';
import { addAgentCommands } from './commands/agent-of-session.ts';
import { addConversationCommands } from './commands/conversation.ts';
import { addKeepingCommands } from './commands/keeping.ts';
import { addInboxCommands } from './commands/inboxes.ts';
import { addNotifyCommands } from './commands/notifications.ts';
import { exitCodes, usage } from './failure.ts';
import { cliVersion } from './version.ts';

const generalHelp = `
Relay: --url, else RELAY_CLI_URL, else the relay you last signed in to.
Environment: RELAY_CLI_URL, RELAY_CLI_TOKEN (an access token instead of a sign-in), RELAY_CLI_INSECURE (1: that token may go over plain http),
RELAY_CLI_CONFIG_DIR, NO_COLOR.
Sessions and devices can be abbreviated: the beginning or end of an id, or any part of a device's name.
--json: one JSON document on standard output (streams and several sessions: one per line); errors as JSON on standard error.

Exit codes:
  0 done   1 failed   2 wrong usage   3 not signed in, or the sign-in has expired   4 no such device, session or task
  5 the device is offline   75 the relay cannot be reached or is busy: try again later
  130 interrupted while waiting

Examples:
  relay login --url https://relay.example.com
  relay devices
  relay new laptop "Why does the build fail?" --project ~/src/app --watch
  git diff | relay send k3j9x2ab -
  relay tail k3j9x2ab`;

/** Runs one command and returns its exit code. Never throws. `words` are the arguments without node and script. */
export async function runCli(words: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const json = isForPrograms(words);
  const program = createProgram(terminal, json, (code) => (exitCode = code));
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok;
      return json ? complain(words, terminal, usage(error.message.replace(/^error: /, ''))) : exitCodes.usage;
    }
    return complain(words, terminal, error instanceof Failure ? error : new Failure('UNEXPECTED', reasonOf(error)));
  }
}

/** The output cannot be written. */
export const onLostOutput = ({ message }: Error, words: readonly string[], terminal: Terminal): number =>
  complain(words, terminal, new Failure('OUTPUT', `The output cannot be written: ${message}.`));

/** Prints the failure of a command and returns its exit code. */
function complain(words: readonly string[], terminal: Terminal, failure: Failure): number {
  const { message, code, more, exitCode } = failure;
  const record = { error: message, code, ...more };
  terminal.err(isForPrograms(words) ? `${JSON.stringify(record)}\n` : `${message}${suffix(code)}\n`);
  return exitCode;
}

function isForPrograms(words: readonly string[]): boolean {
  const end = words.indexOf('--');
  return words.slice(0, end < 0 ? undefined : end).includes('--json');
}

/** The stable code, for searching. A usage error gets no code. */
const suffix = (code: string) => (code === 'BAD_USAGE' ? '' : ` [${code}]`);

function createProgram(terminal: Terminal, json: boolean, done: (exitCode: number) => void): Command {
  const program = new Command('relay')
    .description('Talk to the agents on your machines through an agent session relay.')
    .version(cliVersion)
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: json ? () => undefined : terminal.err,
      getOutHelpWidth: () => terminal.columns,
      getErrHelpWidth: () => terminal.columns,
    })
    .showHelpAfterError('(see --help)')
    .addHelpText('after', generalHelp);
  const run = runOn(terminal, done);
  addAccountCommands(program, run);
  addConversationCommands(program, run);
  addAgentCommands(program, run);
  addKeepingCommands(program, run);
  addInboxCommands(program, run);
  addNotifyCommands(program, run);
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .argument('<shell>', shells.join(', '))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(relay completion bash)\n  relay completion fish > ~/.config/fish/completions/relay.fish',
    )
    .action((shell: string) => terminal.out(completionOf(program, shell)));
  return program;
}
