/** Options that every command takes, and the text of its examples. */
import type { Command } from 'commander';

export type Done = (exitCode: number) => void;

const examplesText = (examples: readonly string[]) => `\nExamples:\n${examples.map((line) => `  ${line}`).join('\n')}`;

/** Adds a command with the options that all have, and its examples. */
export const addCommand = (parent: Command, name: string, description: string, ...examples: string[]): Command =>
  parent
    .command(name)
    .description(description)
    .option('--url <address>', 'address of the relay')
    .option('--json', 'machine-readable output')
    .addHelpText('after', examplesText(examples));
