/** Folders of a device: those its sessions used, and those its daemon allows apps to browse. camelCase. */
import { type Static, flag, limits, list, maybe, opaque, record, text, time } from '../schema.ts';

const path = (description: string) => text(description, { minLength: 1, maxLength: limits.pathCharacters });

/** Members of a folder, the same on every plane. */
export const folder = {
  path: maybe(
    opaque(
      'The folder, as the daemon spells it; absent: the top, which has the folders that the daemon allows',
      limits.pathCharacters,
    ),
  ),
  parent: maybe(opaque('The folder around it; empty: the top; absent: this is the top', limits.pathCharacters)),
  folders: list(
    record('Folder', 'A folder in it.', {
      name: text('Its name; at the top its path', { minLength: 1, maxLength: limits.pathCharacters }),
      path: path('Its path, to look into it or to work in it'),
    }),
    'By name, hidden ones last',
    { maxItems: limits.folders },
  ),
  more: maybe(flag('There are more than are named')),
};

export const BrowsedFolder = record('BrowsedFolder', 'A folder of the machine, as its daemon answered.', folder);

export const FolderList = record('FolderList', 'Folders of a device.', {
  recent: list(
    record('RecentFolder', 'The working directory of a session.', {
      path: path('Path on the device'),
      usedAt: time('Last change of the newest session there'),
    }),
    'Where sessions worked: the newest first, each once',
    { maxItems: limits.recentFolders },
  ),
  browsed: maybe(BrowsedFolder),
});

export type BrowsedFolder = Static<typeof BrowsedFolder>;
export type FolderList = Static<typeof FolderList>;
