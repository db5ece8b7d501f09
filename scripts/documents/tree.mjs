/** The tree that the checks of documents read: its files and their texts. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const read = (path) => readFileSync(join(root, path), 'utf8');

/** The first group of each match. */
export const found = (text, pattern) => [...text.matchAll(pattern)].map(([, match = '']) => match);

const built = new Set(['node_modules', 'dist', 'generated', 'artefacts', 'data', '.git', '.turbo']);
/** Whether a build creates the file, so that a fresh clone lacks it. `dist` has a source, which is checked instead. */
export const isBuilt = (path) => path.split('/').some((name) => name !== 'dist' && built.has(name));

/** Files below a folder, except built and installed ones. Works without git. */
export const filesIn = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return built.has(entry.name) ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });
