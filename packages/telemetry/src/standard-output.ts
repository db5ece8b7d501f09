/**
 * Standard output for a log: a reader that is too slow, a reader that has gone and a disk that is full cost lines, never the process.
 * A blocking write to a pipe that is not read stops everything else for good, and an unheard error of a write ends the process.
 */
import { fstatSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Writable } from 'node:stream';

/** Characters that may wait for the reader of a pipe; what comes when they are reached is lost. */
const maxWaiting = 2 ** 20;

interface LineOutput {
  write(line: string): void;
}

/** `lossOf` makes the line that says how many were lost; it is written as soon as there is room again. */
export function standardOutput(lossOf: (lost: number) => string): LineOutput {
  const { stdout } = process;
  const kind = fstatSync(stdout.fd);
  const isStream = kind.isFIFO() || kind.isSocket() || isatty(stdout.fd);
  return isStream ? toReader(stdout, lossOf) : toFile(stdout.fd, lossOf);
}

/** Node writes to a pipe without blocking and keeps what the reader has not taken: that is what has a bound here. */
function toReader(stream: Writable, lossOf: (lost: number) => string): LineOutput {
  let lost = 0;
  const tell = () => {
    if (lost === 0) return;
    const line = lossOf(lost);
    lost = 0;
    stream.write(line);
  };
  // The reader has gone. There is no other place to say so.
  stream.on('error', () => undefined);
  stream.on('drain', tell);
  return {
    write: (line) => {
      if (stream.destroyed || stream.errored) return;
      if (stream.writableLength >= maxWaiting) {
        lost += 1;
        return;
      }
      tell();
      stream.write(line);
    },
  };
}

/** A file takes a line at once, or has no room for it. */
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
