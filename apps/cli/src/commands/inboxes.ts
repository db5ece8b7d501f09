/** Declares `relay inbox` and its subcommands. */
import type { Command } from 'commander';
import { type Run, addCommand } from './add-command.ts';
import { ackInboxCommand, listInboxCommand, snoozeInboxCommand } from './inbox.ts';

export function addInboxCommands(program: Command, run: Run): void {
  const inbox = addCommand(
    program,
    'inbox',
    'list the items that wait for you: questions, failures, machines that stay away, completed turns',
    'relay inbox',
    'relay inbox --kind question --json',
    'relay inbox --watch',
    'relay inbox ack 3f2a81c0',
    'relay inbox snooze 3f2a81c0 2h',
  )
    .option('--kind <kind>', 'only of this kind: question, failure, unknown, finished or device')
    .option('--snoozed', 'snoozed items instead of open ones')
    .option('--watch', 'print every change until interrupted')
    .action(run(listInboxCommand));
  addCommand(
    inbox,
    'ack',
    'acknowledge an item; a question must be answered instead',
    'relay inbox ack 3f2a81c0',
    'relay inbox ack --all',
  )
    .argument('[item]', 'the beginning of its id')
    .option('--all', 'all items that need no answer')
    .action(run(ackInboxCommand));
  addCommand(
    inbox,
    'snooze',
    'hide an item for a while, at most 30 days',
    'relay inbox snooze 3f2a81c0 2h',
    'relay inbox snooze 3f2a81c0 off',
  )
    .argument('<item>', 'the beginning of its id')
    .argument('<time>', 'for how long: 30m, 2h, 3d; "off" shows it again')
    .action(run(snoozeInboxCommand));
}
