/**
 * Images that a message carries (`images`: data URLs). Checked before anything is accepted: count, type, bytes, sizes. They are
 * kept with the instruction of the task, in no log, and no app sees them again.
 */
import { createHash } from 'node:crypto';
import { type Db, daemonOf, waitingImageBytes } from '@relay/database';
import { capabilities, imageSupport, limits, RelayError } from '@relay/protocol';

const head = /^data:image\/(png|jpeg|gif|webp);base64,/;
const notBase64 = /[^A-Za-z0-9+/]/;

/** The signature of a file type: bytes, and their offset. */
const magic: Readonly<Record<string, readonly (readonly [at: number, bytes: string])[]>> = {
  png: [[0, '\x89PNG\r\n\x1a\n']],
  jpeg: [[0, '\xff\xd8\xff']],
  gif: [[0, 'GIF8']],
  webp: [
    [0, 'RIFF'],
    [8, 'WEBP'],
  ],
};
const magicCharacters = 32;
/** Some programs write a little after the last chunk of a PNG. */
const tailCharacters = 64 * 1024;

const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

/** Bytes that one image decodes to. @throws RelayError INVALID_IMAGE, PAYLOAD_TOO_LARGE */
function sizeOf(image: string, name: string): number {
  const invalid = (why: string) => new RelayError('INVALID_IMAGE', `${name} ${why}`);
  const [prefix, type] = head.exec(image.slice(0, 64)) ?? [];
  if (prefix === undefined || type === undefined)
    throw invalid('is no data URL of a png, jpeg, gif or webp: "data:image/png;base64,…".');
  const data = image.slice(prefix.length);
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  const bytes = (data.length / 4) * 3 - padding;
  if (bytes > limits.imageBytes)
    throw new RelayError('PAYLOAD_TOO_LARGE', `${name} exceeds ${mebibytes(limits.imageBytes)}.`);
  if (data.length === 0 || data.length % 4 !== 0 || notBase64.test(data.slice(0, data.length - padding)))
    throw invalid('is not in base64 (RFC 4648 §4, with padding).');
  const first = Buffer.from(data.slice(0, magicCharacters), 'base64').toString('latin1');
  if (!magic[type]?.every(([at, expected]) => first.startsWith(expected, at)))
    throw invalid(`is declared as image/${type}, but its bytes are not.`);
  if (!isWhole(type, data, first)) throw invalid('is cut off: its end is missing.');
  return bytes;
}

/** An agent that received half a picture could fail at every later turn of the session. */
function isWhole(type: string, data: string, first: string): boolean {
  if (type === 'png') {
    const tail = Buffer.from(data.slice(-tailCharacters), 'base64').toString('latin1');
    return first.startsWith('IHDR', 12) && tail.includes('IEND');
  }
  return type !== 'jpeg' || hasJpegEnd(Buffer.from(data, 'base64'));
}

/** True if the picture itself is complete (EOI after its SOS): a thumbnail before it has its own EOI. */
function hasJpegEnd(bytes: Buffer): boolean {
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== 0xda) at += 2 + bytes.readUInt16BE(at + 2);
  return bytes.indexOf('\xff\xd9', at, 'latin1') >= 0;
}

/**
 * Returns the images in stored form, and the digest for an Idempotency-Key; undefined without images.
 * @throws RelayError INVALID_IMAGE, PAYLOAD_TOO_LARGE, each with the number of the image
 */
export function checkImages(images: readonly string[] | undefined): { text: string; digest: string } | undefined {
  if (images === undefined || images.length === 0) return undefined;
  let total = 0;
  for (const [index, image] of images.entries()) total += sizeOf(image, `Image ${index + 1} of ${images.length}`);
  if (total > limits.imagesBytes)
    throw new RelayError('PAYLOAD_TOO_LARGE', `The images together exceed ${mebibytes(limits.imagesBytes)}.`);
  const text = JSON.stringify(images);
  return { text, digest: createHash('sha256').update(text).digest('base64url') };
}

/** The files of a message, as a part of the request for an Idempotency-Key. */
export const filesIn = (files: readonly string[] = []): string[] =>
  files.length === 0 ? [] : [`files ${files.join(' ')}`];

/** Checks that the device takes files, if there are any. Inside `withDevice`. @throws RelayError NOT_SUPPORTED_BY_DEVICE */
export async function requireFiles(tx: Db, deviceId: string, files: readonly string[] | undefined): Promise<void> {
  if (files === undefined || files.length === 0) return;
  if (!(await daemonOf(tx, deviceId)).capabilities.includes(capabilities.files))
    throw new RelayError(
      'NOT_SUPPORTED_BY_DEVICE',
      'This device does not accept files. Send the message without them.',
    );
}

/**
 * Checks that the device can take images and has room. Returns the note for the response: `unconfirmed` if its daemon did not
 * declare them (rules, 10.7). Inside `withDevice`.
 * @throws RelayError NOT_SUPPORTED_BY_DEVICE, QUEUE_FULL
 */
export async function requireRoomForImages(
  tx: Db,
  deviceId: string,
  text: string,
  maxMibPerUser: number,
): Promise<{ images?: 'unconfirmed' }> {
  const support = imageSupport(await daemonOf(tx, deviceId));
  if (support === 'no')
    throw new RelayError(
      'NOT_SUPPORTED_BY_DEVICE',
      'This device does not accept images. Send the message without them.',
    );
  const waiting = await waitingImageBytes(tx, deviceId);
  if (waiting.device + text.length > limits.waitingImageBytes)
    throw new RelayError(
      'QUEUE_FULL',
      `${mebibytes(limits.waitingImageBytes)} of images already wait for this device. Wait until it is back, or cancel some messages.`,
    );
  if (waiting.owner + text.length > maxMibPerUser * 1024 * 1024)
    throw new RelayError(
      'QUEUE_FULL',
      `${maxMibPerUser} MiB of images already wait for your devices. Wait until they are back, or cancel some messages.`,
    );
  return support === 'unconfirmed' ? { images: support } : {};
}
