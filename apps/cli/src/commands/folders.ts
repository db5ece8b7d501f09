/** `relay folders`: lists the recent folders of a device's sessions, or the folders inside a given folder. */
import type { Terminal } from '@relay/machine';
import { findDevice } from '../naming.ts';
import { tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { ago } from '../show/times.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';

export async function foldersCommand(
  typed: string,
  path: string | undefined,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const { id } = await findDevice(relay, typed);
  // `.` is the top, where apps begin to browse.
  const query = path === undefined ? {} : { path: path === '.' ? '' : path };
  const answer = await relay.call('listFolders', { params: { id }, query });
  const { recent, browsed } = answer;
  print(answer, () => {
    if (browsed) {
      const paths = browsed.folders.map((folder) => `${oneLine(folder.path)}\n`).join('');
      return `${paths === '' ? 'No folders in it.\n' : paths}${browsed.more ? 'There are more.\n' : ''}`;
    }
    if (recent.length === 0) return 'No session of this device has worked in a folder yet.\n';
    return tableOf(
      ['FOLDER', 'USED'],
      recent.map(({ path, usedAt }) => [path, ago(usedAt)]),
      terminal,
    );
  });
}
