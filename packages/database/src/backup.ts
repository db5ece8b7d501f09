/** A copy of the data folder while its database is open. Knows files, no SQL. */
import { constants } from 'node:fs';
import { cp, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseError } from './database-error.ts';
import { syncPath, syncTree } from './sync-files.ts';

/** The size of a copy. */
export interface BackupResult {
  files: number;
  bytes: number;
}

const refused = (target: string, reason: string, cause?: unknown) =>
  new DatabaseError('BACKUP_REFUSED', `The backup ${target} cannot be written: ${reason}`, cause);

/**
 * Copies `folder` to `target`, which appears whole (mode 700, forced to the disk) or not at all, and can serve as
 * DATA_DIR.
 * The caller must block changes of the database in `folder`. Throws DatabaseError BACKUP_REFUSED if `target` exists,
 * lies inside `folder`, or is not writable.
 */
export async function copyFolder(folder: string, target: string): Promise<BackupResult> {
  const [from, to] = [path.resolve(folder), path.resolve(target)];
  if (`${to}${path.sep}`.startsWith(`${from}${path.sep}`))
    throw refused(target, 'it lies inside of the data folder. Choose a folder elsewhere.');
  if (await stat(to).catch(() => undefined)) throw refused(target, 'it exists. Choose a new name.');
  const unfinished = `${to}.new-${process.pid}`;
  try {
    await mkdir(unfinished, { mode: 0o700 });
    await cp(from, unfinished, { recursive: true, mode: constants.COPYFILE_FICLONE, filter: isCopied });
    await syncTree(unfinished);
    await rename(unfinished, to);
    await syncPath(path.dirname(to));
    return await sizeOf(to);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw refused(target, reasonOf(error), error);
  }
}

/** Sockets and half-made databases are of the process, not of the data. */
async function isCopied(name: string): Promise<boolean> {
  if (path.basename(name).includes('.new-')) return false;
  const found = await lstat(name);
  return found.isFile() || found.isDirectory() || found.isSymbolicLink();
}

async function sizeOf(folder: string): Promise<BackupResult> {
  const sum = { files: 0, bytes: 0 };
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    sum.files += 1;
    sum.bytes += (await stat(path.join(entry.parentPath, entry.name))).size;
  }
  return sum;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'the folder above it does not exist.';
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'the relay may not write there.';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full.';
  return message;
}
