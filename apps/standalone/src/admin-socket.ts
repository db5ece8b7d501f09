/**
 * How `relay-admin` reaches a running relay: a local socket in the data folder, which only its owner can open. One JSON
 * line asks, one answers. Independent of the commands.
 */
import { existsSync, rmSync } from 'node:fs';
import { type Socket, connect, createServer } from 'node:net';
import { join } from 'node:path';

/** The lines to print; `code` is the exit code of the program, 0 without one. */
export interface CommandOutcome {
  lines: string[];
  code?: 1;
}

/** The relay ran the request, or refused it with a reason. */
export type AdminReply = CommandOutcome | { refused: string; code: 1 | 2 };

const socketName = 'admin.sock';
/** The system's bound on the path of a socket, in bytes; macOS has the shortest. */
const maxPathBytes = 103;
const maxRequest = 64 * 1024;
/** Characters: a list of everyone is long. */
const maxReply = 64 * 1024 * 1024;
const askTimeoutMs = 10_000;

const addressIn = (dataDir: string) => join(dataDir, socketName);
const fits = (address: string) => process.platform !== 'win32' && Buffer.byteLength(address) <= maxPathBytes;

/**
 * Listens in the data folder, whose lock the caller holds. `answer` never rejects. Returns a function that stops, or
 * undefined if the system lacks such sockets, or if the path is too long.
 */
export async function listenForAdmin(
  dataDir: string,
  answer: (request: unknown) => Promise<AdminReply>,
): Promise<(() => void) | undefined> {
  const address = addressIn(dataDir);
  if (!fits(address)) return undefined;
  const server = createServer((socket) => void serve(socket, answer));
  rmSync(address, { force: true }); // left by a process that was killed
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, resolve);
  });
  server.unref();
  return () => void server.close();
}

async function serve(socket: Socket, answer: (request: unknown) => Promise<AdminReply>): Promise<void> {
  socket.on('error', () => {}); // the program went away
  socket.setTimeout(askTimeoutMs, () => socket.destroy());
  const line = await readLine(socket, maxRequest);
  if (line === undefined) return void socket.destroy();
  socket.setTimeout(0);
  socket.end(`${JSON.stringify(await answer(parse(line)))}\n`);
}

/**
 * Sends a request to the relay that runs on this folder; undefined if it is not running. The answer can take as long as
 * the work does.
 */
export async function askRelay(dataDir: string, request: object): Promise<AdminReply | undefined> {
  const address = addressIn(dataDir);
  if (!fits(address) || !existsSync(address)) return undefined;
  const socket = connect({ path: address, allowHalfOpen: true });
  const isConnected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  if (!isConnected) return undefined;
  socket.on('error', () => {}); // the relay ended; the line is missing then
  socket.write(`${JSON.stringify(request)}\n`);
  const line = await readLine(socket, maxReply);
  socket.destroy();
  return line === undefined
    ? { refused: 'The relay exited before it answered. Look at its log, then try again.', code: 1 }
    : (parse(line) as AdminReply);
}

/** The first line, undefined if it exceeds the limit. */
function readLine(socket: Socket, most: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      const end = part.indexOf('\n');
      text += end < 0 ? part : part.slice(0, end);
      if (end >= 0) resolve(text);
      else if (text.length > most) resolve(undefined);
    });
    socket.on('close', () => resolve(undefined));
    socket.on('end', () => resolve(undefined));
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
