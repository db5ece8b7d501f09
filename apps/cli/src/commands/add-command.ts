/** The common options of all commands, their examples, and how commands run. */
import type { Command } from 'commander';
import type { Terminal } from '@relay/machine';

/** The work of a command: takes typed arguments, options and the terminal, and returns the exit code. No exit code means success. */
type Work<Given extends unknown[]> = (...given: [...Given, Terminal]) => Promise<number> | Promise<void>;

/** Turns work into a command's action. */
export type Run = <Given extends unknown[]>(work: Work<Given>) => (...given: unknown[]) => Promise<void>;

export const runOn =
  (terminal: Terminal, done: (exitCode: number) => void): Run =>
  <Given extends unknown[]>(work: Work<Given>) =>
  async (...given) => {
    const command = given.at(-1) as Command;
    // `--json` is accepted before and after the subcommand.
    const all = [...given.slice(0, -2), command.optsWithGlobals(), terminal];
    const exitCode = await work(...(all as [...Given, Terminal]));
    if (typeof exitCode === 'number') done(exitCode);
  };

const examplesText = (examples: readonly string[]) => `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`;

/** Adds a command with the common options and its examples. */
export const addCommand = (parent: Command, name: string, description: string, ...examples: string[]): Command =>
  parent
    .command(name)
    .description(description)
    .option('--url <address>', 'address of the relay')
    .option('--json', 'machine-readable output')
    .addHelpText('after', examplesText(examples));
