/** Small files that only their owner can read, replaced as a whole or not at all. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { systemCode } from './failure.ts';

/** Readers see the old text or the new one, also after a power cut. The mode is 0600 regardless of the umask and the old file. */
export function replaceOwnerFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      // Unlike one write, this goes on after a part, and throws where a full disk takes no more.
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

/** A new or renamed name is safe only when its folder was written too. Windows cannot open folders and needs no such thing. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Returns the text, or undefined if the file does not exist. Throws on any other error. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
