/** One process per home. */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { exitCodes, makePrivateFolder } from '@relay/daemon-kit';
import { Failure, type Lock, LockHeld, isLockFile, lockAddress, lockHolder, takeLock } from '@relay/machine';

const nameOf = (folder: string) =>
  `relay-daemon-${createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32)}`;

/** Returns the lock address of an existing state folder. Equal for every path that leads to the same folder. */
export const addressOf = (folder: string, platform?: NodeJS.Platform): string =>
  lockAddress(folder, { name: nameOf(folder), elsewhere: `/tmp/relay-daemon-${process.getuid?.() ?? ''}` }, platform);

/**
 * Returns the pid of the daemon that runs on a state folder: undefined if the lock is free, 0 if the holder does not
 * answer.
 */
export async function runningOn(folder: string): Promise<number | undefined> {
  return existsSync(folder) ? lockHolder(addressOf(folder)) : undefined;
}

/** The lock address of a 1.0 daemon, which might still run during an upgrade; undefined where it is the same. */
export function formerAddress(folder: string, platform: NodeJS.Platform = process.platform): string | undefined {
  return platform === 'linux' || platform === 'win32' ? undefined : join(tmpdir(), `${nameOf(folder)}.sock`);
}

/**
 * Takes the lock until `release` or the exit of the process, unless the address or the former address is held. Throws a
 * Failure that names the holder's pid.
 */
export async function takeHome(address: string, former?: string): Promise<Lock> {
  if (isLockFile(address)) makeOwnFolder(dirname(address));
  // A daemon cannot listen at a path that is too long for a socket.
  const holder = former === undefined ? undefined : await lockHolder(former).catch(() => undefined);
  if (holder !== undefined) throw heldBy(holder);
  try {
    return await takeLock(address);
  } catch (error) {
    throw error instanceof LockHeld ? heldBy(error.pid) : error;
  }
}

const heldBy = (pid: number) =>
  new Failure(
    'ALREADY_RUNNING',
    `A relay-daemon already runs on this home${pid ? ` (pid ${pid})` : ''}. Stop it first, or choose another home with --home.`,
    exitCodes.alreadyRunning,
  );

/** Another user might have made a folder of this name in /tmp. */
function makeOwnFolder(folder: string): void {
  makePrivateFolder(folder);
  if (lstatSync(folder).uid === process.getuid?.()) return;
  throw new Failure('LOCK_UNSAFE', `The folder ${folder} belongs to another user. Remove it.`, exitCodes.config);
}
