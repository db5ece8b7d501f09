/** Declares the commands that list and start sessions, and send to them. */
import type { Command } from 'commander';
import type { Terminal } from '@relay/machine';
import type { AcpOptions } from './acp.ts';
import { type Run, addCommand } from './add-command.ts';
import { foldersCommand } from './folders.ts';
import { newCommand } from './new.ts';
import { sendCommand } from './send.ts';
import { sessionsCommand } from './sessions.ts';
import { getCommand } from './session-files.ts';
import { sending, withFiles, withImages } from './shared-options.ts';

export function addConversationCommands(program: Command, run: Run): void {
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
    .action(run(sessionsCommand));

  addCommand(program, 'folders', 'list where the sessions of a device worked last', 'relay folders laptop')
    .argument('<device>', 'id or name')
    .argument('[path]', 'list the folders inside this folder; `.` lists those that its daemon allows')
    .action(run(foldersCommand));

  withFiles(
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
    ),
  ).action(run(newCommand));

  withFiles(
    withImages(
      sending(
        addCommand(
          program,
          'send',
          'send a message to a session',
          'relay send k3j9x2ab "Now the tests, please"',
          'git diff | relay send k3j9x2ab -',
          'relay send k3j9x2ab "deploy" --key release-42 --watch',
          'relay send k3j9x2ab "Use 20 runs, that is enough" --now',
          'relay send k3j9x2ab "Make a report of it" --file march.csv',
        )
          .argument('<session>', 'id or part of it')
          .argument('[message]', 'the message; "-" or a pipe reads standard input')
          .option('--now', 'into the running turn, without waiting for it to complete')
          .option(
            '--desk <choice>',
            'while a terminal has the session open: take (close it there first) or wait (send once it is closed)',
          ),
      ),
    ),
  ).action(run(sendCommand));

  addCommand(
    program,
    'get',
    'save a file of a session; the newest one with this name',
    'relay get k3j9x2ab report.xlsx',
    'relay get k3j9x2ab report.xlsx -o ~/Downloads/march.xlsx',
  )
    .argument('<session>', 'id or part of it')
    .argument('<name>', 'its name, as "relay files --sent" lists it')
    .option('-o, --out <file>', 'where to save it (default: its name, in this folder)')
    .option('--force', 'replace an existing file')
    .action(run(getCommand));

  addCommand(
    program,
    'acp',
    'serve the Agent Client Protocol (ACP) on standard input and output, for editors that start an agent as a command',
    'relay acp laptop                                  the command that an editor is configured with',
    'relay acp laptop --map ~/src=/home/ada/src        the same folders have other names there',
    'relay acp laptop --agent codex --cwd ~/projects/garden',
  )
    .argument('[device]', 'id or name (default: the only one)')
    .option('--agent <type>', 'one of the agents that "relay devices" lists for it (default: the first)')
    .option('--cwd <folder>', 'folder on the device for every session (default: the folder of the editor)')
    .option(
      '--map <local=remote>',
      'a folder here and its name on the device; may be repeated',
      (mapping: string, earlier: readonly string[] = []) => [...earlier, mapping],
    )
    .option('--queue <seconds>', 'how long a prompt may wait for a device that is offline (default: not at all)')
    .action(
      run(async (device: string | undefined, options: AcpOptions, terminal: Terminal) => {
        // Loaded on demand: other commands do not need its libraries.
        const { acpCommand } = await import('./acp.ts');
        return acpCommand(device, options, terminal);
      }),
    );
}
