/**
 * Where a command reads and writes: results on `out`, everything else on `err`. The only place of this program that writes to its
 * standard output and error, and the place where text of strangers is made harmless (findings S6).
 */
import { visible } from '@relay/protocol';

export interface Terminal {
  /** Controls in the text are written as `\u001b`. The same holds for `err` and `overwrite`. */
  out: (text: string) => void;
  err: (text: string) => void;
  /** Writes to `err` over the line that was begun last. */
  overwrite: (line: string) => void;
  env: NodeJS.ProcessEnv;
  /** `err` is a screen: a line may be written over. */
  isScreen: boolean;
}

export interface Streams {
  stdout: Pick<NodeJS.WriteStream, 'write'>;
  stderr: Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;
  env: NodeJS.ProcessEnv;
}

export function terminalOn({ stdout, stderr, env }: Streams): Terminal {
  return {
    out: (text) => void stdout.write(visible(text)),
    err: (text) => void stderr.write(visible(text)),
    overwrite: (line) => void stderr.write(`\r${visible(line)}`),
    env,
    isScreen: stderr.isTTY,
  };
}

/** The terminal of this process. An error that nothing caught leaves through the same door. */
export function processTerminal(): Terminal {
  // The reader may leave (`| head`, a closed terminal): the daemon goes on, and a command has nobody left to tell.
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
