/** `relay commands`: lists the slash commands of a session's agent. */
import type { Terminal } from '@relay/machine';
import { findSessionId } from '../naming.ts';
import { oneLine } from '../show/text.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';

export async function commandsCommand(typedSession: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, say } = contextOf(options, terminal);
  const { commands } = await relay.call('listCommands', {
    params: { id: await findSessionId(relay, typedSession) },
  });
  say({ commands }, () =>
    commands.length === 0
      ? 'The agent has not listed any commands.\n'
      : commands
          .map(({ name, description, inputHint }) =>
            [`/${oneLine(name)}`, inputHint ? `<${oneLine(inputHint)}>` : '', oneLine(description)]
              .filter((part) => part !== '')
              .join('  '),
          )
          .map((line) => `${line}\n`)
          .join(''),
  );
}
