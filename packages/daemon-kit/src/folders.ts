/** Limits folder listings for the relay: their size, and how many run at a time. */
import { type BrowsedFolder, type FromDaemon, type ToDaemon, limits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { keepHead } from './bounds.ts';

/**
 * Lists the folders in a folder, by name with hidden ones last; an empty path lists the folders where agents can work. Returns
 * undefined both for a missing folder and for a hidden one: an app must not be able to distinguish them.
 */
export type Browse = (path: string) => Promise<BrowsedFolder | undefined>;

/** Requests that are read at the same time: a slow disk must not hold every thread. */
const atOnce = 2;

/** Answers one `get_folders` after the other; never rejects. */
export function createFolders(
  browse: Browse | undefined,
): (frame: ToDaemon<'get_folders'>) => Promise<FromDaemon<'folders'>> {
  let running = 0;
  return async ({ request_id: requestId, path }) => {
    const reply = { type: 'folders', request_id: requestId } as const;
    if (!browse) return { ...reply, error: 'this daemon shows no folders' };
    if (running >= atOnce) return { ...reply, error: 'this daemon is reading other folders' };
    running += 1;
    try {
      const found = await browse(path);
      if (!found) return { ...reply, code: 'FOLDER_NOT_FOUND', error: 'there is no such folder' };
      const { folders, more } = withinBounds(found);
      return { ...reply, ...found, folders, ...(more ? { more } : {}) };
    } catch (error) {
      return { ...reply, error: keepHead(reasonOf(error), limits.lastMessageBytes) };
    } finally {
      running -= 1;
    }
  };
}

/** The folders that fit into an answer. */
function withinBounds({ folders, more = false }: BrowsedFolder): Required<Pick<BrowsedFolder, 'folders' | 'more'>> {
  let left: number = limits.folderBytes - 1024;
  const kept = folders.slice(0, limits.folders).filter((folder) => {
    if (folder.path.length > limits.pathCharacters) return false;
    left -= Buffer.byteLength(JSON.stringify(folder)) + 1;
    return left >= 0;
  });
  return { folders: kept, more: more || kept.length < folders.length };
}
