/** Declares `relay notify` and its parts. */
import type { Command } from 'commander';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { type Done, addCommand } from './add-command.ts';
import {
  type NotifyAddOptions,
  addNotifyCommand,
  listNotifyCommand,
  pauseNotifyCommand,
  removeNotifyCommand,
  testNotifyCommand,
} from './notify.ts';

export function addNotifyCommands(program: Command, terminal: Terminal, done: Done): void {
  const notify = addCommand(
    program,
    'notify',
    'list the addresses at which you are notified of watched sessions, or change them',
    'relay notify',
    'relay notify add ntfy my-secret-topic --name "My phone"',
    'relay notify test phone',
  ).action(async (options: CommonOptions) => done(await listNotifyCommand(options, terminal)));
  // `--json` is accepted before and after the second word.
  const all = <T extends CommonOptions>(command: Command) => command.optsWithGlobals<T>();

  addCommand(
    notify,
    'add',
    'add a topic of ntfy or a webhook',
    'relay notify add ntfy my-secret-topic',
    'relay notify add ntfy garden --server https://ntfy.example.com --token tk_…',
    'relay notify add webhook https://example.com/hook --causes needs_you,failed --detail title',
  )
    .argument('<kind>', 'ntfy or webhook')
    .argument('<address>', 'the topic, or the address of the webhook')
    .option('--name <name>', 'a name for it (default: its host)')
    .option('--server <address>', 'the server of ntfy (default: https://ntfy.sh)')
    .option('--token <token>', 'an access token of the server of ntfy')
    .option('--causes <list>', 'done, needs_you, failed, … separated by commas (default: all)')
    .option('--detail <detail>', 'none: say only that something waits; title: name the session (default: none)')
    .action(async (kind: string, address: string, _: NotifyAddOptions, command: Command) =>
      done(await addNotifyCommand(kind, address, all<NotifyAddOptions>(command), terminal)),
    );

  const named = (name: string, description: string, run: (typed: string, options: CommonOptions) => Promise<number>) =>
    addCommand(notify, name, description, `relay notify ${name} phone`)
      .argument('<address>', 'its name, or a part of its name or id')
      .action(async (typed: string, _: CommonOptions, command: Command) =>
        done(await run(typed, all<CommonOptions>(command))),
      );
  named('test', 'send a test and wait for its outcome', (typed, options) =>
    testNotifyCommand(typed, options, terminal),
  );
  named('pause', 'notify it no longer', (typed, options) => pauseNotifyCommand(typed, 'paused', options, terminal));
  named('resume', 'end a pause', (typed, options) => pauseNotifyCommand(typed, 'active', options, terminal));
  named('remove', 'remove it', (typed, options) => removeNotifyCommand(typed, options, terminal));
}
