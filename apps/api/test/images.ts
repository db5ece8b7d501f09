/** Small images whose bytes match their type. */
const dataUrl = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`;
const begins = {
  png: Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
  jpeg: Buffer.from('\xff\xd8\xff\xda\0\x02', 'latin1'),
  gif: Buffer.from('GIF89a', 'latin1'),
  webp: Buffer.from('RIFF\x10\0\0\0WEBP', 'latin1'),
};
const ends = { png: 'IEND\xaeB`\x82', jpeg: '\xff\xd9', gif: '', webp: '' };
export type ImageType = keyof typeof begins;
export const imageTypes = Object.keys(begins) as ImageType[];

/** Returns an image of a type and size. */
export function image(type: ImageType = 'png', { bytes = 64, says = type } = {}): string {
  const end = Buffer.from(ends[type], 'latin1');
  const middle = Buffer.alloc(Math.max(0, bytes - begins[type].length - end.length), 7);
  return dataUrl(says, Buffer.concat([begins[type], middle, end]));
}
