/**
 * The input and output of a command: results on `out`, everything else on `err`. Independent of commands. Only this file writes to the
 * standard output and error of `relay` and `relay-daemon`, and it escapes untrusted text (rules, 16.1).
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type Interface, createInterface } from 'node:readline';
import { ReadableStream, WritableStream } from 'node:stream/web';
import { StringDecoder } from 'node:string_decoder';
import { visible } from '@relay/protocol';
import { systemCode } from './failure.ts';

export interface Terminal {
  /** Escapes control characters in the text as `\u001b`, except our own styles. `err`, `overwrite` and `ask` do the same. */
  out: (text: string) => void;
  err: (text: string) => void;
  /** Writes to `err` over its current line. */
  overwrite: (line: string) => void;
  /** Replaces ESC where one of our styles begins. Random, so that untrusted text cannot contain it. */
  mark: string;
  env: NodeJS.ProcessEnv;
  /** `out` is a terminal: use colours, and fit tables to the screen. */
  outIsScreen: boolean;
  /** `err` is a terminal: lines can be overwritten. */
  errIsScreen: boolean;
  /** Standard input is a terminal, so questions can be asked. */
  inIsScreen: boolean;
  /** Width of the screen in columns. */
  columns: number;
  /** Resolves when the reader of `out` has caught up; for unlimited output. */
  drained: () => Promise<void>;
  /** Reads all of stdin; undefined if it exceeds the limit. */
  readInput: (limitBytes: number) => Promise<string | undefined>;
  /** Reads one typed line; undefined if `signal` aborts or the keyboard is gone. */
  ask: (question: string, signal?: AbortSignal) => Promise<string | undefined>;
  /** Passes on each key as text, until the returned function is called. `onResize`: the screen size changed. */
  keys: (onText: (text: string) => void, onResize: () => void) => () => void;
  /** Standard input and output for another program: raw bytes, nothing is escaped. */
  pipes: () => { input: ReadableStream<Uint8Array>; output: WritableStream<Uint8Array> };
}

/**
 * Runs a program: `run` gets the arguments and returns the exit code. Uncaught errors are written through its terminal as well. `onLost`: the
 * output cannot be written; it returns the exit code. Without `onLost` the program continues.
 */
export async function runProgram(
  run: (words: readonly string[], terminal: Terminal) => Promise<number>,
  onLost?: (error: Error, words: readonly string[], terminal: Terminal) => number,
): Promise<void> {
  const words = process.argv.slice(2);
  const terminal = terminalOn(process);
  // If the reader stops early (`relay sessions | head`), a command exits.
  process.stdout.on('error', (error: Error) => {
    if (onLost) process.exit(systemCode(error) === 'EPIPE' ? 0 : onLost(error, words, terminal));
  });
  if (!onLost) process.stderr.on('error', () => undefined);
  process.on('uncaughtException', (error) => {
    terminal.err(`${error.stack ?? error.message}\n`);
    process.exit(1);
  });
  process.exitCode = await run(words, terminal);
  // An open standard input or a kept connection must not keep a finished command alive. Pending output must: a slow reader delays the
  // writes to a pipe.
  process.stdin.unref?.();
  const exit = () => void setTimeout(() => process.exit(), 1000).unref();
  // Write nothing if nothing is pending: the write could fail.
  if (process.stdout.writableLength === 0) exit();
  else process.stdout.write('', exit);
}

export interface Streams {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: Pick<NodeJS.WriteStream, 'write'> &
    Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'writableNeedDrain' | 'once'>>;
  stderr: Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean };
  env: NodeJS.ProcessEnv;
}

export function terminalOn({ stdin, stdout, stderr, env }: Streams): Terminal {
  const mark = `<${randomUUID()}>`;
  const shown = (text: string) => visible(text).replaceAll(mark, '\u001b');
  const err = (text: string) => void stderr.write(shown(text));
  const drained = async () => {
    if (stdout.writableNeedDrain) await once(stdout as NodeJS.WriteStream, 'drain');
  };
  const typed = linesFrom(stdin);
  return {
    out: (text) => void stdout.write(shown(text)),
    err,
    overwrite: (line) => void stderr.write(`\r${shown(line)}`),
    mark,
    env,
    outIsScreen: stdout.isTTY === true,
    errIsScreen: stderr.isTTY === true,
    inIsScreen: stdin.isTTY === true,
    get columns() {
      return stdout.columns || 80;
    },
    drained,
    async readInput(limitBytes) {
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of stdin as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > limitBytes) return undefined;
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString('utf8');
    },
    ask: (question, signal) => typed.next(() => err(question), signal),
    keys(onText, onResize) {
      const keyboard = stdin as NodeJS.ReadStream;
      const decoder = new StringDecoder('utf8');
      const onData = (chunk: Buffer) => onText(decoder.write(chunk));
      typed.stop();
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
          await drained();
        },
      }),
    }),
  };
}

/**
 * Lines without raw mode: Ctrl-C stays a signal. Reading continues between questions, so text typed for a question that is gone does not
 * answer the next one.
 */
function linesFrom(stdin: NodeJS.ReadableStream) {
  let lines: Interface | undefined;
  let isGone = false;
  return {
    next: (show: () => void, signal?: AbortSignal) =>
      new Promise<string | undefined>((resolve) => {
        if (isGone) return resolve(undefined);
        const keyboard = (lines ??= createInterface({ input: stdin, terminal: false }).once('close', () => {
          isGone = true;
        }));
        const settle = (line?: string) => {
          signal?.removeEventListener('abort', onEnd);
          keyboard.off('line', settle).off('close', onEnd);
          resolve(line);
        };
        const onEnd = () => settle();
        signal?.addEventListener('abort', onEnd);
        keyboard.on('line', settle).on('close', onEnd);
        show();
      }),
    stop: () => lines?.close(),
  };
}
