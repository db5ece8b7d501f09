/** Declares the commands that read sessions, keep them in order and follow them. */
import type { Command } from 'commander';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { archiveCommand, deleteCommand, renameCommand } from './change-session.ts';
import { type Done, addCommand } from './add-command.ts';
import { type MessagesOptions, messagesCommand } from './messages.ts';
import { markCommand, markings } from './mark.ts';
import { type TailOptions, tailCommand } from './tail.ts';
import { type TidyOptions, tidyCommand } from './tidy.ts';
import { type WatchOptions, unwatchCommand, watchCommand } from './watch.ts';
import { reading } from './shared-options.ts';

export function addKeepingCommands(program: Command, terminal: Terminal, done: Done): void {
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
  ).action(async (session: string, options: MessagesOptions) =>
    done(await messagesCommand(session, options, terminal)),
  );

  addCommand(program, 'rename', 'rename a session', 'relay rename k3j9x2ab "The build"')
    .argument('<session>', 'id or part of it')
    .argument('<title>', 'the new title')
    .action(async (session: string, title: string, options: CommonOptions) =>
      done(await renameCommand(session, title, options, terminal)),
    );

  for (const { action, what } of markings) {
    addCommand(program, action, what, `relay ${action} k3j9x2ab`)
      .argument('<session>', 'id or part of it')
      .action(async (session: string, options: CommonOptions) =>
        done(await markCommand(session, action, options, terminal)),
      );
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
    .action(async (action: string, options: TidyOptions) => done(await tidyCommand(action, options, terminal)));

  addCommand(
    program,
    'archive',
    'archive sessions: hide them from the list',
    'relay archive k3j9x2ab',
    'relay archive k3j9x2ab --undo',
  )
    .argument('<session...>', 'ids or parts of ids')
    .option('--undo', 'unarchive: list them again')
    .action(async (sessions: string[], options: CommonOptions & { undo?: boolean }) =>
      done(await archiveCommand(sessions, options, terminal)),
    );

  addCommand(program, 'delete', 'delete a session from the relay', 'relay delete k3j9x2ab --yes')
    .argument('<session>', 'id or part of it')
    .option('-y, --yes', 'skip the confirmation')
    .action(async (session: string, options: CommonOptions & { yes?: boolean }) =>
      done(await deleteCommand(session, options, terminal)),
    );

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
  ).action(async (session: string, options: TailOptions) => done(await tailCommand(session, options, terminal)));

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
    .action(async (sessions: string[], options: WatchOptions) => done(await watchCommand(sessions, options, terminal)));

  addCommand(program, 'unwatch', 'turn off notifications for sessions', 'relay unwatch k3j9x2ab')
    .argument('<session...>', 'ids or parts of ids')
    .action(async (sessions: string[], options: CommonOptions) =>
      done(await unwatchCommand(sessions, options, terminal)),
    );
}
