/** Folders of a device: those its sessions used, and those its daemon allows apps to browse. camelCase. */
import { flag, limits, list, maybe, opaque, record, text } from '../schema.ts';

export const folderPath = (description: string) =>
  text(description, { minLength: 1, maxLength: limits.pathCharacters });

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
      path: folderPath('Its path, to list it or to start a session in it'),
    }),
    'Sorted by name, hidden folders last',
    { maxItems: limits.folders },
  ),
  more: maybe(flag('There are more folders than listed')),
};
