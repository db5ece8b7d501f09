/**
 * One process per home. The lock is a listening local socket, so the operating system frees it even after kill -9, and
 * any process that connects to it learns the pid of the holder: lock and liveness check in one.
 *
 * Linux: an abstract socket (per network namespace: two containers that share a volume do not see each other). Windows:
 * a named pipe. Elsewhere: a socket file in the folder, which can be stale and is then replaced; in a folder of `/tmp`
 * while its path is too long for a socket. It depends on no variable: a service and a terminal have different ones.
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { type Server, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { exitCodes, Failure, makePrivateFolder, systemCode } from '@relay/daemon-kit';

const answerTimeoutMs = 1000;
/** macOS takes 103, Linux 107. */
const maxAddressBytes = 100;

/** The address of the lock of an existing folder. Equal for every path that leads to the same folder. */
export function lockAddress(folder: string, platform: NodeJS.Platform = process.platform): string {
  const name = nameOf(folder);
  if (platform === 'linux') return `\0${name}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  const address = join(realpathSync(folder), 'lock.sock');
  if (Buffer.byteLength(address) <= maxAddressBytes) return address;
  return `/tmp/relay-daemon-${process.getuid?.() ?? ''}/${name}.sock`;
}

/**
 * Returns the pid of the daemon that runs on a state folder: undefined if the lock is free, 0 if the holder does not
 * answer.
 */
export async function runningOn(folder: string): Promise<number | undefined> {
  return existsSync(folder) ? lockHolder(lockAddress(folder)) : undefined;
}

/** The lock address of a 1.0 daemon, which can still run during an upgrade; undefined where it is the same. */
export function formerLockAddress(folder: string, platform: NodeJS.Platform = process.platform): string | undefined {
  return platform === 'linux' || platform === 'win32' ? undefined : join(tmpdir(), `${nameOf(folder)}.sock`);
}

const nameOf = (folder: string) =>
  `relay-daemon-${createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32)}`;

/**
 * Takes the lock until `release` or the exit of the process, unless the address or the former address is held. Throws a
 * Failure that names the holder's pid.
 */
export async function takeLock(address: string, former?: string): Promise<{ release: () => Promise<void> }> {
  if (isFile(address)) makeOwnFolder(dirname(address));
  // Where it is too long for a socket, no daemon has it.
  const holder = former === undefined ? undefined : await lockHolder(former).catch(() => undefined);
  if (holder !== undefined) throw heldBy(holder);
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

const isFile = (address: string) => !address.startsWith('\0') && !address.startsWith('\\');

/** Another user can have made a folder of this name in /tmp. */
function makeOwnFolder(folder: string): void {
  makePrivateFolder(folder);
  if (lstatSync(folder).uid === process.getuid?.()) return;
  throw new Failure('LOCK_UNSAFE', `The folder ${folder} belongs to another user. Remove it.`, exitCodes.config);
}

/** Only socket files outlive their process. Moved aside before it is removed: if it is alive after all, it is moved back. */
async function replaceLeftOver(address: string): Promise<Server | undefined> {
  if (!isFile(address)) return listen(address);
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
    throw heldBy(pid);
  }
  rmSync(aside, { force: true });
  return listen(address);
}
