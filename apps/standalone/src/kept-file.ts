/** Small files of the data folder that are made once and kept for its owner alone. */
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataFolder, refusedFolder } from '@relay/database';

/**
 * The text of this file; undefined if it is missing. Sets its mode to 600.
 * @throws DatabaseError DATA_DIR_UNUSABLE with advice
 */
export function readKept(dataDir: string, name: string): string | undefined {
  return inFolder(dataDir, () => {
    const file = join(dataDir, name);
    if (!existsSync(file)) return undefined;
    // A copy or a backup might have loosened its mode.
    chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  });
}

/**
 * Stores this text (file mode 600, and folder mode 700 for a new folder) and returns the resulting text: the file
 * appears whole or not at all, and if another process was first, its text stays.
 * @throws DatabaseError DATA_DIR_UNUSABLE with advice
 */
export function keep(dataDir: string, name: string, text: string): string {
  return inFolder(dataDir, () => {
    const file = join(dataDir, name);
    const draft = `${file}.${randomUUID()}`;
    writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true });
    try {
      linkSync(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(draft, { force: true });
    }
    return readFileSync(file, 'utf8').trim();
  });
}

function inFolder<T>(dataDir: string, work: () => T): T {
  makeDataFolder(dataDir);
  try {
    return work();
  } catch (error) {
    throw refusedFolder(dataDir, error) ?? error;
  }
}
