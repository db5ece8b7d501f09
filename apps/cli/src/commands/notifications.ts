/** Declares `relay notify` and its subcommands, and `relay notifications`. */
import type { Command } from 'commander';
import { type Run, addCommand } from './add-command.ts';
import {
  addNotifyCommand,
  listNotifyCommand,
  pauseNotifyCommand,
  removeNotifyCommand,
  testNotifyCommand,
} from './notify.ts';
import { notificationsCommand, notifySettingsCommand, quietCommand, sessionNotifyCommand } from './notify-settings.ts';

export function addNotifyCommands(program: Command, run: Run): void {
  const notify = addCommand(
    program,
    'notify',
    'list the addresses at which you are notified of watched sessions, or change them',
    'relay notify',
    'relay notify add ntfy my-secret-topic --name "My phone"',
    'relay notify test phone',
  ).action(run(listNotifyCommand));
  addCommand(
    notify,
    'add',
    'add an ntfy topic or a webhook',
    'relay notify add ntfy my-secret-topic',
    'relay notify add ntfy garden --server https://ntfy.example.com --token tk_…',
    'relay notify add webhook https://example.com/hook --causes needs_you,failed --detail title',
  )
    .argument('<kind>', 'ntfy or webhook')
    .argument('<address>', 'the topic, or the address of the webhook')
    .option('--name <name>', 'a name for it (default: its host)')
    .option('--server <address>', 'the ntfy server (default: https://ntfy.sh)')
    .option('--token <token>', 'an access token of the ntfy server')
    .option('--causes <list>', 'needs_you,failed: only these; done=off,unknown=all: levels of this address')
    .option('--group <name>', 'tried only after an older address of this group failed')
    .option('--delay <seconds>', 'notify it only of items that are still open after this time')
    .option('--detail <detail>', 'none: only mention that an item waits; title: name the session (default: none)')
    .action(run(addNotifyCommand));

  const named = (name: string, description: string, action: ReturnType<Run>) =>
    addCommand(notify, name, description, `relay notify ${name} phone`)
      .argument('<address>', 'its name, or a part of its name or id')
      .action(action);
  named('test', 'send a test and wait for its outcome', run(testNotifyCommand));
  named('pause', 'stop notifying it', run(pauseNotifyCommand('paused')));
  named('resume', 'resume it after a pause', run(pauseNotifyCommand('active')));
  named('remove', 'remove it', run(removeNotifyCommand));

  addCommand(
    notify,
    'settings',
    'show or change the events and times of your notifications',
    'relay notify settings',
    'relay notify settings --set done=all,failed=watched,device=off',
  )
    .option('--set <levels>', 'cause=level, separated by commas; levels: off, watched, all')
    .action(run(notifySettingsCommand));
  addCommand(
    notify,
    'quiet',
    'hold notifications in these hours and send one for all of them afterwards',
    'relay notify quiet 22:00-07:00 --zone Europe/Berlin',
    'relay notify quiet 18:00-08:00 --days mon,tue,wed,thu,fri --let needs_you,failed',
    'relay notify quiet off',
  )
    .argument('<hours>', 'like 22:00-07:00, or off')
    .option('--zone <name>', 'the time zone (default: of this machine)')
    .option('--days <list>', 'the days on which they begin: mon, tue, … (default: every day)')
    .option('--let <causes>', 'causes that are not held (default: needs_you)')
    .action(run(quietCommand));
  addCommand(
    notify,
    'session',
    'choose the notifications of one session',
    'relay notify session k3j9x2ab all',
    'relay notify session k3j9x2ab off',
  )
    .argument('<session>', 'the session')
    .argument('<level>', 'all: every cause; watched: as in your settings; off: none')
    .action(run(sessionNotifyCommand));

  addCommand(
    program,
    'notifications',
    'list your notifications with their outcome at each address',
    'relay notifications',
    'relay notifications --limit 5 --json',
  )
    .option('--limit <count>', 'how many (default: 20)')
    .action(run(notificationsCommand));
}
