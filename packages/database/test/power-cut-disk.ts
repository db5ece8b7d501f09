/**
 * A disk that loses unsynced writes. It records an engine's file operations, and writes the files that a power cut at
 * any point would leave: everything synced before it, and of the rest nothing, everything, or any pieces of 512 bytes.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type EngineModule, type EngineStream, SyncedFiles } from '../src/embedded-files.ts';

export type Act =
  | { kind: 'write'; name: string; at: number; data: Buffer }
  | { kind: 'size'; name: string; size: number }
  | { kind: 'make'; name: string; isFolder: boolean }
  | { kind: 'rename'; name: string; to: string }
  | { kind: 'remove'; name: string }
  | { kind: 'sync'; name: string };

/** The part of the acts that survives without a sync. */
export type Luck = 'nothing' | 'everything' | 'pieces';

interface Node {
  name: string;
  parent: Node;
  mode: number;
}
type Stream = EngineStream & { node: Node };
interface Operations {
  NODEFS: {
    realPath: (node: Node) => string;
    stream_ops: {
      write: (stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number) => number;
      setattr: (stream: Stream, attr: { size?: number }) => void;
      fsync: (stream: Stream) => number;
    };
    node_ops: {
      mknod: (parent: Node, name: string, mode: number, dev: number) => Node;
      setattr: (node: Node, attr: { size?: number }) => void;
      rename: (node: Node, folder: Node, name: string) => void;
      unlink: (parent: Node, name: string) => void;
      rmdir: (parent: Node, name: string) => void;
    };
  };
}

const isFolder = (mode: number) => (mode & 0o170000) === 0o040000;

/** The files of an engine, which work as always, and the list of operations on them. */
export class RecordedFiles extends SyncedFiles {
  readonly acts: Act[] = [];

  protected override prepare(module: EngineModule): void {
    super.prepare(module);
    const { acts } = this;
    const { NODEFS } = module as unknown as Operations;
    const { stream_ops: streams, node_ops: nodes } = NODEFS;
    const of = (node: Node) => path.relative(this.rootDir, NODEFS.realPath(node));
    const { write, fsync } = streams;
    streams.write = (stream, buffer, offset, length, position) => {
      const written = write(stream, buffer, offset, length, position);
      acts.push({
        kind: 'write',
        name: of(stream.node),
        at: position,
        data: Buffer.from(buffer.slice(offset, offset + written)),
      });
      return written;
    };
    streams.fsync = (stream) => {
      const result = fsync(stream);
      acts.push({ kind: 'sync', name: of(stream.node) });
      return result;
    };
    const { setattr: setStream } = streams;
    streams.setattr = (stream, attr) => {
      setStream(stream, attr);
      if (attr.size !== undefined) acts.push({ kind: 'size', name: of(stream.node), size: attr.size });
    };
    const { mknod, setattr, rename, unlink, rmdir } = nodes;
    nodes.setattr = (node, attr) => {
      setattr(node, attr);
      if (attr.size !== undefined) acts.push({ kind: 'size', name: of(node), size: attr.size });
    };
    nodes.mknod = (parent, name, mode, dev) => {
      const node = mknod(parent, name, mode, dev);
      acts.push({ kind: 'make', name: of(node), isFolder: isFolder(mode) });
      return node;
    };
    nodes.rename = (node, folder, name) => {
      const from = of(node);
      rename(node, folder, name);
      acts.push({ kind: 'rename', name: from, to: path.join(of(folder), name) });
    };
    nodes.unlink = (parent, name) => {
      unlink(parent, name);
      acts.push({ kind: 'remove', name: path.join(of(parent), name) });
    };
    nodes.rmdir = (parent, name) => {
      rmdir(parent, name);
      acts.push({ kind: 'remove', name: path.join(of(parent), name) });
    };
  }
}

/** One file through all its names. */
interface File {
  isFolder: boolean;
  /** Its name before the recording began; undefined for a file that was made since. */
  base: string | undefined;
  changes: { index: number; act: Act & { kind: 'write' | 'size' } }[];
  syncedAt: number;
}
/** A change of the names in one folder. */
interface Naming {
  index: number;
  folder: string;
  file: File;
  act: Act & { kind: 'make' | 'rename' | 'remove' };
  isDurable: boolean;
}

/**
 * Writes to `image` the files that are left of `base` and the first `cut` of `acts`. The names in one folder change in order. A name is
 * durable when its folder or its file was synced after it; data when its file was.
 */
export function afterPowerCut(
  base: string,
  acts: readonly Act[],
  cut: number,
  { luck, chance, image }: { luck: Luck; chance: () => number; image: string },
): void {
  const names = new Map<string, File>();
  const namings: Naming[] = [];
  const all = new Set<File>();
  const fileOf = (name: string): File => {
    const known = names.get(name);
    if (known) return known;
    const there = existsSync(path.join(base, name));
    const file: File = {
      isFolder: there && statSync(path.join(base, name)).isDirectory(),
      base: there ? name : undefined,
      changes: [],
      syncedAt: -1,
    };
    names.set(name, file);
    all.add(file);
    return file;
  };
  acts.slice(0, cut).forEach((act, index) => {
    const { name } = act;
    if (act.kind === 'write' || act.kind === 'size') return void fileOf(name).changes.push({ index, act });
    if (act.kind === 'sync') {
      const file = fileOf(name);
      file.syncedAt = index;
      for (const naming of namings)
        if (naming.folder === (name || '.') || naming.file === file) naming.isDurable = true;
      return;
    }
    if (act.kind === 'make') {
      const file: File = { isFolder: act.isFolder, base: undefined, changes: [], syncedAt: -1 };
      names.set(name, file);
      all.add(file);
    }
    const file = fileOf(name);
    const folder = path.dirname(act.kind === 'rename' ? act.to : name);
    namings.push({ index, folder, file, act, isDurable: false });
    if (act.kind === 'make') return;
    names.delete(name);
    if (act.kind === 'rename') names.set(act.to, file);
  });

  // The names: for each folder everything before its last durable change, and more by chance.
  const kept = new Map<string, number>();
  for (const folder of new Set(namings.map((naming) => naming.folder))) {
    const own = namings.filter((naming) => naming.folder === folder);
    const durable = own.findLastIndex((naming) => naming.isDurable) + 1;
    const more =
      luck === 'nothing'
        ? 0
        : luck === 'everything'
          ? own.length - durable
          : Math.floor(chance() * (own.length - durable + 1));
    kept.set(folder, own[durable + more - 1]?.index ?? -1);
  }
  rmSync(image, { recursive: true, force: true });
  cpSync(base, image, { recursive: true });
  const places = new Map<File, string>();
  for (const file of all) if (file.base !== undefined) places.set(file, file.base);
  for (const { index, folder, file, act } of namings) {
    if (index > kept.get(folder)!) continue;
    if (act.kind === 'remove') {
      rmSync(path.join(image, act.name), { recursive: true, force: true });
      places.delete(file);
      continue;
    }
    const name = act.kind === 'rename' ? act.to : act.name;
    for (const [other, place] of places) if (place === name) places.delete(other);
    const old = places.get(file);
    if (old !== undefined) rmSync(path.join(image, old), { force: true });
    if (file.isFolder) mkdirSync(path.join(image, name), { recursive: true });
    places.set(file, name);
  }
  for (const [file, name] of places) {
    if (file.isFolder || (file.changes.length === 0 && file.base === name)) continue;
    mkdirSync(path.dirname(path.join(image, name)), { recursive: true });
    writeFileSync(path.join(image, name), contentOf(file, base, luck, chance), { mode: 0o600 });
  }
}

const piece = 512;

function contentOf(file: File, base: string, luck: Luck, chance: () => number): Buffer {
  let content = file.base === undefined ? Buffer.alloc(0) : readFileSync(path.join(base, file.base));
  const sized = (size: number) => {
    if (size <= content.length) content = content.subarray(0, size);
    else content = Buffer.concat([content, Buffer.alloc(size - content.length)]);
  };
  for (const { index, act } of file.changes) {
    const isSynced = index < file.syncedAt;
    if (!isSynced && luck === 'nothing') break;
    if (act.kind === 'size') {
      if (isSynced || luck === 'everything' || chance() < 0.5) sized(act.size);
      continue;
    }
    for (let offset = 0; offset < act.data.length; offset += piece) {
      if (!isSynced && luck === 'pieces' && chance() < 0.5) continue;
      const part = act.data.subarray(offset, offset + piece);
      if (act.at + offset + part.length > content.length) sized(act.at + offset + part.length);
      part.copy(content, act.at + offset);
    }
  }
  return content;
}
