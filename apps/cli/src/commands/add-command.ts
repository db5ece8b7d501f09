/** Options that every command takes, the text of its examples, and how it is run. */
import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';

/** Makes an action of a command: its arguments as they were typed, its options, the terminal → the exit code. */
export type Run = <Given extends unknown[]>(
  work: (...given: [...Given, Terminal]) => Promise<number>,
) => (...given: unknown[]) => Promise<void>;

export const runOn =
  (terminal: Terminal, done: (exitCode: number) => void): Run =>
  <Given extends unknown[]>(work: (...given: [...Given, Terminal]) => Promise<number>) =>
  async (...given) => {
    const command = given.at(-1) as Command;
    // `--json` is accepted before and after the second word.
    const all = [...given.slice(0, -2), command.optsWithGlobals(), terminal];
    done(await work(...(all as [...Given, Terminal])));
  };

const examplesText = (examples: readonly string[]) => `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`;

/** Adds a command with the options that all have, and its examples. */
export const addCommand = (parent: Command, name: string, description: string, ...examples: string[]): Command =>
  parent
    .command(name)
    .description(description)
    .option('--url <address>', 'address of the relay')
    .option('--json', 'machine-readable output')
    .addHelpText('after', examplesText(examples));
