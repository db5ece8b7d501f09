/**
 * One process per embedded folder. PGlite takes no lock of its own, and two processes in one folder destroy it for
 * good.
 *
 * The lock is a listening local socket: the operating system frees it when the process exits, also by `kill -9`, and a
 * second process can ask it for the owner. It covers the processes of one machine: two containers (network namespaces)
 * that share a volume do not see each other's lock.
 */
import { createHash } from 'node:crypto';
import { realpathSync, rmSync, statSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { DatabaseError } from './database-error.ts';

const askHolderTimeoutMs = 1_000;
/** macOS takes 103. */
const maxAddressBytes = 100;

interface FolderLock {
  /** Releases the folder lock. Resolves when another process can take it. */
  release(): Promise<void>;
}

/**
 * Takes the lock of an existing folder, the same one by every path to it. The lock does not keep the process alive.
 * Throws DatabaseError DATA_DIR_IN_USE, which names the process that holds it, this one included.
 */
export async function lockFolder(folder: string, platform: NodeJS.Platform = process.platform): Promise<FolderLock> {
  const address = lockAddress(folder, platform);
  const server = await listen(address).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    const pid = await askHolder(address);
    if (pid === '' && isSocketFile(address)) {
      rmSync(address, { force: true }); // left behind by a killed process: no answer comes
      return listen(address);
    }
    const holder =
      pid === String(process.pid) ? `this process (pid ${pid})` : `another process (pid ${pid || 'unknown'})`;
    throw new DatabaseError(
      'DATA_DIR_IN_USE',
      `The data folder ${folder} is in use by ${holder}. Stop that process, or choose another folder.`,
    );
  });
  return {
    release: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

/**
 * The same folder has the same device and inode, however it is mounted or linked. A socket file lies in the folder, unless its path is too
 * long for a socket: the folder for temporary files differs between a service and a terminal, and the system cleans it.
 */
function lockAddress(folder: string, platform: NodeJS.Platform): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  const name = `relay-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 24)}`;
  if (platform === 'linux') return `\0${name}`;
  if (platform === 'win32') return `\\\\.\\pipe\\${name}`;
  const address = path.join(realpathSync(folder), 'lock.sock');
  return Buffer.byteLength(address) <= maxAddressBytes ? address : `/tmp/${name}.sock`;
}

function isSocketFile(address: string): boolean {
  return !address.startsWith('\0') && !address.startsWith('\\\\');
}

function listen(address: string): Promise<net.Server> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {}); // the asking process went away
      socket.end(String(process.pid));
    });
    server.once('error', reject);
    // exclusive: in a cluster worker the socket would otherwise be shared with the other workers
    server.listen({ path: address, exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });
}

/** The pid of the holder, or '' when it does not answer. */
function askHolder(address: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = net.connect(address);
    const finish = () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(askHolderTimeoutMs, finish);
    socket.on('data', (part: Buffer) => (answer += part.toString('latin1').slice(0, 20)));
    socket.on('end', finish);
    socket.on('error', finish);
  });
}
