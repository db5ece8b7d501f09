/** Content blocks of ACP that carry or name a file, and the files in them. */
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileLimits } from '@relay/protocol';
import { type Contents, type NamedFile, isImage } from './contents.ts';
import { safeFileName } from './file-names.ts';
import { type Fields, recordOf, wordsOf } from './transcript/content.ts';

/** The bytes of a file that an agent offers. Undefined when it must not leave the machine, or is not a complete file. */
export type ReadFile = (path: string) => Buffer | undefined;

export const fileContentName = 'file';
/** Not part of ACP: the agent put a file into the folder for outgoing files. */
export const offeredUpdate = 'file_offered';

/** Whether a content block of ACP carries or names a file, beside text and the images that are shown as such. */
export function isFileBlock(block: Fields): boolean {
  switch (block.type) {
    case 'resource_link':
      return wordsOf(block.uri).startsWith('file:');
    case 'resource':
      return wordsOf(recordOf(block.resource).blob) !== '';
    case 'audio':
      return true;
    case 'image':
      return !isImage(wordsOf(block.mimeType), wordsOf(block.data));
    default:
      return false;
  }
}

/** Names the file of a block, to offer it once. */
export const fileKey = (block: Fields): string =>
  wordsOf(block.uri) || wordsOf(recordOf(block.resource).uri) || wordsOf(block.data).slice(0, 256);

/** Keeps the file of a content block beside its session. */
export const keepFile =
  (contents: Contents, sessionId: string, read: ReadFile) =>
  (uuid: string, block: Fields): NamedFile | undefined => {
    const found = fileIn(block, read);
    if (!found || found.bytes.length > fileLimits.fileBytes) return undefined;
    const { name, mime, bytes } = found;
    if (!contents.file({ sessionId, uuid, name: fileContentName }, bytes, name)) return undefined;
    return { name, mime, bytes: bytes.length, data: fileContentName };
  };

function fileIn(block: Fields, read: ReadFile): { name: string; mime: string; bytes: Buffer } | undefined {
  const mime = (wordsOf(block.mimeType) || wordsOf(recordOf(block.resource).mimeType)).slice(0, 255);
  if (block.type === 'resource_link') {
    const path = pathIn(wordsOf(block.uri));
    const bytes = path === undefined ? undefined : read(path);
    return path === undefined || !bytes ? undefined : { name: safeFileName(basename(path)), mime, bytes };
  }
  const { uri, blob } = recordOf(block.resource);
  const bytes = Buffer.from(wordsOf(block.data) || wordsOf(blob), 'base64');
  const [, ending = 'bin'] = /^[a-z]+\/([a-z0-9]{1,10})/.exec(mime) ?? [];
  const named = wordsOf(uri).split(/[?#]/)[0]!.split('/').at(-1)!;
  const name = safeFileName(named === '' ? `${wordsOf(block.type)}.${ending}` : named);
  return bytes.length === 0 ? undefined : { name, mime, bytes };
}

function pathIn(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
