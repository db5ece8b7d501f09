/**
 * One process per home. The lock is a listening local socket, so the operating system frees it even after kill -9, and any process that
 * connects to it learns the pid of the holder: lock and liveness check in one.
 *
 * Linux: an abstract socket (per network namespace: two containers that share a volume do not see each other). Windows: a
 * named pipe. Elsewhere: a socket file, which may be left over and is then replaced.
 */
import { createHash } from 'node:crypto';
import { realpathSync, renameSync, rmSync } from 'node:fs';
import { type Server, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes, Failure, systemCode } from '@relay/daemon-kit';

const answerTimeoutMs = 1000;

/** The address of the lock of an existing folder. Equal for every path that leads to the same folder. */
export function lockAddress(folder: string, platform: NodeJS.Platform = process.platform): string {
  const name = `relay-daemon-${createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32)}`;
  if (platform === 'linux') return `\0${name}`;
  return platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
}

/** Takes the lock until `release` or the end of the process. Throws a Failure that names the holder's pid. */
export async function takeLock(address: string): Promise<{ release: () => Promise<void> }> {
  let server = await listen(address);
  if (!server) {
    await refuseIfHeld(address);
    server = await replaceLeftOver(address);
  }
  if (!server) throw heldBy(await lockHolder(address));
  const held = server;
  return { release: () => new Promise((resolve) => held.close(() => resolve())) };
}

/**
 * The pid of the process that holds the lock: undefined when it is free, 0 when the holder does not answer. Rejects when Node.js refuses
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
    server.listen(address, () => {
      server.unref();
      resolve(server);
    });
  });
}

const heldBy = (pid: number | undefined) =>
  new Failure(
    'ALREADY_RUNNING',
    `A relay-daemon already runs on this home${pid ? ` (pid ${pid})` : ''}. Stop it first, or choose another home with --home.`,
    exitCodes.alreadyRunning,
  );

async function refuseIfHeld(address: string): Promise<void> {
  const pid = await lockHolder(address);
  if (pid !== undefined) throw heldBy(pid);
}

/** Only socket files outlive their process. Moved aside before it is removed: if it is alive after all, it is moved back. */
async function replaceLeftOver(address: string): Promise<Server | undefined> {
  if (address.startsWith('\0') || address.startsWith('\\')) return listen(address);
  // Not longer than the address, which may be as long as a socket's can be. Base 36 keeps the pids of macOS and BSD within four characters.
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
    throw heldBy(pid);
  }
  rmSync(aside, { force: true });
  return listen(address);
}
