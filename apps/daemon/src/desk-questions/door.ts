/**
 * The socket through which hooks of Claude Code hand over their questions: one line with the request, and at most one line with the decision. A
 * connection that closes without a line leaves the question to the terminal. The folder of the socket belongs to its user alone.
 */
import { chmodSync, rmSync } from 'node:fs';
import { type Server, type Socket, createServer } from 'node:net';
import { join } from 'node:path';
import {
  type AskedAtDesk,
  type Cancel,
  type Clock,
  type DeskAsker,
  type Holders,
  type Log,
  systemClock,
} from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import type { Held } from '@relay/protocol';
import { decisionFor, requestIn } from './claude.ts';

export const requestBytes = 256 * 1024;
const maxHooks = 50;
/** A socket address has at most 104 bytes on macOS, with its final zero. */
const addressBytes = 100;
/** A hook sends its request at once. */
const requestMs = 5000;
const lookMs = 1000;
/** The record of the program reports the question within this time. */
const settleMs = 10_000;

/** Undefined where the path is too long for a socket. */
export function doorAddress(stateDir: string): string | undefined {
  const address = join(stateDir, 'desk.sock');
  return process.platform === 'win32' || Buffer.byteLength(address) > addressBytes ? undefined : address;
}

interface DoorOptions {
  address: string;
  holders: Holders;
  log: Log;
  /** When Claude Code stops its hook. */
  hookSeconds: number;
  clock?: Clock;
}

export interface DeskDoor extends DeskAsker {
  close(): Promise<void>;
}

type Ask = (asked: AskedAtDesk) => (() => void) | undefined;

export function deskDoor({ address, holders, log, hookSeconds, clock = systemClock }: DoorOptions): DeskDoor {
  let server: Server | undefined;
  const sockets = new Set<Socket>();

  /** Opens the question of a hook. */
  const open = (socket: Socket, line: string, ask: Ask) => {
    const request = requestIn(parsed(line));
    // Only the program that surely has the session open can ask in it.
    if (!request || holders.of(request.sessionId)?.sure !== true) return void socket.end();
    const { sessionId, question } = request;
    const expires = new Date(clock.now() + hookSeconds * 1000).toISOString();
    const close = ask({
      sessionId,
      question: { ...question, expires },
      answer(option, words) {
        if (socket.destroyed || !socket.writable) return false;
        socket.end(`${JSON.stringify(decisionFor(option, words))}\n`);
        return true;
      },
      leave: () => socket.end(),
    });
    if (!close) return void socket.end();
    const stop = untilAnswered(
      () => holders.of(sessionId),
      clock,
      () => {
        close();
        socket.end();
      },
    );
    socket.once('close', () => {
      stop();
      close();
    });
  };

  const accept = (socket: Socket, ask: Ask) => {
    if (sockets.size >= maxHooks) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    socket.setTimeout(requestMs, () => socket.destroy()).setEncoding('utf8');
    let text = '';
    socket.on('data', (part: string) => {
      if (text.includes('\n')) return;
      text += part;
      if (text.length > requestBytes) return void socket.destroy();
      if (!text.includes('\n')) return;
      socket.setTimeout(0);
      open(socket, text.slice(0, text.indexOf('\n')), ask);
    });
    // The hook was stopped before an answer.
    socket.on('end', () => socket.end());
  };

  return {
    listen(ask) {
      server = createServer({ allowHalfOpen: true }, (socket) => accept(socket, ask));
      server.on('error', (error) => log.warn('questions of terminals stay there', { why: reasonOf(error) }));
      // Only the daemon that has the lock of this folder comes here: a file at this address is of a process that crashed.
      rmSync(address, { force: true });
      server.listen(address, () => chmodSync(address, 0o600));
      server.unref();
    },
    async close() {
      const closing = server;
      server = undefined;
      for (const socket of sockets) socket.end();
      if (closing) await new Promise<void>((resolve) => closing.close(() => resolve()));
    },
  };
}

/**
 * Calls back once the program no longer waits for this answer: its record left `waiting`, or reports a later change. A hook keeps waiting after a
 * person has answered in the terminal. Returns a function that stops watching.
 */
function untilAnswered(held: () => Held | undefined, clock: Clock, onAnswered: () => void): () => void {
  const from = clock.now();
  let asked: string | undefined;
  let cancel: Cancel = () => undefined;
  const look = () => {
    const now = held();
    const isWaiting = now?.state === 'waiting';
    if (isWaiting) asked ??= now.at;
    const isOver = asked === undefined ? !now || clock.now() - from > settleMs : !isWaiting || now.at !== asked;
    if (isOver) return onAnswered();
    cancel = clock.after(lookMs, look);
  };
  cancel = clock.after(lookMs, look);
  return () => cancel();
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
