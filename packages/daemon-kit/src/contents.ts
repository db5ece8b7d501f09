/**
 * Bytes that items name and do not hold: images, and whole outputs of tools. One file each, 0600, in a folder beside the file of its session
 * (ADR 35). The newest are kept, within a bound per session and one for all; texts are never among them. A content that
 * cannot be written is not kept, and costs nothing else.
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type FromDaemon, type ToDaemon, limits, transcriptLimits } from '@relay/protocol';
import { keepHead } from './bounds.ts';
import { makePrivateFolder } from './private-folder.ts';
import type { Fields } from './transcript/content.ts';

/** A file that an item names. */
export interface NamedFile {
  name: string;
  mime: string;
  bytes: number;
  data: string;
}

/** Names a content: of an item, the name in its part. */
interface ContentName {
  sessionId: string;
  uuid: string;
  name: string;
}

interface Piece {
  mime: string;
  /** The size of the whole content. */
  size: number;
  /** The output continued beyond the kept bytes. */
  cut: boolean;
  bytes: Buffer;
}

export interface Contents {
  /** Keeps an image, given in base64. False when it is not kept: too large, of another kind, or the disk refuses it. */
  image(at: ContentName, mime: string, base64: string): boolean;
  /** Keeps the text of an output; `begins`: it starts at the first byte, else it follows the kept text. */
  output(at: ContentName, text: string, begins: boolean): void;
  /** Keeps a file with its name: its bytes, or the path of a copy. False when the disk refuses it. */
  file(at: ContentName, source: Buffer | string, fileName: string): boolean;
  /** Undefined when it is not kept. */
  read(at: ContentName, offset: number, limit: number): Piece | undefined;
}

/** Keeps content that items reference but do not hold, under the uuid of the item. */
export interface Keep {
  /** An image in base64. False when it is not kept. */
  image(uuid: string, mime: string, base64: string): boolean;
  /** Text of an output longer than the shown part; `begins`: from its first byte. */
  output(uuid: string, text: string, begins: boolean): void;
  /** The file of a content block of ACP; undefined when it is not kept. If absent, files become no items. */
  file?: (uuid: string, block: Fields) => NamedFile | undefined;
}

/** Keeps content that the items of one session reference but do not hold. */
export const keepingIn = (contents: Contents, sessionId: string): Keep => ({
  image: (uuid, mime, base64) => contents.image({ sessionId, uuid, name: imageName }, mime, base64),
  output: (uuid, text, begins) => contents.output({ sessionId, uuid, name: outputName }, text, begins),
});

/** The name of the output of a tool in its part. */
export const outputName = 'output';
/** The name of an image of the agent in its part. */
export const imageName = 'image';

interface ContentBounds {
  sessionBytes: number;
  allBytes: number;
}
const contentBounds: ContentBounds = { sessionBytes: 64 * 1024 * 1024, allBytes: 512 * 1024 * 1024 };
/** Files, which push out no images. */
const fileBounds: ContentBounds = { sessionBytes: 1024 * 1024 * 1024, allBytes: 1024 * 1024 * 1024 };

const anyBytes = 'application/octet-stream';
const endings: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  [anyBytes]: 'bin',
};
/** The content that holds the name of a file. */
const nameOfFile = (name: string) => `${name}.name`;
/** Whether an image in base64 is of a kind that is kept, and small enough. */
export const isImage = (mime: string, base64: string): boolean =>
  mime.startsWith('image/') &&
  Object.hasOwn(endings, mime) &&
  base64 !== '' &&
  base64.length <= Math.ceil(transcriptLimits.keptImageBytes / 3) * 4;

const mimes = new Map(Object.entries(endings).map(([mime, ending]) => [ending, mime]));
/** A small file also takes a block, and a place in the list. */
const blockBytes = 4096;

/** `folder`: of the session files. `nameOf`: the name of a session's file without its ending. */
export function openContents({
  folder,
  nameOf,
  bounds = contentBounds,
  folderEnding = '.d',
  onTrouble = () => undefined,
}: {
  folder: string;
  nameOf: (sessionId: string) => string;
  bounds?: ContentBounds;
  /** The ending of the folder beside each session file. */
  folderEnding?: string;
  onTrouble?: (why: unknown) => void;
}): Contents {
  /** Bytes by path, oldest first. */
  const files = new Map<string, number>();
  const ofFolder = new Map<string, number>();
  let all = 0;

  const count = (path: string, bytes: number | undefined) => {
    const before = files.get(path);
    const [old, now] = [before, bytes].map((size) => (size === undefined ? 0 : size + blockBytes));
    const change = now! - old!;
    all += change;
    ofFolder.set(dirname(path), (ofFolder.get(dirname(path)) ?? 0) + change);
    if (bytes === undefined) files.delete(path);
    else files.set(path, bytes);
  };
  const remove = (path: string) => {
    rmSync(path, { force: true });
    count(path, undefined);
  };
  const makeRoom = (kept: string) => {
    const own = dirname(kept);
    for (const path of files.keys()) {
      const isFull = (ofFolder.get(own) ?? 0) > bounds.sessionBytes;
      if (!isFull && all <= bounds.allBytes) return;
      if (path !== kept && (all > bounds.allBytes || dirname(path) === own)) remove(path);
    }
  };
  const tried = <T>(otherwise: T, work: () => T): T => {
    try {
      return work();
    } catch (error) {
      onTrouble(error);
      return otherwise;
    }
  };

  /** Counts the files of earlier processes. The folder of a session that is gone is erased. */
  const load = () => {
    const found: { path: string; bytes: number; at: number }[] = [];
    for (const name of readdirSync(folder)) {
      if (!name.endsWith(folderEnding)) continue;
      const own = join(folder, name);
      if (!existsSync(join(folder, `${name.slice(0, -folderEnding.length)}.jsonl`)))
        rmSync(own, { recursive: true, force: true });
      else
        for (const file of readdirSync(own)) {
          const { size, mtimeMs } = statSync(join(own, file));
          found.push({ path: join(own, file), bytes: size, at: mtimeMs });
        }
    }
    for (const { path, bytes } of found.sort((one, other) => one.at - other.at)) count(path, bytes);
  };
  tried(undefined, load);

  const folderOf = (sessionId: string) => join(folder, `${nameOf(sessionId)}${folderEnding}`);
  const pathOf = ({ sessionId, uuid, name }: ContentName, ending: string) => {
    const hash = createHash('sha256')
      .update(JSON.stringify([uuid, name]))
      .digest('hex')
      .slice(0, 40);
    return join(folderOf(sessionId), `${hash}.${ending}`);
  };
  /** The file and its kind; undefined when it is not kept. */
  const find = (at: ContentName): { path: string; ending: string } | undefined => {
    for (const ending of mimes.keys()) {
      const path = pathOf(at, ending);
      if (files.has(path)) return { path, ending };
    }
    return undefined;
  };

  const output: Contents['output'] = (at, text, begins) => {
    const path = pathOf(at, 'txt');
    const isKept = tried(false, () => {
      const before = begins ? 0 : files.get(path);
      // Not kept from its beginning, or complete.
      if (before === undefined || before >= transcriptLimits.keptOutputBytes) return true;
      if (begins) makePrivateFolder(folderOf(at.sessionId));
      const left = transcriptLimits.keptOutputBytes - before;
      const whole = Buffer.from(keepHead(text, left), 'utf8');
      // A character that is cut in two would leave the file a few bytes short forever.
      const isCut = whole.length < Buffer.byteLength(text, 'utf8');
      const bytes = isCut ? Buffer.concat([whole, Buffer.alloc(left - whole.length, ' ')]) : whole;
      if (begins) writeFileSync(path, bytes, { mode: 0o600 });
      else appendFileSync(path, bytes);
      count(path, before + bytes.length);
      makeRoom(path);
      return true;
    });
    // A refused write can leave a part behind.
    if (!isKept) tried(undefined, () => remove(path));
  };

  return {
    image: (at, mime, base64) =>
      tried(false, () => {
        if (!isImage(mime, base64)) return false;
        const bytes = Buffer.from(base64, 'base64');
        makePrivateFolder(folderOf(at.sessionId));
        const path = pathOf(at, endings[mime] ?? '');
        writeFileSync(path, bytes, { mode: 0o600 });
        count(path, bytes.length);
        makeRoom(path);
        return true;
      }),
    output,
    file: (at, source, fileName) =>
      tried(false, () => {
        makePrivateFolder(folderOf(at.sessionId));
        const path = pathOf(at, endings[anyBytes]!);
        rmSync(path, { force: true });
        if (typeof source === 'string') copyFileSync(source, path);
        else writeFileSync(path, source, { mode: 0o600 });
        count(path, statSync(path).size);
        output({ ...at, name: nameOfFile(at.name) }, fileName, true);
        makeRoom(path);
        return true;
      }),
    read: (at, offset, limit) =>
      tried(undefined, () => {
        const found = find(at);
        if (!found) return undefined;
        const file = openSync(found.path, 'r');
        try {
          const size = files.get(found.path) ?? 0;
          const bytes = Buffer.alloc(Math.max(0, Math.min(limit, size - offset)));
          const length = bytes.length === 0 ? 0 : readSync(file, bytes, 0, bytes.length, offset);
          const cut = found.ending === 'txt' && size >= transcriptLimits.keptOutputBytes;
          return { mime: mimes.get(found.ending) ?? '', size, cut, bytes: bytes.subarray(0, length) };
        } finally {
          closeSync(file);
        }
      }),
  };
}

/** Images and outputs, and files with bounds of their own. */
export function openAllContents(
  options: Omit<Parameters<typeof openContents>[0], 'bounds' | 'folderEnding'>,
): Contents {
  const contents = openContents(options);
  const files = openContents({ ...options, bounds: fileBounds, folderEnding: '.f' });
  return {
    ...contents,
    file: (at, source, fileName) => files.file(at, source, fileName),
    read: (at, offset, limit) => contents.read(at, offset, limit) ?? files.read(at, offset, limit),
  };
}

export type ContentReader = (at: ContentName, offset: number, limit: number) => Piece | undefined;

/** `bring`: loads content that was never kept here, or was dropped, from the files of the agent. */
export const contentReader =
  (contents: Contents, bring: (sessionId: string, uuid: string) => void): ContentReader =>
  (at, offset, limit) => {
    const found = contents.read(at, offset, limit);
    if (found) return found;
    bring(at.sessionId, at.uuid);
    return contents.read(at, offset, limit);
  };

export function answerContent(
  read: ContentReader | undefined,
  { request_id: requestId, session_id: sessionId, uuid, name, offset, limit }: ToDaemon<'content_request'>,
): FromDaemon<'content_response'> {
  const reply = { type: 'content_response', request_id: requestId, session_id: sessionId } as const;
  let piece: Piece | undefined;
  try {
    piece = read?.({ sessionId, uuid, name }, offset, limit);
  } catch {
    // The files of an agent can be unreadable in any way.
  }
  if (!piece) return { ...reply, code: 'CONTENT_NOT_FOUND', error: 'this device no longer has this content' };
  const { mime, size, cut, bytes } = piece;
  const named =
    mime === anyBytes ? read?.({ sessionId, uuid, name: nameOfFile(name) }, 0, limits.idCharacters) : undefined;
  const more = { ...(cut ? { cut } : {}), ...(named ? { name: named.bytes.toString('utf8') } : {}) };
  return { ...reply, mime, size, ...more, data: bytes.toString('base64') };
}
