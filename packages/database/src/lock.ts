/**
 * One process per embedded folder. PGlite takes no lock of its own, and two processes in one folder destroy it for
 * good. It covers the processes of one machine: two containers (network namespaces) that share a volume do not see each
 * other's lock.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { type Lock, LockHeld, lockAddress, takeLock } from '@relay/machine';
import { DatabaseError } from './database-error.ts';

/**
 * Takes the lock of an existing folder, the same one by every path to it. The lock does not keep the process alive.
 * Throws DatabaseError DATA_DIR_IN_USE, which names the process that holds it, this one included.
 */
export async function lockFolder(folder: string, platform?: NodeJS.Platform): Promise<Lock> {
  // The same folder has the same device and inode, however it is mounted or linked.
  const { dev, ino } = statSync(folder, { bigint: true });
  const name = `relay-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 24)}`;
  try {
    // Not the folder for temporary files: it differs between a service and a terminal, and the system cleans it.
    return await takeLock(lockAddress(folder, { name, elsewhere: '/tmp' }, platform));
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    const { pid } = error;
    const holder = pid === process.pid ? `this process (pid ${pid})` : `another process (pid ${pid || 'unknown'})`;
    throw new DatabaseError(
      'DATA_DIR_IN_USE',
      `The data folder ${folder} is in use by ${holder}. Stop that process, or choose another folder.`,
    );
  }
}
