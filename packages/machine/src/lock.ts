/**
 * One process per folder. The lock is a listening local socket, so the operating system frees it even after `kill -9`, and any process that
 * connects to it learns the pid of the holder: lock and liveness check in one.
 *
 * Linux: an abstract socket (per network namespace: two containers that share a volume do not see each other). Windows: a named pipe.
 * Elsewhere: a socket file in the folder, which can be stale and is then replaced. The address depends on no environment variable: a service
 * and a terminal have different ones.
 */
import { realpathSync, renameSync, rmSync } from 'node:fs';
import { type Server, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { systemCode } from './failure.ts';

const answerTimeoutMs = 1000;
/** macOS takes 103, Linux 107. */
const maxAddressBytes = 100;

export interface Lock {
  /** Resolves when another process can take the lock. */
  release: () => Promise<void>;
}

/** Another holder has the lock, which can be this process. */
export class LockHeld extends Error {
  /** 0 if the holder does not answer. */
  readonly pid: number;

  constructor(pid: number) {
    super(`The lock is held by pid ${pid || 'unknown'}.`);
    this.pid = pid;
  }
}

/**
 * Returns the address of the lock of an existing folder. `name` identifies the folder on this machine. `elsewhere`: the folder of the
 * socket file if a path below `folder` is too long for a socket.
 */
export function lockAddress(
  folder: string,
  { name, elsewhere }: { name: string; elsewhere: string },
  platform: NodeJS.Platform = process.platform,
): string {
  if (platform === 'linux') return `\0${name}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  const address = join(realpathSync(folder), 'lock.sock');
  return Buffer.byteLength(address) <= maxAddressBytes ? address : join(elsewhere, `${name}.sock`);
}

/** Whether the lock is a file, which outlives a killed process. */
export const isLockFile = (address: string): boolean => !address.startsWith('\0') && !address.startsWith('\\');

/**
 * Takes the lock until `release` or the exit of the process, which it does not keep alive.
 * @throws LockHeld
 */
export async function takeLock(address: string): Promise<Lock> {
  let server = await listen(address);
  if (!server) {
    await refuseIfHeld(address);
    server = await replaceLeftOver(address);
  }
  if (!server) throw new LockHeld((await lockHolder(address)) ?? 0);
  const held = server;
  return { release: () => new Promise((resolve) => held.close(() => resolve())) };
}

/**
 * Returns the pid of the process that holds the lock: undefined if it is free, 0 if the holder does not answer. Rejects if Node.js refuses
 * the address as too long for a socket.
 */
export function lockHolder(address: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(address);
    socket.setTimeout(answerTimeoutMs, () => socket.destroy());
    socket.on('data', (chunk) => (answer += chunk.toString('latin1').slice(0, 20)));
    socket.on('error', (error) => {
      if (systemCode(error) === 'EINVAL') return reject(error);
      resolve(['ECONNREFUSED', 'ENOENT'].includes(systemCode(error) ?? '') ? undefined : 0);
    });
    socket.on('close', () => resolve(Number.parseInt(answer, 10) || 0));
  });
}

function listen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end(String(process.pid));
    });
    server.once('error', (error) => (systemCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    // Exclusive: the workers of a cluster would share the socket.
    server.listen({ path: address, exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });
}

async function refuseIfHeld(address: string): Promise<void> {
  const pid = await lockHolder(address);
  if (pid !== undefined) throw new LockHeld(pid);
}

/** Moves the file aside before it removes it: if its process is alive after all, the file is moved back. */
async function replaceLeftOver(address: string): Promise<Server | undefined> {
  if (!isLockFile(address)) return listen(address);
  // Not longer than the address, which can have the maximum length of a socket path. Base 36 keeps the pids of macOS
  // and BSD within four characters.
  const aside = address.replace(/\.sock$/, `.${process.pid.toString(36)}`);
  try {
    renameSync(address, aside);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return listen(address);
  }
  const pid = await lockHolder(aside);
  if (pid !== undefined) {
    renameSync(aside, address);
    throw new LockHeld(pid);
  }
  rmSync(aside, { force: true });
  return listen(address);
}
