/** Small files that only their owner can read, replaced atomically. */
import { closeSync, fsyncSync, lstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { Failure, systemCode } from './failure.ts';

/** Readers see the old or the new text, even after a power cut. The mode is 0600, independent of the umask and the old file. */
export function replaceOwnerFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      // Unlike a single write, this continues after a partial write, and throws if the disk is full.
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** A rename is durable only after a sync of its folder. Windows cannot open folders and does not need it. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/**
 * Returns the text; undefined if the file does not exist. Like ssh, throws a Failure if the file is a link, belongs to another user,
 * or is readable by others.
 */
export function readOwnerFile(path: string): string | undefined {
  const unsafe = (why: string, remedy: string) => new Failure('CREDENTIALS_UNSAFE', `${path} ${why}. ${remedy}`);
  try {
    const stat = lstatSync(path);
    if (!stat.isFile()) throw unsafe('is not a regular file', 'Remove it and sign in again.');
    if (process.platform !== 'win32') {
      if (stat.uid !== process.getuid?.()) throw unsafe('belongs to another user', 'Remove it and sign in again.');
      if ((stat.mode & 0o077) !== 0) throw unsafe('can be read by other users', `Run "chmod 600 ${path}".`);
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
