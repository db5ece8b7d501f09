/** Declares `relay inbox` and its parts. */
import type { Command } from 'commander';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { type Done, addCommand } from './add-command.ts';
import { type InboxOptions, ackInboxCommand, listInboxCommand, snoozeInboxCommand } from './inbox.ts';

export function addInboxCommands(program: Command, terminal: Terminal, done: Done): void {
  const inbox = addCommand(
    program,
    'inbox',
    'list what waits for you: questions, failures, machines that stay away, turns that ended',
    'relay inbox',
    'relay inbox --kind question --json',
    'relay inbox --watch',
    'relay inbox ack 3f2a81c0',
    'relay inbox snooze 3f2a81c0 2h',
  )
    .option('--kind <kind>', 'only of this kind: question, failure, unknown, finished or device')
    .option('--snoozed', 'snoozed items instead of open ones')
    .option('--watch', 'print every change until interrupted')
    .action(async (options: InboxOptions) => done(await listInboxCommand(options, terminal)));
  // `--json` is accepted before and after the second word.
  const all = <T extends CommonOptions>(command: Command) => command.optsWithGlobals<T>();

  addCommand(
    inbox,
    'ack',
    'acknowledge an item; a question must be answered instead',
    'relay inbox ack 3f2a81c0',
    'relay inbox ack --all',
  )
    .argument('[item]', 'the beginning of its id')
    .option('--all', 'all that need no answer')
    .action(async (typed: string | undefined, _: CommonOptions, command: Command) =>
      done(await ackInboxCommand(typed, all<CommonOptions & { all?: boolean }>(command), terminal)),
    );
  addCommand(
    inbox,
    'snooze',
    'hide an item for a while, at most 30 days',
    'relay inbox snooze 3f2a81c0 2h',
    'relay inbox snooze 3f2a81c0 off',
  )
    .argument('<item>', 'the beginning of its id')
    .argument('<time>', 'for how long: 30m, 2h, 3d; "off" shows it again')
    .action(async (typed: string, time: string, _: CommonOptions, command: Command) =>
      done(await snoozeInboxCommand(typed, time, all<CommonOptions>(command), terminal)),
    );
}
