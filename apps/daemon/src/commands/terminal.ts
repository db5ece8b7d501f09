/**
 * Where a command reads and writes: results on `out`, everything else on `err`. The only place of this program that writes to its
 * standard output and error, and the place where foreign text is made harmless (rules, 16.1).
 */
import { type Interface, createInterface } from 'node:readline';
import { visible } from '@relay/protocol';

export interface Terminal {
  /** Controls in the text are written as `\u001b`. The same holds for `err` and `overwrite`. */
  out: (text: string) => void;
  err: (text: string) => void;
  /** Writes to `err` over the line that was begun last. */
  overwrite: (line: string) => void;
  /** One line typed at the keyboard; undefined when `signal` aborts or the keyboard is gone. Missing without a keyboard. */
  ask?: (question: string, signal: AbortSignal) => Promise<string | undefined>;
  env: NodeJS.ProcessEnv;
  /** `err` is a screen: a line can be overwritten. */
  isScreen: boolean;
}

interface Streams {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: Pick<NodeJS.WriteStream, 'write'>;
  stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  env: NodeJS.ProcessEnv;
}

export function terminalOn({ stdin, stdout, stderr, env }: Streams): Terminal {
  const canAsk = stdin.isTTY && stderr.isTTY;
  return {
    ...(canAsk ? { ask: linesFrom(stdin, (question) => void stderr.write(visible(question))) } : {}),
    out: (text) => void stdout.write(visible(text)),
    err: (text) => void stderr.write(visible(text)),
    overwrite: (line) => void stderr.write(`\r${visible(line)}`),
    env,
    isScreen: stderr.isTTY,
  };
}

/**
 * No raw mode: Ctrl-C stays a signal for the daemon. Reading goes on between questions, so text typed for a question
 * that is gone does not answer the next.
 */
function linesFrom(stdin: NodeJS.ReadableStream, show: (question: string) => void): NonNullable<Terminal['ask']> {
  let lines: Interface | undefined;
  let isGone = false;
  return (question, signal) =>
    new Promise((resolve) => {
      if (isGone) {
        resolve(undefined);
        return;
      }
      const keyboard = (lines ??= createInterface({ input: stdin, terminal: false }).once('close', () => {
        isGone = true;
      }));
      const end = (line?: string) => {
        signal.removeEventListener('abort', onEnd);
        keyboard.off('line', end).off('close', onEnd);
        resolve(line);
      };
      const onEnd = () => end();
      signal.addEventListener('abort', onEnd);
      keyboard.on('line', end).on('close', onEnd);
      show(question);
    });
}

/** The terminal of this process. An uncaught error is printed through it too. */
export function processTerminal(): Terminal {
  // The reader can leave (`| head`, a closed terminal): the daemon continues, and a command loses its reader.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const terminal = terminalOn(process);
  process.on('uncaughtException', (error) => {
    terminal.err(`${error.stack ?? error.message}\n`);
    process.exit(1);
  });
  return terminal;
}

/** Options that every command takes. */
export interface CommonOptions {
  home?: string;
  json?: boolean;
  profile?: string;
}
