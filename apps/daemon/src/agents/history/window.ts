/**
 * Reads rows of a file of JSON lines, one part at a time. Incomplete, foreign and overlong lines are skipped and affect
 * no other line.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export type Row = Readonly<Record<string, unknown>>;

export interface PlacedRow {
  row: Row;
  /** Its first byte in the file. */
  place: number;
}

interface Window {
  rows: PlacedRow[];
  /** The offset of the first line in it; 0 when it holds the beginning of the file. */
  start: number;
}

const windowBytes = 4 * 1024 * 1024;
/** A longer line is skipped. */
const maxLineBytes = 32 * 1024 * 1024;
const newline = 0x0a;

/** Returns the lines before the offset `end` (default: the whole file), as many as fit, and at least one. */
export function rowsBefore(path: string, end: number = Infinity, bytes: number = windowBytes): Window {
  return opened(path, (file, size) => {
    const to = Math.min(end, size);
    for (let length = bytes; ; length *= 2) {
      const from = Math.max(0, to - length);
      const chunk = chunkOf(file, from, to);
      const cut = from === 0 ? 0 : chunk.indexOf(newline) + 1;
      // This is the rest of a line: read more of it or, if it is too long, the part before it.
      const isWhole = from === 0 || (cut > 0 && cut < chunk.length);
      if (isWhole) return { rows: rowsOf(chunk, cut, from), start: from + cut };
      if (length >= maxLineBytes) return { rows: [], start: from };
    }
  });
}

/** The lines at the beginning of the file. */
export function rowsAtBeginning(path: string, bytes: number): PlacedRow[] {
  return opened(path, (file, size) => rowsOf(chunkOf(file, 0, Math.min(bytes, size)), 0, 0));
}

function opened<T>(path: string, read: (file: number, size: number) => T): T {
  const file = openSync(path, 'r');
  try {
    return read(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

function chunkOf(file: number, from: number, to: number): Buffer {
  const chunk = Buffer.alloc(Math.max(0, to - from));
  let length = 0;
  for (;;) {
    const read = length < chunk.length ? readSync(file, chunk, length, chunk.length - length, from + length) : 0;
    if (read === 0) return chunk.subarray(0, length);
    length += read;
  }
}

function rowsOf(chunk: Buffer, cut: number, from: number): PlacedRow[] {
  const rows: PlacedRow[] = [];
  for (let at = cut; at < chunk.length;) {
    const found = chunk.indexOf(newline, at);
    const end = found < 0 ? chunk.length : found;
    const row = chunk[at] === 0x7b ? rowIn(chunk.toString('utf8', at, end)) : undefined;
    if (row) rows.push({ row, place: from + at });
    at = end + 1;
  }
  return rows;
}

function rowIn(line: string): Row | undefined {
  try {
    const row: unknown = JSON.parse(line);
    return typeof row === 'object' && row !== null ? (row as Row) : undefined;
  } catch {
    // The last line can be incomplete, or still being written.
    return undefined;
  }
}
