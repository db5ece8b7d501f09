/** The folder that an agent is let into: as an app names it → a real one inside the folders that the user allowed. */
import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { reasonOf, systemCode } from '@relay/daemon-kit';

export interface ProjectRules {
  /** Where turns without a project path run. */
  defaultPath: string;
  /** Folders that may be worked in, with everything below them; undefined allows every folder. */
  allowed?: readonly string[] | undefined;
}

export type Project = { directory: string } | { error: string };

/**
 * `~` is the home of whoever runs the daemon. Links are followed before the folder is compared, on both sides: a link inside an
 * allowed folder does not lead out of it.
 */
export function projectFolder(path: string, { defaultPath, allowed }: ProjectRules): Project {
  const asked = path === '' ? resolve(defaultPath) : fromHome(path);
  if (!isAbsolute(asked)) return { error: `The project path must be absolute, but it is "${path}".` };
  if (asked.includes('\0')) return { error: 'The project path is not a path.' };
  let directory: string;
  try {
    directory = realpathSync(asked);
    if (!statSync(directory).isDirectory()) return { error: `The project path ${asked} is not a directory.` };
  } catch (error) {
    const why = systemCode(error) === 'ENOENT' ? 'does not exist' : `cannot be used (${reasonOf(error)})`;
    return { error: `The project path ${asked} ${why} on this machine.` };
  }
  if (allowed === undefined || allowed.some((folder) => contains(folder, directory))) return { directory };
  const where = directory === asked ? asked : `${asked} (${directory})`;
  return {
    error: `The project path ${where} lies outside the folders that this daemon may work in: ${allowed.join(', ')}. Allow it with --allow on that machine.`,
  };
}

/**
 * Whether what was done in this folder may be seen from afar: the same rule, also for a folder that is gone by now. An unknown folder
 * (empty) is outside.
 */
export function isAllowed(path: string, { allowed }: ProjectRules): boolean {
  if (allowed === undefined) return true;
  if (!isAbsolute(path) || path.includes('\0')) return false;
  const real = existing(resolve(path));
  return allowed.some((folder) => contains(folder, real));
}

/** The path with the links of its existing part followed. */
function existing(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(existing(parent), basename(path));
  }
}

export function fromHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}

function contains(folder: string, directory: string): boolean {
  let real: string;
  try {
    real = realpathSync(folder);
  } catch {
    return false;
  }
  const below = relative(real, directory);
  return below === '' || (below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below));
}
