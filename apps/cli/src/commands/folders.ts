/** `relay folders`: where the sessions of a device worked last. */
import { exitCodes } from '../failure.ts';
import { findDevice } from '../naming.ts';
import { tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { ago } from '../show/times.ts';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { contextOf } from './context.ts';

export async function foldersCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<number> {
  const { relay, say } = contextOf(options, terminal);
  const { id } = await findDevice(relay, typed);
  const folders = await relay.call('listFolders', { params: { id } });
  say(folders, () => {
    if (folders.recent.length === 0) return 'No session of this device has worked in a folder yet.\n';
    return tableOf(
      [{ title: 'FOLDER' }, { title: 'USED' }],
      folders.recent.map(({ path, usedAt }) => [{ text: oneLine(path) }, { text: ago(usedAt) }]),
      terminal,
    );
  });
  return exitCodes.ok;
}
