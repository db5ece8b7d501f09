/** `--image`: image files of a message, read and checked before the message is sent. */
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { limits } from '@relay/protocol';
import { reasonOf, systemCode } from '@relay/machine';
import { usage } from '../failure.ts';
import { oneLine } from '../show/text.ts';

export interface ImageOptions {
  image?: readonly string[];
}

/** Detects the type from the first bytes; file names are unreliable. */
const types: readonly [type: string, begins: RegExp][] = [
  ['png', /^\x89PNG\r\n\x1a\n/],
  ['jpeg', /^\xff\xd8\xff/],
  ['gif', /^GIF8/],
  ['webp', /^RIFF[^]{4}WEBP/],
];

const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

/** Returns the field of the request; an empty object if no images are given. @throws Failure BAD_USAGE */
export async function imagesOf({ image: files = [] }: ImageOptions): Promise<{ images?: string[] }> {
  if (files.length === 0) return {};
  if (files.length > limits.images) throw usage(`A message takes at most ${limits.images} images.`);
  const images: string[] = [];
  let total = 0;
  for (const file of files) {
    const bytes = await read(file);
    total += bytes.length;
    const type = types.find(([, begins]) => begins.test(bytes.toString('latin1', 0, 16)))?.[0];
    if (type === undefined) throw usage(`${named(file)} is not a PNG, JPEG, GIF or WebP image.`);
    images.push(`data:image/${type};base64,${bytes.toString('base64')}`);
  }
  if (total > limits.imagesBytes) throw usage(`The images are larger than ${mebibytes(limits.imagesBytes)} in total.`);
  return { images };
}

const named = (file: string) => `"${oneLine(basename(file))}"`;

/** Reads at most one byte more than the limit, even from an endless file. */
async function read(file: string): Promise<Buffer> {
  const bytes = await readUpTo(file, limits.imageBytes + 1).catch((error: unknown) => {
    const why = systemCode(error) === 'ENOENT' ? 'there is no such file' : reasonOf(error);
    throw usage(`${named(file)} cannot be read: ${why}.`);
  });
  if (bytes.length > limits.imageBytes) throw usage(`${named(file)} is larger than ${mebibytes(limits.imageBytes)}.`);
  return bytes;
}

async function readUpTo(file: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const buffer = Buffer.alloc(maxBytes);
    let size = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, size, maxBytes - size);
      size += bytesRead;
      if (bytesRead === 0 || size === maxBytes) return buffer.subarray(0, size);
    }
  } finally {
    await handle.close();
  }
}
