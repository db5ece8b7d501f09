/**
 * The input and output of a command: results on `out`, everything else on `err`. Independent of commands. Only this file writes to the
 * program's standard output and error, and it escapes untrusted text (rules, 16.1).
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { ReadableStream, WritableStream } from 'node:stream/web';
import { StringDecoder } from 'node:string_decoder';
import { visible } from '@relay/protocol';
import { systemCode, usage } from './failure.ts';

export interface Terminal {
  /** Escapes control characters in the text as `\u001b`, except our own styles. `err` and `ask` do the same. */
  out: (text: string) => void;
  err: (text: string) => void;
  /** Replaces ESC where one of our styles begins. Random, so that untrusted text cannot contain it. */
  mark: string;
  env: NodeJS.ProcessEnv;
  /** `out` is a terminal: use colours, and fit tables to the screen. */
  outIsScreen: boolean;
  /** Standard input is a terminal, so questions can be asked. */
  inIsScreen: boolean;
  /** Width of the screen in columns. */
  columns: number;
  /** Resolves when the reader of `out` has caught up; for unlimited output. */
  drained: () => Promise<void>;
  /** Reads all of stdin. @throws Failure if it exceeds the limit */
  readInput: (limitBytes: number) => Promise<string>;
  /** Reads one typed line. */
  ask: (question: string) => Promise<string>;
  /** Passes on each key as text, until the returned function is called. `onResize`: the screen size changed. */
  keys: (onText: (text: string) => void, onResize: () => void) => () => void;
  /** Standard input and output for another program: raw bytes, nothing is escaped. */
  pipes: () => { input: ReadableStream<Uint8Array>; output: WritableStream<Uint8Array> };
}

/**
 * The terminal of this process. Uncaught errors are written through it as well. `onLost`: the output cannot be written; it
 * returns the exit code.
 */
export function processTerminal(onLost: (error: Error) => number): Terminal {
  const terminal = terminalOn(process);
  // If the reader stops early (`relay sessions | head`), the command exits.
  process.stdout.on('error', (error: Error) => process.exit(systemCode(error) === 'EPIPE' ? 0 : onLost(error)));
  process.on('uncaughtException', (error) => {
    terminal.err(`${error.stack ?? error.message}\n`);
    process.exit(1);
  });
  return terminal;
}

/** Calls `done` when all output is written. */
export function afterOutput(done: () => void): void {
  // Write nothing if nothing is pending: the write could fail.
  if (process.stdout.writableLength === 0) done();
  else process.stdout.write('', done);
}

export interface Streams {
  stdin: Pick<NodeJS.ReadStream, 'isTTY' | typeof Symbol.asyncIterator>;
  stdout: Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns' | 'writableNeedDrain' | 'once'>;
  stderr: Pick<NodeJS.WriteStream, 'write'>;
  env: NodeJS.ProcessEnv;
}

export function terminalOn({ stdin, stdout, stderr, env }: Streams): Terminal {
  const mark = `<${randomUUID()}>`;
  const shown = (text: string) => visible(text).replaceAll(mark, '\u001b');
  return {
    out: (text) => void stdout.write(shown(text)),
    err: (text) => void stderr.write(shown(text)),
    mark,
    env,
    outIsScreen: stdout.isTTY,
    inIsScreen: stdin.isTTY,
    get columns() {
      return stdout.columns || 80;
    },
    drained: async () => {
      if (stdout.writableNeedDrain) await once(stdout as NodeJS.WriteStream, 'drain');
    },
    async readInput(limitBytes) {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of stdin as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > limitBytes) throw usage(`Standard input is longer than ${limitBytes} bytes.`);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString('utf8');
    },
    async ask(question) {
      stderr.write(shown(question));
      for await (const chunk of stdin as AsyncIterable<Buffer>) return chunk.toString('utf8').split('\n')[0]!.trim();
      return '';
    },
    keys(onText, onResize) {
      const keyboard = stdin as NodeJS.ReadStream;
      const decoder = new StringDecoder('utf8');
      const onData = (chunk: Buffer) => onText(decoder.write(chunk));
      keyboard.setRawMode(true);
      keyboard.on('data', onData).resume();
      process.on('SIGWINCH', onResize);
      return () => {
        process.off('SIGWINCH', onResize);
        keyboard.off('data', onData).pause();
        keyboard.setRawMode(false);
      };
    },
    pipes: () => ({
      input: ReadableStream.from<Uint8Array>(stdin as AsyncIterable<Buffer>),
      output: new WritableStream({
        async write(bytes) {
          stdout.write(bytes);
          if (stdout.writableNeedDrain) await once(stdout as NodeJS.WriteStream, 'drain');
        },
      }),
    }),
  };
}

/** Options that every command takes. */
export interface CommonOptions {
  url?: string;
  json?: boolean;
}

/**
 * Passes `work` a signal that aborts on the first SIGINT or SIGTERM; the second one kills the process as usual. For commands that
 * wait, so that they exit in order.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const release = () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
  const onSignal = () => {
    release();
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await work(controller.signal);
  } finally {
    release();
  }
}

/** Runs `work` to completion: a signal that arrives during it takes effect afterwards. */
export async function uninterrupted<T>(work: () => Promise<T>): Promise<T> {
  let came: NodeJS.Signals | undefined;
  const remember = (signal: NodeJS.Signals) => (came = signal);
  // A command that handles the signal itself exits in order.
  const deaf = (['SIGINT', 'SIGTERM'] as const).filter((signal) => process.listenerCount(signal) === 0);
  for (const signal of deaf) process.on(signal, remember);
  try {
    return await work();
  } finally {
    for (const signal of deaf) process.off(signal, remember);
    if (came) process.kill(process.pid, came);
  }
}
