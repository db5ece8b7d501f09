/**
 * Lists folders where an app can start a session: folders inside the allowed ones; no link leads out of them (rules,
 * 16.3).
 */
import { type BrowsedFolder, limits } from '@relay/protocol';
import type { Browse } from '@relay/daemon-kit';
import { opendir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type ProjectRules, fromHome, isAllowed, projectFolder } from './project.ts';

/** Entries of one folder that are looked at: a folder of a million files must not occupy this process. */
const entriesMax = 10_000;

const isHidden = (name: string) => name.startsWith('.');
const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** The top has the allowed folders; a single allowed folder is the top itself. */
export function browserOf(rules: ProjectRules): Browse {
  const allowed = [...new Set((rules.allowed ?? [homedir()]).map((folder) => resolve(folder)))].filter(
    // A nested allowed folder is found through its parent.
    (folder, _, all) => !all.some((other) => other !== folder && folder.startsWith(join(other, '/'))),
  );
  return async (path) => {
    const [only] = allowed;
    if (path === '' && allowed.length > 1)
      return { folders: allowed.map((folder) => ({ name: folder, path: folder })) };
    const folder = path === '' ? (only ?? '') : path;
    if (folder === '' || 'error' in projectFolder(folder, rules)) return undefined;
    return inside(resolve(fromHome(folder)), allowed, rules);
  };
}

async function inside(path: string, allowed: readonly string[], rules: ProjectRules): Promise<BrowsedFolder> {
  const names: string[] = [];
  let seen = 0;
  for await (const entry of await opendir(path)) {
    if ((seen += 1) > entriesMax) break;
    if (entry.name.length > limits.folderCharacters || !(entry.isDirectory() || entry.isSymbolicLink())) continue;
    if (!isAllowed(join(path, entry.name), rules)) continue;
    if (entry.isDirectory() || (await isFolder(join(path, entry.name)))) names.push(entry.name);
  }
  names.sort((one, other) => Number(isHidden(one)) - Number(isHidden(other)) || byName.compare(one, other));
  const isTop = allowed.includes(path) || !isAllowed(dirname(path), rules);
  const parent = isTop ? (allowed.length > 1 ? { parent: '' } : {}) : { parent: dirname(path) };
  return {
    path,
    ...parent,
    folders: names.slice(0, limits.folders).map((name) => ({ name, path: join(path, name) })),
    ...(seen > entriesMax || names.length > limits.folders ? { more: true } : {}),
  };
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
