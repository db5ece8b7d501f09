/** A person's folders, and the files in them that only their owner can read. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure, systemCode } from './failure.ts';

export const homeFolder = (env: NodeJS.ProcessEnv): string => env.HOME || homedir();

const fallbacks = { XDG_CONFIG_HOME: ['.config'], XDG_STATE_HOME: ['.local', 'state'] } as const;

/** Returns a folder of the XDG base directory specification, which requires that a relative path in the variable is ignored. */
export function xdgFolder(env: NodeJS.ProcessEnv, name: keyof typeof fallbacks): string {
  const value = env[name];
  return value?.startsWith('/') ? value : join(homeFolder(env), ...fallbacks[name]);
}

/** Readers see the old or the new text, even after a power cut. The mode is 0600, independent of the umask and the old file. */
export function replaceOwnerFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      // Unlike a single write, this continues after a partial write, and throws if the disk is full.
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

/** A new or renamed file is durable only after a sync of its folder. Windows cannot open folders and does not need it. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Returns the text; undefined if the file does not exist. Throws on any other error. */
export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Like `readIfPresent`, for a secret. `remedy`: the sentence that explains how to write the file again.
 * @throws Failure CREDENTIALS_UNSAFE, like ssh, if the file is a link, belongs to another user, or is readable by others
 */
export function readOwnerFile(path: string, remedy: string, exitCode?: number): string | undefined {
  const unsafe = (why: string, advice = remedy) =>
    new Failure('CREDENTIALS_UNSAFE', `${path} ${why}. ${advice}`, exitCode);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (!stat.isFile()) throw unsafe('is not a regular file');
  if (process.platform !== 'win32') {
    if (stat.uid !== process.getuid?.()) throw unsafe('belongs to another user');
    if ((stat.mode & 0o077) !== 0) throw unsafe('can be read by other users', `Run "chmod 600 ${path}".`);
  }
  return readIfPresent(path);
}

/**
 * Creates the folder with mode 0700 if it is absent. An existing folder keeps its mode, because it can be a home folder. `choice`: the option or
 * variable that chooses another folder.
 * @throws Failure HOME_UNUSABLE if the system refuses; HOME_UNSAFE if others can write to the folder: they could swap the credentials
 */
export function makePrivateFolder(folder: string, choice: string, exitCode?: number): void {
  try {
    const created = mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (created !== undefined) chmodSync(folder, 0o700);
  } catch (error) {
    throw new Failure(
      'HOME_UNUSABLE',
      `Cannot create the folder ${folder} (${systemCode(error) ?? 'unknown error'}). Choose another one with ${choice}.`,
      exitCode,
      { cause: error },
    );
  }
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o022) !== 0) {
    throw new Failure(
      'HOME_UNSAFE',
      `Other users can write to the folder ${folder}. Run "chmod go-w ${folder}", or choose another one with ${choice}.`,
      exitCode,
    );
  }
}
