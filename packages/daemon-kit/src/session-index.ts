/**
 * The index of a session's file: for each place, where the last whole row of its item begins. It is built backwards, as far as
 * pages ask, without decoding the rows, and takes 20 bytes for each place. Rows are appended and never changed, so it follows a
 * file that grows; a rewritten file needs a new index. Open items have no last row yet: their state is in `open`.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type Stored, itemOfOld, readRow } from './session-file.ts';

export interface Extent {
  path: string;
  /** Messages from before there were items. */
  old: number;
  /** The places up to this one are not in this file. */
  older: number;
  lastSeq: number;
  /** Items that are not closed, by uuid. */
  open: ReadonlyMap<string, Stored>;
}

const scanBytes = 256 * 1024;
const newline = 0x0a;
const brace = 0x7d;
/** Enough for the name of nearly every item; a longer row is decoded. */
const headBytes = 160;
/** A whole row as this daemon writes it. Escapes and other letters than ASCII need a decoder. */
const wholeHead = /^\{"[im]":\{"uuid":"([ !#-[\]-~]+)","seq":(\d+),/;
const others = /^\{"(?:op|meta|title|gaps)":/;

/** 52 bits of a text, never 0. Two texts can share them, so a found row is compared. */
function hashOf(text: string): number {
  let [one, other] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b) ^ (other >>> 13);
  }
  return (one >>> 0) * 0x100000 + (other >>> 12) + 1;
}

export class SessionIndex {
  readonly #extent: Extent;
  /** Indexed by place − `older` − 1. Where the row begins, plus one: 0 is unknown. */
  #starts = new Float64Array(0);
  #lengths = new Uint32Array(0);
  #hashes = new Float64Array(0);
  /** The part of the file that was scanned; complete rows only. */
  #begin = -1;
  #end = -1;
  /** The place of the next message from before there were items, read backwards. */
  #old: number;

  constructor(extent: Extent) {
    this.#extent = extent;
    this.#old = extent.old;
  }

  /** The number of places that it has room for. */
  get size(): number {
    return this.#starts.length;
  }

  /** Runs `read` over the file as it is now. */
  reading<T>(read: (rows: Rows) => T): T {
    const file = openSync(this.#extent.path, 'r');
    try {
      this.#grow();
      this.#follow(file);
      return read(new Rows(file, this));
    } finally {
      closeSync(file);
    }
  }

  /** Returns where the last whole row of the item at this place is; undefined if it has no row. */
  locate(file: number, seq: number): { start: number; length: number } | undefined {
    const at = seq - this.#extent.older - 1;
    while (this.#starts[at] === 0 && this.#begin > 0) this.#scanBack(file);
    const start = this.#starts[at];
    return start ? { start: start - 1, length: this.#lengths[at]! } : undefined;
  }

  /** Yields the places whose items can have this name, in the order they are found. */
  *candidates(file: number, uuid: string): Generator<number> {
    const hash = hashOf(uuid);
    const tried = new Set<number>();
    for (;;) {
      for (let at = this.#hashes.indexOf(hash); at >= 0; at = this.#hashes.indexOf(hash, at + 1)) {
        if (!tried.has(at)) yield at + this.#extent.older + 1;
        tried.add(at);
      }
      if (this.#begin === 0) return;
      this.#scanBack(file);
    }
  }

  openItem(uuid: string): Stored | undefined {
    return this.#extent.open.get(uuid);
  }

  openAt(seq: number): Stored | undefined {
    for (const stored of this.#extent.open.values()) if (stored.item.seq === seq) return stored;
    return undefined;
  }

  #grow(): void {
    const places = this.#extent.lastSeq - this.#extent.older;
    if (places <= this.size) return;
    const room = Math.ceil(places * 1.25) + 64;
    const [starts, lengths, hashes] = [this.#starts, this.#lengths, this.#hashes];
    this.#starts = new Float64Array(room);
    this.#starts.set(starts);
    this.#lengths = new Uint32Array(room);
    this.#lengths.set(lengths);
    this.#hashes = new Float64Array(room);
    this.#hashes.set(hashes);
  }

  /** Takes the rows that were appended since. */
  #follow(file: number): void {
    const { size } = fstatSync(file);
    if (this.#end < 0) {
      // A row that a crash cut off stays in front of us, and is passed over when the next one is appended.
      this.#end = this.#begin = endOfRows(file, size);
      return;
    }
    for (let bytes = scanBytes; this.#end < size;) {
      const chunk = bytesOf(file, this.#end, Math.min(size, this.#end + bytes));
      const last = chunk.lastIndexOf(newline) + 1;
      for (let from = 0; from < last;) {
        const to = chunk.indexOf(newline, from);
        this.#take(chunk.subarray(from, to), this.#end + from, true);
        from = to + 1;
      }
      if (last === 0 && this.#end + bytes >= size) return;
      bytes = last === 0 ? bytes * 2 : scanBytes;
      this.#end += last;
    }
  }

  /** Reads the rows before the rows read so far. */
  #scanBack(file: number): void {
    for (let bytes = scanBytes; ; bytes *= 2) {
      const start = Math.max(0, this.#begin - bytes);
      const chunk = bytesOf(file, start, this.#begin);
      const first = start === 0 ? 0 : chunk.indexOf(newline) + 1;
      // One row is longer than all of it.
      if (first === chunk.length || (start > 0 && first === 0)) continue;
      for (let to = chunk.length - 1; to > first;) {
        const from = Math.max(first, chunk.lastIndexOf(newline, to - 1) + 1);
        this.#take(chunk.subarray(from, to), start + from, false);
        to = from - 1;
      }
      this.#begin = start + first;
      return;
    }
  }

  /** `isNewer`: than every row taken so far; else older. The newest row of an item counts. */
  #take(line: Buffer, start: number, isNewer: boolean): void {
    if (line.length === 0 || line[line.length - 1] !== brace) return;
    const head = line.toString('latin1', 0, Math.min(line.length, headBytes));
    if (others.test(head)) return;
    const match = wholeHead.exec(head);
    if (match) return this.#set(match[1]!, Number(match[2]), start, line.length, isNewer);
    const row = readRow(line.toString('utf8'));
    if (row?.kind === 'whole') this.#set(row.stored.item.uuid, row.stored.item.seq, start, line.length, isNewer);
    if (row?.kind === 'old') this.#set(row.message.uuid, this.#old--, start, line.length, isNewer);
  }

  #set(uuid: string, seq: number, start: number, length: number, isNewer: boolean): void {
    const at = seq - this.#extent.older - 1;
    if (at < 0 || at >= this.size || (!isNewer && this.#starts[at] !== 0)) return;
    this.#starts[at] = start + 1;
    this.#lengths[at] = length;
    this.#hashes[at] = hashOf(uuid);
  }
}

/** Items as they are now, read while one page is made. Neighbours of a page are neighbours in the file: they share one read. */
class Rows {
  readonly #file: number;
  readonly #index: SessionIndex;
  #chunk: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(file: number, index: SessionIndex) {
    this.#file = file;
    this.#index = index;
  }

  /** Returns the item at this place; undefined if it is missing or unreadable. */
  at(seq: number): Stored | undefined {
    return this.#index.openAt(seq) ?? this.#closedAt(seq);
  }

  /** The item of this name. */
  find(uuid: string): Stored | undefined {
    const open = this.#index.openItem(uuid);
    if (open) return open;
    for (const seq of this.#index.candidates(this.#file, uuid)) {
      const stored = this.#closedAt(seq);
      if (stored?.item.uuid === uuid) return stored;
    }
    return undefined;
  }

  #closedAt(seq: number): Stored | undefined {
    const found = this.#index.locate(this.#file, seq);
    if (!found) return undefined;
    const row = readRow(this.#read(found.start, found.start + found.length));
    if (row?.kind === 'whole') return row.stored;
    return row?.kind === 'old' ? { item: itemOfOld(row.message, seq), m: true } : undefined;
  }

  #read(start: number, end: number): string {
    if (start < this.#start || end > this.#start + this.#chunk.length) {
      this.#start = Math.max(0, Math.min(start, end - scanBytes));
      this.#chunk = bytesOf(this.#file, this.#start, end);
    }
    return this.#chunk.toString('utf8', start - this.#start, end - this.#start);
  }
}

function bytesOf(file: number, start: number, end: number): Buffer {
  const chunk = Buffer.allocUnsafe(end - start);
  return chunk.subarray(0, readSync(file, chunk, 0, chunk.length, start));
}

/** Returns the offset after the last complete row. */
function endOfRows(file: number, size: number): number {
  for (let end = size; end > 0; end = Math.max(0, end - scanBytes)) {
    const start = Math.max(0, end - scanBytes);
    const at = bytesOf(file, start, end).lastIndexOf(newline);
    if (at >= 0) return start + at + 1;
  }
  return 0;
}
