/** Small files of the data folder that are made once and kept for its owner alone. */
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataFolder, refusedFolder } from '@relay/database';

/**
 * The text of this file; undefined if there is none. Its mode is 600 afterwards.
 * @throws DatabaseError DATA_DIR_UNUSABLE that says what to do
 */
export function readKept(dataDir: string, name: string): string | undefined {
  return inFolder(dataDir, () => {
    const file = join(dataDir, name);
    if (!existsSync(file)) return undefined;
    // A copy or a backup may have opened it to others.
    chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  });
}

/**
 * Keeps this text (file mode 600, folder mode 700 if it is made too) and returns what is there afterwards: it appears whole or not
 * at all, and if another process was first, its text stays.
 * @throws DatabaseError DATA_DIR_UNUSABLE that says what to do
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
