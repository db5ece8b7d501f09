/** Options shared by several commands. */
import type { Command } from 'commander';

/** Options that every command takes. */
export interface CommonOptions {
  url?: string;
  json?: boolean;
}

/** The option for images. */
export const withImages = (command: Command): Command =>
  command.option(
    '--image <file>',
    'attach a PNG, JPEG, GIF or WebP image; up to 8 times',
    (file: string, earlier: readonly string[] = []) => [...earlier, file],
  );

/** The option for files. */
export const withFiles = (command: Command): Command =>
  command.option(
    '--file <file>',
    'attach a file of any kind, up to 25 MB; up to 10 times',
    (file: string, earlier: readonly string[] = []) => [...earlier, file],
  );

/** The options of commands that print a conversation. */
export const reading = (command: Command): Command =>
  command
    .option('--thoughts', 'also print what the agent thinks')
    .option('--full', 'print output and diffs of tools in full, not only the beginning');

/** The options of commands that send messages to the agent. */
export const sending = (command: Command): Command =>
  reading(command)
    .option('--watch', 'follow the task until it ends, and print the conversation')
    .option('--output', 'with --watch: also print verbose output, from daemons without items')
    .option(
      '--set <id=value>',
      'a setting that holds before the agent gets the message; repeat for more',
      (value: string, earlier: readonly string[] = []) => [...earlier, value],
    )
    .option('--without-asking', 'with --set: turn on a mode that never asks without a question')
    .option('--at <time>', 'send it then: 20:00, "tomorrow 9:00", "2027-03-01 09:00"')
    .option('--in <duration>', 'send it after this time: 90m, 2h, 3d')
    .option('--at-reset', 'send it when the usage limit of the session resets')
    .option('--no-queue', 'fail if the device is offline instead of queueing the message')
    .option('--ttl <seconds>', 'how long the message may wait for the device (default 900)')
    .option('--key <text>', 'idempotency key: running this again with the same key sends nothing again');
