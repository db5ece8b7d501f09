/** Files below a root, opened component by component without following a link (rules, 25.3). */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, readlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { limits } from '@relay/protocol';
import { type ProjectRules, isAllowed } from '../agents/project.ts';

/** Undefined for a path that leads up, is absolute, or into the folder of git. */
function componentsOf(path: string): string[] | undefined {
  if (path === '') return [];
  if (path.length > limits.pathCharacters || path.includes('\0')) return undefined;
  const parts = path.split('/');
  const isBad = (part: string) => part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git';
  return parts.some(isBad) ? undefined : parts;
}

/** Returns a test whether a path below the root lies in a folder that apps can see. It looks at each folder once. */
export function openFolders(root: string, rules: ProjectRules): (path: string) => boolean {
  const cache = new Map<string, boolean>();
  return (path) => {
    const folder = dirname(path);
    const isOpen = cache.get(folder) ?? isAllowed(join(root, folder), rules);
    cache.set(folder, isOpen);
    return isOpen;
  };
}

/** Where an open folder is: on Linux by its descriptor, so that replacing the folder by a link changes nothing. */
const placeOf = (handle: FileHandle, path: string) =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/** Calls `use` with the open folder and its place. Undefined when it cannot be opened. */
async function inFolder<T>(
  root: string,
  parts: readonly string[],
  use: (place: string, path: string) => Promise<T>,
): Promise<T | undefined> {
  let handle = await open(root, O_RDONLY | O_NOFOLLOW | O_DIRECTORY).catch(() => undefined);
  let path = root;
  try {
    // The folders above the root can have been exchanged as well.
    if (handle && process.platform === 'linux' && (await readlink(placeOf(handle, root))) !== root) return undefined;
    for (const part of parts) {
      if (!handle) return undefined;
      const at = join(placeOf(handle, path), part);
      const next: FileHandle | undefined = await open(at, O_RDONLY | O_NOFOLLOW | O_DIRECTORY).catch(() => undefined);
      await handle.close();
      handle = next;
      path = join(path, part);
    }
    return handle && (await use(placeOf(handle, path), path));
  } finally {
    await handle?.close();
  }
}

interface OpenFile {
  handle: FileHandle;
  bytes: number;
}

/** Calls `use` with a regular file. Undefined when it cannot be opened. */
export async function withFile<T>(
  root: string,
  path: string,
  rules: ProjectRules,
  use: (file: OpenFile) => Promise<T>,
): Promise<T | undefined> {
  const parts = componentsOf(path);
  const name = parts?.at(-1);
  if (!parts || name === undefined || !isAllowed(join(root, ...parts.slice(0, -1)), rules)) return undefined;
  return inFolder(root, parts.slice(0, -1), async (place) => {
    const handle = await open(join(place, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
    try {
      const found = await handle?.stat();
      return handle && found?.isFile() ? await use({ handle, bytes: found.size }) : undefined;
    } finally {
      await handle?.close();
    }
  });
}

/** The first bytes of a file. Undefined when it cannot be opened. */
export const readHead = (root: string, path: string, rules: ProjectRules, most: number) =>
  withFile(root, path, rules, async ({ handle, bytes }) => ({
    bytes,
    head: await piece(handle, 0, Math.min(most, bytes)),
  }));

export async function piece(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, length));
  let at = 0;
  while (at < buffer.length) {
    const { bytesRead } = await handle.read(buffer, at, buffer.length - at, offset + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return buffer.subarray(0, at);
}

interface FolderEntry {
  name: string;
  kind: 'folder' | 'file' | 'link';
  bytes?: number;
}

/** Entries of one folder that are looked at. */
const entriesMax = 10_000;

/** The entries of a folder, without the folder of git, devices and closed folders. Undefined when it cannot be opened. */
export async function entriesOf(root: string, path: string, rules: ProjectRules): Promise<FolderEntry[] | undefined> {
  const parts = componentsOf(path);
  if (!parts || !isAllowed(join(root, ...parts), rules)) return undefined;
  return inFolder(root, parts, async (place, real) => {
    const entries: FolderEntry[] = [];
    for await (const entry of await opendir(place)) {
      if (entries.length >= entriesMax) break;
      if (entry.name.toLowerCase() === '.git') continue;
      if (entry.isDirectory() && isAllowed(join(real, entry.name), rules))
        entries.push({ name: entry.name, kind: 'folder' });
      else if (entry.isSymbolicLink()) entries.push({ name: entry.name, kind: 'link' });
      else if (entry.isFile()) {
        const found = await lstat(join(place, entry.name)).catch(() => undefined);
        if (found) entries.push({ name: entry.name, kind: 'file', bytes: found.size });
      }
    }
    return entries;
  });
}

/** Whether the target of a link that lies here is below the root. */
export const isInside = (root: string, path: string, target: string): boolean =>
  resolve(join(root, dirname(path)), target).startsWith(join(root, '/'));
