/** Declares the commands for a session's agent: its settings, its questions, its tasks. */
import type { Command } from 'commander';
import { type Run, addCommand } from './add-command.ts';
import { catCommand, diffCommand, filesCommand } from './diff.ts';
import { cancelCommand, laterCommand, queueCommand } from './queue.ts';
import { scheduleCommand } from './schedule.ts';
import { answerCommand } from './send.ts';
import { settingsCommand } from './settings.ts';
import { attachCommand } from './attach.ts';
import { deskCommand } from './desk.ts';
import { commandsCommand, releaseCommand, summaryCommand } from './summary.ts';
import { reading, sending } from './shared-options.ts';
import { contextCommand, usageCommand } from './usage.ts';

export function addAgentCommands(program: Command, run: Run): void {
  addCommand(program, 'commands', 'list the slash commands of the agent of a session', 'relay commands k3j9x2ab')
    .argument('<session>', 'id or part of it')
    .action(run(commandsCommand));

  addCommand(
    program,
    'settings',
    'show the settings of a session, or of new sessions on a device; change one',
    'relay settings k3j9x2ab',
    'relay settings k3j9x2ab model opus --keep       also for new sessions',
    'relay settings --device laptop --agent codex mode plan',
  )
    .argument('[session]', 'id or part of it; none with --device')
    .argument('[name]', 'id or name of a setting')
    .argument('[value]', 'id or name of one of its values')
    .option('--device <device>', 'id or name: the defaults of new sessions there')
    .option('--agent <type>', 'with --device: one of its agents (default: the first)')
    .option('--keep', 'also use the value for new sessions of this agent on its device')
    .option('--without-asking', 'turn on a mode that never asks without a question')
    .action(run(settingsCommand));

  addCommand(
    program,
    'usage',
    'show turns, cost and tokens of your machines, or the figures of a session',
    'relay usage --days 7',
    'relay usage k3j9x2ab',
  )
    .argument('[session]', 'id or part of it')
    .option('--days <number>', 'days up to today, at most 92; default 30')
    .action(run(usageCommand));

  addCommand(program, 'context', 'show context, cost and plan limits of a session', 'relay context k3j9x2ab')
    .argument('<session>', 'id or part of it')
    .action(run(contextCommand));

  addCommand(program, 'summary', 'show the summary of a session that its machine keeps', 'relay summary k3j9x2ab')
    .argument('<session>', 'id or part of it')
    .action(run(summaryCommand));

  addFileCommands(program, run);

  addCommand(
    program,
    'release',
    'close the program that holds a session on its machine, so that the session can continue here',
    'relay release k3j9x2ab',
    'relay release k3j9x2ab --stop-turn',
  )
    .argument('<session>', 'id or part of it')
    .option('--stop-turn', 'even while that program works; interrupts its turn')
    .action(run(releaseCommand));

  reading(
    addCommand(
      program,
      'attach',
      'open a session in this terminal: follow it, send messages and answer questions',
      'relay attach k3j9x2ab',
      'relay attach                                      the newest session of this folder',
    )
      .argument('[session]', 'id or part of it')
      .option('--read-only', 'show only'),
  ).action(run(attachCommand));

  addCommand(
    program,
    'desk',
    'release a session here, and print the command that continues it in a terminal of its machine',
    'relay desk k3j9x2ab',
    'relay desk k3j9x2ab --go',
  )
    .argument('<session>', 'id or part of it')
    .option('--go', 'run the command, on that machine')
    .action(run(deskCommand));

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
  ).action(run(answerCommand));

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
    .action(run(cancelCommand));

  addCommand(
    program,
    'queue',
    'list the queued messages of a session; edit, move or remove one before it is sent, or clear the queue',
    'relay queue k3j9x2ab',
    'relay queue k3j9x2ab edit 4QZ7W1TE "Only the unit tests"',
    'relay queue k3j9x2ab move 4QZ7W1TE --before 8YH2M5KD',
    'relay queue k3j9x2ab remove 4QZ7W1TE',
    'relay queue k3j9x2ab clear',
  )
    .argument('<session>', 'id or part of it')
    .argument('[action]', 'edit, move, remove or clear')
    .argument('[task]', 'id of a queued task, or the end of the id')
    .argument('[text]', 'for "edit": the new text; "-" or a pipe reads standard input')
    .option('--before <task>', 'for "move": before this task')
    .option('--after <task>', 'for "move": after this task')
    .option('--at <time>', 'for "move": another time, of a message that has one')
    .action(run(queueCommand));

  addLaterCommands(program, run);
}

/** Declares the commands of messages with a time. */
function addLaterCommands(program: Command, run: Run): void {
  addCommand(
    program,
    'later',
    'list the messages of all sessions that are sent later; "relay queue" changes them',
    'relay later',
    'relay send k3j9x2ab "Run the slow tests" --at 22:00',
    'relay queue k3j9x2ab move 4QZ7W1TE --at "tomorrow 7:30"',
  ).action(run(laterCommand));

  addCommand(
    program,
    'schedule',
    'list the messages that repeat; add, change, pause, resume, run or remove one',
    'relay schedule add laptop "Run the slow tests" --cron "30 7 * * 1-5" --zone Europe/Paris',
    'relay schedule runs 4QZ7W1TE',
    'relay schedule change 4QZ7W1TE --cron "0 9 * * *"',
  )
    .argument('[action]', 'list, add, change, runs, run, pause, resume or remove')
    .argument('[words...]', 'for "add": device and message; else the id of a schedule, or the end of it')
    .option('--cron <rule>', 'minute, hour, day of month, month, day of week')
    .option('--zone <zone>', 'IANA time zone of the rule; default: the zone of this computer')
    .option('--wait <duration>', 'how long a run waits for an offline device: 30m, 2h (default), 0 to skip it')
    .option('--session <session>', 'each run continues this session; else each begins one')
    .option('--project <path>', 'working directory on the device')
    .option('--title <text>', 'title of its sessions')
    .option('--agent <type>', 'agent of its sessions')
    .option('--times <count>', 'the number of runs after which it is over')
    .option('--from <time>', 'no run before this time')
    .option('--until <time>', 'no run after this time')
    .option(
      '--set <id=value>',
      'a setting of each run; repeat for more',
      (value: string, earlier: readonly string[] = []) => [...earlier, value],
    )
    .option('--without-asking', 'with --set: runs can use a mode that never asks; takes a recent sign-in')
    .action(run(scheduleCommand));
}

/** Declares the commands that show a session's files and their changes. */
function addFileCommands(program: Command, run: Run): void {
  addCommand(
    program,
    'diff',
    'show what changed in the folder of a session',
    'relay diff k3j9x2ab --stat',
    'relay diff k3j9x2ab src/limits.ts --scope turn',
    'relay diff k3j9x2ab --patch | git apply --check',
  )
    .argument('<session>', 'id or part of it')
    .argument('[path]', 'only this file')
    .option('--scope <scope>', 'uncommitted, session, turn (the last one) or edits (reported by the agent)')
    .option('--stat', 'only the files and their numbers')
    .option('--patch', 'as a patch for git')
    .option('--exit-code', 'exit with 1 when something changed')
    .action(run(diffCommand));

  addCommand(
    program,
    'files',
    'list files of a session',
    'relay files k3j9x2ab src',
    'relay files k3j9x2ab --find limits',
  )
    .argument('<session>', 'id or part of it')
    .argument('[folder]', 'folder below the root of the session')
    .option('--find <letters>', 'files whose path has these letters in this order')
    .option('--sent', 'the files of its conversation instead, newest first; "relay get" saves one')
    .action(run(filesCommand));

  addCommand(program, 'cat', 'print a file of a session', 'relay cat k3j9x2ab src/limits.ts')
    .argument('<session>', 'id or part of it')
    .argument('<path>', 'the file')
    .action(run(catCommand));
}
