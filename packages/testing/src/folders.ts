/** Folders for one test. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The test calls `remove` when it no longer needs the folders. */
export function temporaryFolders() {
  const folders: string[] = [];
  return {
    make() {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'relay-test-')));
      folders.push(folder);
      return folder;
    },
    remove() {
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}
