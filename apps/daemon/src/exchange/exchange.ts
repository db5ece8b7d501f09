/**
 * The folders through which files pass between people and agents: `.relay/files` and `.relay/out` in the folder of a session (rules, 27.4 and
 * 27.6). Each folder is opened without following a link, and belongs to the user of the daemon.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileLimits } from '@relay/protocol';
import { type FileExchange, type Log, exitCodes, numbered } from '@relay/daemon-kit';
import { Failure, reasonOf, systemCode } from '@relay/machine';
import { type ProjectRules, isAllowed, projectFolder } from '../agents/project.ts';

interface ExchangeOptions {
  rules: ProjectRules;
  /** Holds the files that cannot be in a project. */
  folder: string;
  /** Keeps no file in a project. */
  outside: boolean;
  /** Whether files of agents leave the machine. */
  sends: boolean;
  log: Log;
  platform?: NodeJS.Platform;
}

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, COPYFILE_EXCL, COPYFILE_FICLONE } = constants;
const own = '.relay';
/** Entries of the folder for outgoing files that are looked at. */
const entriesMax = 1000;

export function exchangeOf(options: ExchangeOptions): FileExchange {
  const { rules, folder, outside, sends, log, platform = process.platform } = options;
  /** Keeps the folder out of git. */
  const ignore = (root: string) =>
    inFolder(root, [own], { make: true, platform }, (place) => {
      try {
        writeFileSync(join(place, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
      } catch (error) {
        if (systemCode(error) !== 'EEXIST') throw error;
      }
    });
  const copy = (root: string, parts: readonly string[], files: Files): string[] =>
    inFolder(root, parts, { make: true, platform }, (place, path) => {
      const made: string[] = [];
      try {
        for (const file of files) made.push(join(path, copyTo(place, file)));
      } catch (error) {
        for (const copied of made) rmSync(copied, { force: true });
        throw error;
      }
      return made;
    });

  return {
    sends,
    place({ sessionId, projectPath }, files) {
      const short = createHash('sha256').update(sessionId).digest('hex').slice(0, 8);
      if (!outside)
        try {
          const root = rootOf(projectPath, rules);
          ignore(root);
          return copy(root, [own, 'files', short], files);
        } catch (error) {
          log.warn('files kept beside the project', { session: sessionId, why: reasonOf(error) });
        }
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return copy(realpathSync(folder), [short], files);
    },
    remove(paths) {
      for (const path of paths) rmSync(path, { force: true });
    },
    read: (path) => {
      try {
        return sends ? readWhole(path, rules) : undefined;
      } catch (error) {
        log.info('file not sent', { why: reasonOf(error) });
        return undefined;
      }
    },
    outgoing(projectPath) {
      try {
        const root = rootOf(projectPath, rules);
        const found = inFolder(root, [own, 'out'], { make: false, platform }, stampsIn);
        if (found.size > 0) ignore(root);
        return found;
      } catch {
        return new Map();
      }
    },
  };
}

type Files = readonly { name: string; path: string }[];

function rootOf(projectPath: string, rules: ProjectRules): string {
  const project = projectFolder(projectPath, rules);
  if ('error' in project) throw new Error(project.error);
  return project.directory;
}

/**
 * Calls `use` with the folder and its path. Throws for a link, and for a folder of another user. On Linux `use` gets the folder by its
 * descriptor, so that replacing it by a link changes nothing. Other systems name no file by a descriptor, and Windows opens links: there
 * the check precedes the use.
 */
function inFolder<T>(
  root: string,
  parts: readonly string[],
  { make, platform }: { make: boolean; platform: NodeJS.Platform },
  use: (place: string, path: string) => T,
): T {
  const isOpened = platform === 'linux';
  let handle = isOpened ? openSync(root, O_RDONLY | O_NOFOLLOW | O_DIRECTORY) : -1;
  let path = root;
  try {
    for (const part of parts) {
      const at = isOpened ? `/proc/self/fd/${handle}/${part}` : join(path, part);
      if (make) mkdirUnlessThere(at);
      if (isOpened) {
        const next = openSync(at, O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
        closeSync(handle);
        handle = next;
      }
      path = join(path, part);
      const facts = isOpened ? fstatSync(handle) : lstatSync(path);
      if (!facts.isDirectory()) throw new Failure('FOLDER_UNSAFE', `${part} is not a folder`, exitCodes.failed);
      if (process.getuid && facts.uid !== process.getuid())
        throw new Failure('FOLDER_UNSAFE', `${part} belongs to another user`, exitCodes.failed);
    }
    return use(isOpened ? `/proc/self/fd/${handle}` : path, path);
  } finally {
    if (isOpened) closeSync(handle);
  }
}

function mkdirUnlessThere(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}

/** Copies a file, never over another one. Returns the name of the copy. */
function copyTo(place: string, { name, path }: Files[number]): string {
  for (let number = 1; ; number++) {
    const free = numbered(name, number);
    try {
      copyFileSync(path, join(place, free), COPYFILE_EXCL | COPYFILE_FICLONE);
      return free;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** The regular files of a folder, oldest first, without links. */
function stampsIn(place: string, path: string): Map<string, string> {
  const found = readdirSync(place)
    .slice(0, entriesMax)
    .flatMap((name) => {
      const facts = lstatSync(join(place, name), { throwIfNoEntry: false });
      return facts?.isFile() ? [{ at: facts.mtimeMs, entry: [join(path, name), stampOf(facts)] as const }] : [];
    });
  return new Map(found.sort((one, other) => one.at - other.at).map(({ entry }) => entry));
}

const stampOf = ({ ino, size, mtimeMs }: { ino: number; size: number; mtimeMs: number }) => `${ino}:${size}:${mtimeMs}`;

/** The bytes of a regular file that apps can have. Throws for anything else, and for a larger or a changing file. */
function readWhole(path: string, rules: ProjectRules): Buffer {
  const real = realpathSync(path);
  if (!isAllowed(dirname(real), rules)) throw new Error('the file lies outside of the allowed folders');
  const handle = openSync(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    // A folder above it can have been exchanged since.
    if (process.platform === 'linux' && readlinkSync(`/proc/self/fd/${handle}`) !== real)
      throw new Error('the file moved');
    const facts = fstatSync(handle);
    if (!facts.isFile()) throw new Error('this is no regular file');
    if (facts.size > fileLimits.fileBytes) throw new Error('the file is too large');
    // One byte more shows that it grew.
    const bytes = Buffer.alloc(facts.size + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(handle, bytes, length, bytes.length - length, length);
    if (length !== facts.size || stampOf(fstatSync(handle)) !== stampOf(facts)) throw new Error('the file changes');
    return bytes.subarray(0, length);
  } finally {
    closeSync(handle);
  }
}
