/** Folders of a device: those its sessions used, and those its daemon allows apps to browse. camelCase. */
import { type Static, flag, limits, list, maybe, opaque, record, text, time } from '../schema.ts';

const path = (description: string) => text(description, { minLength: 1, maxLength: limits.pathCharacters });

/** Members of a folder, the same on every plane. */
export const folder = {
  path: maybe(
    opaque(
      'The folder, as the daemon spells it; absent: the top level, which lists the allowed folders',
      limits.pathCharacters,
    ),
  ),
  parent: maybe(
    opaque('The parent folder; empty: the top level; absent: this is the top level', limits.pathCharacters),
  ),
  folders: list(
    record('Folder', 'A subfolder.', {
      name: text('Its name; at the top level its path', { minLength: 1, maxLength: limits.pathCharacters }),
      path: path('Its path, to list it or to start a session in it'),
    }),
    'Sorted by name, hidden folders last',
    { maxItems: limits.folders },
  ),
  more: maybe(flag('There are more folders than listed')),
};

export const BrowsedFolder = record('BrowsedFolder', 'A folder of the machine, as its daemon reports it.', folder);

export const FolderList = record('FolderList', 'Folders of a device.', {
  recent: list(
    record('RecentFolder', 'The working directory of a session.', {
      path: path('Path on the device'),
      usedAt: time('Last change of the newest session in this folder'),
    }),
    'Working directories of sessions, without duplicates, newest first',
    { maxItems: limits.recentFolders },
  ),
  browsed: maybe(BrowsedFolder),
});

export type BrowsedFolder = Static<typeof BrowsedFolder>;
export type FolderList = Static<typeof FolderList>;
