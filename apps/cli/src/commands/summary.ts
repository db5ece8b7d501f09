/**
 * `relay summary`, `relay commands` and `relay release`: summarise a session, list the slash commands of its agent, and close the program that
 * holds it on its machine.
 */
import type { Terminal } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import { findSessionId } from '../naming.ts';
import { oneLine, plain } from '../show/text.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';

export async function summaryCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const summary = await relay.call('readSummary', { params: { id: await findSessionId(relay, typed) } });
  print(summary, () => {
    const { title, projectPath, status, statusDetail, messageCount, initialPrompt, lastToolUse, recentMessages } =
      summary;
    const state = [status, statusDetail].filter((text) => text).join(': ');
    const rows: [string, string | undefined][] = [
      ['Title', title],
      ['Project', projectPath],
      ['Status', state],
      ['Messages', messageCount === null ? '' : String(messageCount)],
      ['First message', initialPrompt],
      ['Last tool', lastToolUse],
    ];
    const lines = rows.filter(([, value]) => value).map(([name, value]) => `${name}: ${oneLine(value!)}\n`);
    const recentTexts = recentMessages.map(({ role, content }) => `\n${role}\n${plain(content)}\n`);
    return [...lines, ...recentTexts].join('');
  });
}

interface ReleaseOptions extends CommonOptions {
  stopTurn?: boolean;
}

const sentences: Readonly<Record<string, string>> = {
  released: 'The program that held the session was closed.',
  not_held: 'No program held the session.',
  busy: 'The session is in the middle of a turn, so it was not released. Use --stop-turn to interrupt the turn.',
  foreign: 'Something other than your agent holds the session, so it was not released.',
  shared: 'The program that holds the session runs other sessions too, so it was not closed.',
  unknown_session: 'The device has no such session.',
  failed: 'The session could not be released.',
};

export async function releaseCommand(typed: string, options: ReleaseOptions, terminal: Terminal): Promise<number> {
  const { relay, print } = contextOf(options, terminal);
  const body = options.stopTurn ? { stopTurn: true } : {};
  const released = await relay.call('releaseSession', { params: { id: await findSessionId(relay, typed) }, body });
  const { result, detail } = released;
  print(released, () => `${sentences[result] ?? oneLine(result)}${detail ? ` (${oneLine(detail)})` : ''}\n`);
  return result === 'released' || result === 'not_held' ? exitCodes.ok : exitCodes.failed;
}

export async function commandsCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const { commands } = await relay.call('listCommands', {
    params: { id: await findSessionId(relay, typed) },
  });
  print({ commands }, () =>
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
