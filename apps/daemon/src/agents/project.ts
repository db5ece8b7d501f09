/** Resolves the folder named by an app to a real folder inside the allowed ones. */
import { readlinkSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { reasonOf, systemCode } from '@relay/machine';

export interface ProjectRules {
  /** Where turns without a project path run. */
  defaultPath: string;
  /** Folders open for work, with everything below them; undefined allows every folder. */
  allowed?: readonly string[] | undefined;
  /** Folders that are closed with everything below them, even if allowed: they hold keys (rules, 16.3). */
  closed?: readonly string[] | undefined;
}

type Project = { directory: string } | { error: string };

/**
 * `~` is the home of the user who runs the daemon. Links are followed on both sides before folders are compared: a link
 * inside an allowed folder does not lead out of it. An error about a path outside does not reveal whether it exists or
 * where it leads (rules, 16.3).
 */
export function projectFolder(path: string, rules: ProjectRules, identify: Identify = identityOf): Project {
  const { defaultPath, allowed } = rules;
  const folder = path === '' ? resolve(defaultPath) : fromHome(path);
  if (!isAbsolute(folder)) return { error: `The project path must be absolute, but it is "${path}".` };
  if (folder.includes('\0')) return { error: 'The project path contains a null character. Choose another folder.' };
  const real = existing(resolve(folder));
  if (allowed && !isIn(allowed, real, identify)) {
    return {
      error: `The project path ${folder} lies outside the folders that this daemon may work in: ${allowed.join(', ')}. Allow it with --allow on that machine.`,
    };
  }
  if (!isOpen(real, rules, identify))
    return { error: `The project path ${folder} holds keys or the state of a program: no agent is started there.` };
  try {
    const directory = realpathSync(folder);
    if (!statSync(directory).isDirectory()) return { error: `The project path ${folder} is not a directory.` };
    // Checked again: a link might have changed since.
    return isOpen(directory, rules, identify)
      ? { directory }
      : { error: `The project path ${folder} has just changed.` };
  } catch (error) {
    const why = systemCode(error) === 'ENOENT' ? 'does not exist' : `cannot be used (${reasonOf(error)})`;
    return { error: `The project path ${folder} ${why} on this machine.` };
  }
}

/**
 * True if apps can see work in this folder: the same rule, also for a deleted folder. An unknown folder (empty) is
 * outside.
 */
export function isAllowed(path: string, rules: ProjectRules, identify: Identify = identityOf): boolean {
  if (rules.allowed === undefined && rules.closed === undefined) return true;
  if (!isAbsolute(path) || path.includes('\0')) return false;
  return isOpen(existing(resolve(path)), rules, identify);
}

/** `real` contains no links. */
const isOpen = (real: string, { allowed, closed = [] }: ProjectRules, identify: Identify): boolean =>
  (allowed === undefined || isIn(allowed, real, identify)) && !isIn(closed, real, identify);

/**
 * Compares by device and inode: names that differ in case, in their form or by a mount can mean one folder. A folder that is
 * gone has its name alone.
 */
function isIn(folders: readonly string[], real: string, identify: Identify): boolean {
  const wanted = new Set(folders.map((folder) => identify(folder) ?? existing(resolve(folder))));
  for (const at of upwards(real)) if (wanted.has(identify(at) ?? at)) return true;
  return false;
}

/** The path with its links followed, also broken ones: an error must not reveal their target. */
function existing(path: string, links = maxLinks): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const target = links > 0 ? targetOf(path) : undefined;
    if (target !== undefined) return existing(resolve(parent, target), links - 1);
    return join(existing(parent, links), basename(path));
  }
}

const maxLinks = 40;

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

export function fromHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}

/** A folder as the file system knows it; undefined when it does not exist. */
type Identify = (path: string) => string | undefined;

export function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/** The folder and all above it. */
function* upwards(path: string): Generator<string> {
  for (let at = path; ; at = dirname(at)) {
    yield at;
    if (dirname(at) === at) return;
  }
}
