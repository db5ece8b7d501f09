/**
 * Files of people on their way to an agent: they arrive in pieces in a folder of the daemon, and stay there until the turn of their message
 * completes, for 24 h at most (rules, 27.3). A restart continues where it stopped.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type FromDaemon, type ToDaemon, fileLimits } from '@relay/protocol';
import { reasonOf, systemCode } from '@relay/machine';
import type { Clock } from './clock.ts';
import { safeFileName } from './file-names.ts';
import { makePrivateFolder } from './private-folder.ts';

/** A file that has arrived. */
export interface IncomingFile {
  id: string;
  name: string;
  mime: string;
  bytes: number;
  path: string;
}

export interface Incoming {
  answer(frame: ToDaemon<'file_open' | 'file_piece'>): FromDaemon<'file_result'>;
  drop(id: string): void;
  /** The files, in this order; undefined unless all have arrived. */
  find(ids: readonly string[]): IncomingFile[] | undefined;
  /** Erases files that are too old. */
  sweep(): void;
}

interface Kept {
  name: string;
  mime: string;
  size: number;
  received: number;
  sha256?: string;
  at: number;
}

const maxAgeMs = 24 * 3_600_000;
const maxFiles = 1000;
const allBytes = 512 * 1024 * 1024;
const fileId = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

class Refused extends Error {
  readonly code: string;
  readonly received: number | undefined;
  constructor(code: string, message: string, received?: number) {
    super(message);
    this.code = code;
    this.received = received;
  }
}

/** `bounds`: bytes of all files together. */
export function openIncoming({
  folder,
  clock,
  bounds = allBytes,
}: {
  folder: string;
  clock: Pick<Clock, 'now'>;
  bounds?: number;
}): Incoming {
  makePrivateFolder(folder);
  const files = new Map<string, Kept>();
  const pathOf = (id: string) => join(folder, id);
  const aboutOf = (id: string) => join(folder, `${id}.json`);

  const drop = (id: string) => {
    if (!fileId.test(id)) return;
    files.delete(id);
    rmSync(pathOf(id), { force: true });
    rmSync(aboutOf(id), { force: true });
  };
  const sweep = () => {
    for (const [id, { at }] of [...files]) if (clock.now() - at > maxAgeMs) drop(id);
  };
  const finished = (id: string, file: Kept): Kept => {
    if (file.received === file.size)
      file.sha256 ??= createHash('sha256')
        .update(readFileSync(pathOf(id)))
        .digest('hex');
    return file;
  };

  const load = () => {
    for (const name of readdirSync(folder)) {
      const id = name.replace(/\.json$/, '');
      if (files.has(id)) continue;
      try {
        const about = JSON.parse(readFileSync(aboutOf(id), 'utf8')) as Pick<Kept, 'name' | 'mime' | 'size'>;
        const { size: received, mtimeMs: at } = statSync(pathOf(id));
        if (received <= about.size) files.set(id, { ...about, received, at });
        else drop(id);
      } catch {
        // A crash between the two files of one.
        drop(id);
      }
    }
  };
  load();

  const open = ({ file_id: id, name, size, mime = '' }: ToDaemon<'file_open'>): Kept => {
    if (!fileId.test(id)) throw new Refused('INVALID_FILE', 'the id of a file is a ULID');
    if (size > fileLimits.fileBytes) throw new Refused('FILE_TOO_LARGE', 'the file is too large');
    sweep();
    const existing = files.get(id);
    if (existing?.size === size) return finished(id, existing);
    if (existing) throw new Refused('INVALID_FILE', 'this id names a file of another size');
    const announced = [...files.values()].reduce((sum, file) => sum + file.size, 0);
    if (files.size >= maxFiles || announced + size > bounds)
      throw new Refused('DEVICE_FULL', 'too many files wait on this device');
    const about = { name: safeFileName(name), mime, size };
    writeFileSync(pathOf(id), '', { mode: 0o600 });
    writeFileSync(aboutOf(id), JSON.stringify(about), { mode: 0o600 });
    const file = { ...about, received: 0, at: clock.now() };
    files.set(id, file);
    return finished(id, file);
  };

  const add = ({ file_id: id, offset, data }: ToDaemon<'file_piece'>): Kept => {
    const file = files.get(id);
    if (!file) throw new Refused('FILE_NOT_FOUND', 'this device does not have this file');
    if (data === '') return finished(id, file);
    if (offset !== file.received) throw new Refused('FILE_INCOMPLETE', 'the piece is out of order', file.received);
    const bytes = Buffer.from(data, 'base64');
    if (offset + bytes.length > file.size) throw new Refused('INVALID_FILE', 'the file is longer than announced');
    const handle = openSync(pathOf(id), 'r+');
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at, bytes.length - at, offset + at);
    } catch (error) {
      ftruncateSync(handle, offset);
      throw error;
    } finally {
      closeSync(handle);
    }
    Object.assign(file, { received: offset + bytes.length, at: clock.now() });
    return finished(id, file);
  };

  return {
    answer(frame) {
      const reply = { type: 'file_result', request_id: frame.request_id } as const;
      try {
        const { received, size, name, sha256 } = frame.type === 'file_open' ? open(frame) : add(frame);
        return { ...reply, received, done: received === size, name, ...(sha256 === undefined ? {} : { sha256 }) };
      } catch (error) {
        const isFull = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES'].includes(systemCode(error) ?? '');
        const code = error instanceof Refused ? error.code : isFull ? 'DEVICE_FULL' : undefined;
        const received = error instanceof Refused ? error.received : undefined;
        return {
          ...reply,
          ...(code === undefined ? {} : { code }),
          ...(received === undefined ? {} : { received }),
          error: reasonOf(error),
        };
      }
    },
    drop,
    find(ids) {
      const found = ids.flatMap((id): IncomingFile[] => {
        const file = files.get(id);
        if (!file || file.received !== file.size) return [];
        const { name, mime, size: bytes } = file;
        return [{ id, name, mime, bytes, path: pathOf(id) }];
      });
      return found.length === ids.length ? found : undefined;
    },
    sweep,
  };
}
