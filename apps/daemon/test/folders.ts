/** Folders that are removed after the test. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function temporaryFolders() {
  const folders: string[] = [];
  return {
    make() {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'relay-daemon-test-')));
      folders.push(folder);
      return folder;
    },
    remove() {
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}
