/**
 * Standard output for a log: a slow reader, a closed reader and a full disk cost lines, never the process.
 * A blocking write to an unread pipe stops everything else for good, and an unhandled write error crashes the process.
 */
import { fstatSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Writable } from 'node:stream';

/** Characters that can wait for the reader of a pipe; at this limit new lines are lost. */
const maxWaiting = 2 ** 20;

interface LineOutput {
  write(line: string): void;
}

/** `lossOf` formats the line that reports the number of lost lines; written as soon as there is room again. */
export function standardOutput(lossOf: (lost: number) => string): LineOutput {
  const { stdout } = process;
  const kind = fstatSync(stdout.fd);
  const isStream = kind.isFIFO() || kind.isSocket() || isatty(stdout.fd);
  return isStream ? toReader(stdout, lossOf) : toFile(stdout.fd, lossOf);
}

/** Node writes to a pipe without blocking and buffers unread lines: this function bounds that buffer. */
function toReader(stream: Writable, lossOf: (lost: number) => string): LineOutput {
  let lost = 0;
  const warn = () => {
    if (lost === 0) return;
    const line = lossOf(lost);
    lost = 0;
    stream.write(line);
  };
  // The reader has gone, and this was the only channel to report it.
  stream.on('error', () => undefined);
  stream.on('drain', warn);
  return {
    write: (line) => {
      if (stream.destroyed || stream.errored) return;
      if (stream.writableLength >= maxWaiting) {
        lost += 1;
        return;
      }
      warn();
      stream.write(line);
    },
  };
}

/** A file takes a line immediately, or is full. */
function toFile(fd: number, lossOf: (lost: number) => string): LineOutput {
  let lost = 0;
  /** The last line was written in part: the next one begins on a line of its own. */
  let torn = false;
  const put = (line: string): boolean => {
    const bytes = Buffer.from(torn ? `\n${line}` : line);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(fd, bytes, written);
      torn = false;
    } catch {
      torn ||= written > 0;
    }
    return written === bytes.length;
  };
  return {
    write: (line) => {
      if (lost > 0 && put(lossOf(lost))) lost = 0;
      if (lost > 0 || !put(line)) lost += 1;
    },
  };
}
