/** Small images that are what they say. */
const dataUrl = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`;
const begins = {
  png: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  jpeg: Buffer.from('\xff\xd8\xff\xe0', 'latin1'),
  gif: Buffer.from('GIF89a', 'latin1'),
  webp: Buffer.from('RIFF\x10\0\0\0WEBP', 'latin1'),
};
export type ImageType = keyof typeof begins;
export const imageTypes = Object.keys(begins) as ImageType[];

/** An image of a type: its first bytes, and as many more as are asked for. */
export function image(type: ImageType = 'png', { bytes = 64, says = type } = {}): string {
  return dataUrl(says, Buffer.concat([begins[type], Buffer.alloc(Math.max(0, bytes - begins[type].length), 7)]));
}
