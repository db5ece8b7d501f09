/** Declares the commands that read, organise and follow sessions. */
import type { Command } from 'commander';
import { archiveCommand, deleteCommand, renameCommand } from './change-session.ts';
import { type Run, addCommand } from './add-command.ts';
import { messagesCommand } from './messages.ts';
import { markCommand, markings } from './mark.ts';
import { tailCommand } from './following.ts';
import { tidyCommand } from './tidy.ts';
import { unwatchCommand, watchCommand } from './watch.ts';
import { reading } from './shared-options.ts';

export function addKeepingCommands(program: Command, run: Run): void {
  reading(
    addCommand(
      program,
      'messages',
      'print the messages of a session, with tool calls, diffs and plans',
      'relay messages k3j9x2ab',
      'relay messages k3j9x2ab -n 200 --full',
      'relay messages k3j9x2ab --json | jq -r "select(.part.kind == \\"tool\\").part.title"',
    )
      .argument('<session>', 'id or part of it')
      .option('-n, --lines <number>', 'number of newest messages, up to 200', '50')
      .option('--before <uuid>', 'only messages older than this one'),
  ).action(run(messagesCommand));

  addCommand(program, 'rename', 'rename a session', 'relay rename k3j9x2ab "The build"')
    .argument('<session>', 'id or part of it')
    .argument('<title>', 'the new title')
    .action(run(renameCommand));

  for (const { action, what, mark } of markings) {
    addCommand(program, action, what, `relay ${action} k3j9x2ab`)
      .argument('<session>', 'id or part of it')
      .action(run(markCommand(mark)));
  }

  addCommand(
    program,
    'tidy',
    'archive or delete many sessions at once',
    'relay tidy archive --before 2026-10-01',
    'relay tidy delete --archived --device laptop --yes',
  )
    .argument('<action>', 'archive, unarchive or delete')
    .option('--device <device>', 'only sessions of this device')
    .option('--status <status>', 'only sessions in this state: pending, active, waiting, idle or failed')
    .option('--search <words>', 'only sessions with these words')
    .option('--before <date>', 'only sessions last changed before this date')
    .option('--archived', 'for "delete": archived sessions instead of the others')
    .option('-y, --yes', 'skip the confirmation')
    .action(run(tidyCommand));

  addCommand(
    program,
    'archive',
    'archive sessions: hide them from the list',
    'relay archive k3j9x2ab',
    'relay archive k3j9x2ab --undo',
  )
    .argument('<session...>', 'ids or parts of ids')
    .option('--undo', 'unarchive: list them again')
    .action(run(archiveCommand));

  addCommand(program, 'delete', 'delete a session from the relay', 'relay delete k3j9x2ab --yes')
    .argument('<session>', 'id or part of it')
    .option('-y, --yes', 'skip the confirmation')
    .action(run(deleteCommand));

  reading(
    addCommand(
      program,
      'tail',
      'print the last messages of a session, then follow it until Ctrl-C',
      'relay tail k3j9x2ab',
      'relay tail k3j9x2ab -n 0 --once && notify-send done      wait for the running task',
    )
      .argument('<session>', 'id or part of it')
      .option('--once', 'stop when the running task ends; exit code 1 if it does not succeed')
      .option('-n, --lines <number>', 'number of earlier messages, up to 200', '20')
      .option('--no-output', 'omit verbose output, from daemons without items'),
  ).action(run(tailCommand));

  addCommand(
    program,
    'watch',
    'turn on notifications for sessions and print their events; without a session, print all events',
    'relay watch',
    'relay watch k3j9x2ab --no-follow                only the notifications',
    'relay watch --json | jq -c "select(.type == \\"device_status\\")"',
  )
    .argument('[session...]', 'ids or parts of ids; they stay watched until "relay unwatch"')
    .option('--no-follow', 'print no events')
    .action(run(watchCommand));

  addCommand(program, 'unwatch', 'turn off notifications for sessions', 'relay unwatch k3j9x2ab')
    .argument('<session...>', 'ids or parts of ids')
    .action(run(unwatchCommand));
}
