/** The words of the commands about sessions. */
import type { Command } from 'commander';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { type CancelOptions, cancelCommand } from './cancel.ts';
import { archiveCommand, deleteCommand, renameCommand } from './change-session.ts';
import { type Done, addCommand } from './add-command.ts';
import { commandsCommand } from './commands.ts';
import { foldersCommand } from './folders.ts';
import type { SendingOptions } from './message.ts';
import { type MessagesOptions, messagesCommand } from './messages.ts';
import { type NewOptions, newCommand } from './new.ts';
import { markCommand, markings } from './mark.ts';
import { type QueueOptions, queueCommand } from './queue.ts';
import { type AnswerOptions, answerCommand, sendCommand } from './send.ts';
import { type SessionsOptions, sessionsCommand } from './sessions.ts';
import { settingsCommand } from './settings.ts';
import { releaseCommand, summaryCommand } from './summary.ts';
import { type TailOptions, tailCommand } from './tail.ts';
import { type TidyOptions, tidyCommand } from './tidy.ts';
import { type WatchOptions, unwatchCommand, watchCommand } from './watch.ts';

const withImages = (command: Command): Command =>
  command.option(
    '--image <file>',
    'a PNG, JPEG, GIF or WebP image that goes with it; up to 8 times',
    (file: string, earlier: readonly string[] = []) => [...earlier, file],
  );

const reading = (command: Command): Command =>
  command
    .option('--thoughts', 'also what the agent thinks')
    .option('--full', 'whole outputs and diffs of tools, not only their beginning');

const sending = (command: Command): Command =>
  reading(command)
    .option('--watch', 'stay until the task has ended, and print what is said')
    .option('--output', 'with --watch: also print verbose output, of daemons without items')
    .option('--no-queue', 'fail when the device is offline instead of letting the message wait')
    .option('--ttl <seconds>', 'how long it may wait for the device (default 900)')
    .option('--key <text>', 'idempotency key: running this again with the same key sends nothing twice');

export function addConversationCommands(program: Command, terminal: Terminal, done: Done): void {
  addCommand(
    program,
    'sessions',
    'list your sessions, newest first',
    'relay sessions',
    'relay sessions --device laptop --status waiting',
    'relay sessions --search "deploy fail"                * is unread, ^ is pinned',
    'relay sessions --all --json | jq -r ".sessions[].id"',
  )
    .option('--device <device>', 'only of this device')
    .option('--status <status>', 'only in this state: pending, active, waiting, idle or failed')
    .option('--search <words>', 'only those with these words in title, project or last message; beginnings are enough')
    .option('--pinned', 'only pinned ones')
    .option('--all', 'archived ones too')
    .action(async (options: SessionsOptions) => done(await sessionsCommand(options, terminal)));

  addCommand(program, 'folders', 'list where the sessions of a device worked last', 'relay folders laptop')
    .argument('<device>', 'id or name')
    .action(async (device: string, options: CommonOptions) => done(await foldersCommand(device, options, terminal)));

  withImages(
    sending(
      addCommand(
        program,
        'new',
        'start a session with a first message',
        'relay new laptop "Why does the build fail?" --project ~/src/app --watch',
        'relay new laptop - < task.md',
        'relay new laptop "What is wrong here?" --image screenshot.png',
      )
        .argument('<device>', 'id or name')
        .argument('[message]', 'first message; "-" or a pipe: standard input')
        .option('--project <path>', 'working directory on the device')
        .option('--title <text>', 'title of the session'),
    ),
  ).action(async (device: string, message: string | undefined, options: NewOptions) =>
    done(await newCommand(device, message, options, terminal)),
  );

  withImages(
    sending(
      addCommand(
        program,
        'send',
        'send a message into a session',
        'relay send k3j9x2ab "Now the tests, please"',
        'git diff | relay send k3j9x2ab -',
        'relay send k3j9x2ab "deploy" --key release-42 --watch',
      )
        .argument('<session>', 'id or a part of it')
        .argument('[message]', 'the message; "-" or a pipe: standard input'),
    ),
  ).action(async (session: string, message: string | undefined, options: SendingOptions) =>
    done(await sendCommand(session, message, options, terminal)),
  );

  addCommand(
    program,
    'commands',
    'list what the agent of a session understands after a slash',
    'relay commands k3j9x2ab',
  )
    .argument('<session>', 'id or a part of it')
    .action(async (session: string, options: CommonOptions) => done(await commandsCommand(session, options, terminal)));

  addCommand(
    program,
    'settings',
    'show what can be chosen in a session, or choose',
    'relay settings k3j9x2ab',
    'relay settings k3j9x2ab model opus',
  )
    .argument('<session>', 'id or a part of it')
    .argument('[name]', 'id or name of a setting')
    .argument('[value]', 'id or name of one of its values')
    .action(async (session: string, name: string | undefined, value: string | undefined, options: CommonOptions) =>
      done(await settingsCommand(session, name, value, options, terminal)),
    );

  addCommand(program, 'summary', 'what a session is about, as its machine says', 'relay summary k3j9x2ab')
    .argument('<session>', 'id or a part of it')
    .action(async (session: string, options: CommonOptions) => done(await summaryCommand(session, options, terminal)));

  addCommand(
    program,
    'release',
    'end the program on the machine that holds a session, to go on here',
    'relay release k3j9x2ab',
  )
    .argument('<session>', 'id or a part of it')
    .action(async (session: string, options: CommonOptions) => done(await releaseCommand(session, options, terminal)));

  sending(
    addCommand(
      program,
      'answer',
      'answer what the agent asks; without an answer, show every open question',
      'relay answer k3j9x2ab',
      'relay answer k3j9x2ab --question 2f4a6c8e --option 2 --watch',
      'relay answer k3j9x2ab "Yes, but only on the branch"',
    )
      .argument('<session>', 'id or a part of it')
      .argument('[text]', 'the answer; "-": standard input')
      .option('--option <number>', 'one of the choices')
      .option('--question <id>', 'the question that is meant, as it was shown: any other one gets no answer'),
  ).action(async (session: string, text: string | undefined, options: AnswerOptions) =>
    done(await answerCommand(session, text, options, terminal)),
  );

  addCommand(
    program,
    'cancel',
    'cancel what runs in a session, else what its agent asks, else what waits longest',
    'relay cancel k3j9x2ab',
    'relay cancel k3j9x2ab --all                     and everything that waits behind it',
  )
    .argument('<session>', 'id or a part of it')
    .option('--running', 'only what runs or what its agent asks, nothing that waits')
    .option('--all', 'also everything that waits')
    .action(async (session: string, options: CancelOptions) => done(await cancelCommand(session, options, terminal)));

  addCommand(
    program,
    'queue',
    'list the messages that wait in a session; edit or move one, or take it back, before it is sent',
    'relay queue k3j9x2ab',
    'relay queue k3j9x2ab edit 4QZ7W1TE "Only the unit tests"',
    'relay queue k3j9x2ab move 4QZ7W1TE --before 8YH2M5KD',
    'relay queue k3j9x2ab remove 4QZ7W1TE',
  )
    .argument('<session>', 'id or a part of it')
    .argument('[action]', 'edit, move or remove')
    .argument('[task]', 'id of a task that waits, or the end of it')
    .argument('[text]', 'of "edit": the new text; "-" or a pipe: standard input')
    .option('--before <task>', 'of "move": before this one')
    .option('--after <task>', 'of "move": behind this one')
    .action(
      async (
        session: string,
        action: string | undefined,
        task: string | undefined,
        text: string | undefined,
        options: QueueOptions,
      ) => done(await queueCommand(session, { action, task, text }, options, terminal)),
    );

  reading(
    addCommand(
      program,
      'messages',
      'print what was said in a session, with calls of tools, diffs and plans',
      'relay messages k3j9x2ab',
      'relay messages k3j9x2ab -n 200 --full',
      'relay messages k3j9x2ab --json | jq -r "select(.part.kind == \\"tool\\").part.title"',
    )
      .argument('<session>', 'id or a part of it')
      .option('-n, --lines <number>', 'how many of the newest, up to 200', '50')
      .option('--before <uuid>', 'older ones than this'),
  ).action(async (session: string, options: MessagesOptions) =>
    done(await messagesCommand(session, options, terminal)),
  );

  addCommand(program, 'rename', 'give a session another title', 'relay rename k3j9x2ab "The build"')
    .argument('<session>', 'id or a part of it')
    .argument('<title>', 'the new title')
    .action(async (session: string, title: string, options: CommonOptions) =>
      done(await renameCommand(session, title, options, terminal)),
    );

  for (const { action, what } of markings) {
    addCommand(program, action, what, `relay ${action} k3j9x2ab`)
      .argument('<session>', 'id or a part of it')
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
    .option('--device <device>', 'only of this device')
    .option('--status <status>', 'only in this state: pending, active, waiting, idle or failed')
    .option('--search <words>', 'only those with these words')
    .option('--before <date>', 'only those that changed last before this date')
    .option('--archived', 'of "delete": archived ones instead of the others')
    .option('-y, --yes', 'do not ask before deleting')
    .action(async (action: string, options: TidyOptions) => done(await tidyCommand(action, options, terminal)));

  addCommand(
    program,
    'archive',
    'take sessions off the ordinary list',
    'relay archive k3j9x2ab',
    'relay archive k3j9x2ab --undo',
  )
    .argument('<session...>', 'ids or parts of them')
    .option('--undo', 'list them again')
    .action(async (sessions: string[], options: CommonOptions & { undo?: boolean }) =>
      done(await archiveCommand(sessions, options, terminal)),
    );

  addCommand(program, 'delete', 'delete a session from the relay', 'relay delete k3j9x2ab --yes')
    .argument('<session>', 'id or a part of it')
    .option('-y, --yes', 'do not ask')
    .action(async (session: string, options: CommonOptions & { yes?: boolean }) =>
      done(await deleteCommand(session, options, terminal)),
    );

  reading(
    addCommand(
      program,
      'tail',
      'print what was said in a session, then what is said, until Ctrl-C',
      'relay tail k3j9x2ab',
      'relay tail k3j9x2ab -n 0 --once && notify-send done      wait for the end of what runs',
    )
      .argument('<session>', 'id or a part of it')
      .option('--once', 'end with the task that runs now; exit code 1 when it does not succeed')
      .option('-n, --lines <number>', 'messages of the past, up to 200', '20')
      .option('--no-output', 'without verbose output, of daemons without items'),
  ).action(async (session: string, options: TailOptions) => done(await tailCommand(session, options, terminal)));

  addCommand(
    program,
    'watch',
    'watch sessions (you get notifications) and print what happens; without a session, print everything',
    'relay watch',
    'relay watch k3j9x2ab --no-follow                only the notifications',
    'relay watch --json | jq -c "select(.type == \\"device_status\\")"',
  )
    .argument('[session...]', 'ids or parts of them; they stay watched until "relay unwatch"')
    .option('--no-follow', 'print nothing more')
    .action(async (sessions: string[], options: WatchOptions) => done(await watchCommand(sessions, options, terminal)));

  addCommand(program, 'unwatch', 'take sessions off the watch list', 'relay unwatch k3j9x2ab')
    .argument('<session...>', 'ids or parts of them')
    .action(async (sessions: string[], options: CommonOptions) =>
      done(await unwatchCommand(sessions, options, terminal)),
    );
}
