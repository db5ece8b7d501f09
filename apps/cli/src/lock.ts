/**
 * Lets one process at a time change the credentials. A lock file is enough, because the folder is private and the work short. A lock of a
 * dead process, or one older than any work can last, is removed. If two processes still hold the lock at once, the relay's reuse interval
 * for refresh tokens (30 s) keeps both signed in.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { pause } from '@relay/client';
import { Failure, systemCode } from '@relay/machine';
import { exitCodes } from './failure.ts';

/** Longer than any work under the lock. */
const staleMs = 60_000;
const patienceMs = 90_000;
const pollMs = 25;

/** Runs `work` exclusively among processes. @throws Failure if the lock is not available within a minute and a half */
export async function withLock<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  const mine = `${process.pid} ${randomUUID()}`;
  const deadline = Date.now() + patienceMs;
  while (!take(lockFile, mine)) {
    if (isStale(lockFile)) rmSync(lockFile, { force: true });
    else if (Date.now() > deadline) {
      throw new Failure(
        'LOCKED',
        `Another relay command holds ${lockFile}. Try again; if no other command runs, remove that file.`,
        exitCodes.temporary,
      );
    } else await pause(pollMs + Math.random() * pollMs);
  }
  try {
    return await work();
  } finally {
    if (textOf(lockFile) === mine) rmSync(lockFile, { force: true });
  }
}

function take(lockFile: string, mine: string): boolean {
  try {
    writeFileSync(lockFile, mine, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function isStale(lockFile: string): boolean {
  try {
    if (Date.now() - statSync(lockFile).mtimeMs > staleMs) return true;
  } catch {
    return false;
  }
  // The file is empty between its creation and the write.
  const pid = Number.parseInt(textOf(lockFile), 10);
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCode(error) === 'ESRCH';
  }
}
