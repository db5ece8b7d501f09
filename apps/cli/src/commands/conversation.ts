/** Declares the commands for sessions. */
import type { Command } from 'commander';
import type { CommonOptions, Terminal } from '../terminal.ts';
import type { AcpOptions } from './acp.ts';
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
    'attach a PNG, JPEG, GIF or WebP image; up to 8 times',
    (file: string, earlier: readonly string[] = []) => [...earlier, file],
  );

const reading = (command: Command): Command =>
  command
    .option('--thoughts', 'also print what the agent thinks')
    .option('--full', 'print output and diffs of tools in full, not only the beginning');

const sending = (command: Command): Command =>
  reading(command)
    .option('--watch', 'follow the task until it ends, and print the conversation')
    .option('--output', 'with --watch: also print verbose output, from daemons without items')
    .option('--no-queue', 'fail if the device is offline instead of queueing the message')
    .option('--ttl <seconds>', 'how long the message may wait for the device (default 900)')
    .option('--key <text>', 'idempotency key: running this again with the same key sends nothing again');

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
    .option('--device <device>', 'only sessions of this device')
    .option('--status <status>', 'only sessions in this state: pending, active, waiting, idle or failed')
    .option(
      '--search <words>',
      'only sessions with these words, or their beginnings, in the title, project or last message',
    )
    .option('--pinned', 'only pinned sessions')
    .option('--all', 'include archived sessions')
    .action(async (options: SessionsOptions) => done(await sessionsCommand(options, terminal)));

  addCommand(program, 'folders', 'list where the sessions of a device worked last', 'relay folders laptop')
    .argument('<device>', 'id or name')
    .argument('[path]', 'a folder on it, of which the folders are listed; `.` for those that its daemon allows')
    .action(async (device: string, path: string | undefined, options: CommonOptions) =>
      done(await foldersCommand(device, path, options, terminal)),
    );

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
        .argument('[message]', 'first message; "-" or a pipe reads standard input')
        .option('--project <path>', 'working directory on the device')
        .option('--agent <type>', 'one of the agents that "relay devices" lists for it (default: the first)')
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
        'send a message to a session',
        'relay send k3j9x2ab "Now the tests, please"',
        'git diff | relay send k3j9x2ab -',
        'relay send k3j9x2ab "deploy" --key release-42 --watch',
      )
        .argument('<session>', 'id or part of it')
        .argument('[message]', 'the message; "-" or a pipe reads standard input'),
    ),
  ).action(async (session: string, message: string | undefined, options: SendingOptions) =>
    done(await sendCommand(session, message, options, terminal)),
  );

  addCommand(
    program,
    'acp',
    'be an agent of the Agent Client Protocol on standard input and output, for editors that start one',
    'relay acp laptop                                  the command that an editor is configured with',
    'relay acp laptop --map ~/src=/home/ada/src        the same folders have other names there',
    'relay acp laptop --agent codex --cwd ~/projects/garden',
  )
    .argument('[device]', 'id or name (default: the only one)')
    .option('--agent <type>', 'one of the agents that "relay devices" lists for it (default: the first)')
    .option('--cwd <folder>', 'folder on the device for every session (default: that of the editor)')
    .option(
      '--map <local=remote>',
      'a folder here and its name on the device; may be repeated',
      (mapping: string, earlier: readonly string[] = []) => [...earlier, mapping],
    )
    .option('--queue <seconds>', 'how long a prompt may wait for a device that is offline (default: not at all)')
    .action(async (device: string | undefined, options: AcpOptions) => {
      // Its libraries are of no use to the other commands.
      const { acpCommand } = await import('./acp.ts');
      done(await acpCommand(device, options, terminal));
    });

  addCommand(program, 'commands', 'list the slash commands of the agent of a session', 'relay commands k3j9x2ab')
    .argument('<session>', 'id or part of it')
    .action(async (session: string, options: CommonOptions) => done(await commandsCommand(session, options, terminal)));

  addCommand(
    program,
    'settings',
    'show the settings of a session, or change one',
    'relay settings k3j9x2ab',
    'relay settings k3j9x2ab model opus',
  )
    .argument('<session>', 'id or part of it')
    .argument('[name]', 'id or name of a setting')
    .argument('[value]', 'id or name of one of its values')
    .action(async (session: string, name: string | undefined, value: string | undefined, options: CommonOptions) =>
      done(await settingsCommand(session, name, value, options, terminal)),
    );

  addCommand(program, 'summary', 'show the summary of a session that its machine keeps', 'relay summary k3j9x2ab')
    .argument('<session>', 'id or part of it')
    .action(async (session: string, options: CommonOptions) => done(await summaryCommand(session, options, terminal)));

  addCommand(
    program,
    'release',
    'end the program on the machine that holds a session, to continue it here',
    'relay release k3j9x2ab',
  )
    .argument('<session>', 'id or part of it')
    .action(async (session: string, options: CommonOptions) => done(await releaseCommand(session, options, terminal)));

  sending(
    addCommand(
      program,
      'answer',
      'answer a question of the agent; without an answer, show every open question',
      'relay answer k3j9x2ab',
      'relay answer k3j9x2ab --question 2f4a6c8e --option 2 --watch',
      'relay answer k3j9x2ab --field size=large --field gift=yes',
      'relay answer k3j9x2ab "Yes, but only on the branch"',
    )
      .argument('<session>', 'id or part of it')
      .argument('[text]', 'the answer; "-" reads standard input')
      .option('--option <number>', 'number of the choice')
      .option(
        '--field <name=value>',
        'value of one field of a form; once for each',
        (value: string, earlier: readonly string[] = []) => [...earlier, value],
      )
      .option('--question <id>', 'id of the question, as shown; no other question is answered'),
  ).action(async (session: string, text: string | undefined, options: AnswerOptions) =>
    done(await answerCommand(session, text, options, terminal)),
  );

  addCommand(
    program,
    'cancel',
    'cancel the running task of a session, else its open question, else its oldest queued message',
    'relay cancel k3j9x2ab',
    'relay cancel k3j9x2ab --all                     and every queued message',
  )
    .argument('<session>', 'id or part of it')
    .option('--running', 'only the running task or the question, no queued message')
    .option('--all', 'also every queued message')
    .action(async (session: string, options: CancelOptions) => done(await cancelCommand(session, options, terminal)));

  addCommand(
    program,
    'queue',
    'list the queued messages of a session; edit, move or remove one before it is sent',
    'relay queue k3j9x2ab',
    'relay queue k3j9x2ab edit 4QZ7W1TE "Only the unit tests"',
    'relay queue k3j9x2ab move 4QZ7W1TE --before 8YH2M5KD',
    'relay queue k3j9x2ab remove 4QZ7W1TE',
  )
    .argument('<session>', 'id or part of it')
    .argument('[action]', 'edit, move or remove')
    .argument('[task]', 'id of a queued task, or the end of the id')
    .argument('[text]', 'for "edit": the new text; "-" or a pipe reads standard input')
    .option('--before <task>', 'for "move": before this task')
    .option('--after <task>', 'for "move": after this task')
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
