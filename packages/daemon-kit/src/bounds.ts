/** Text cut to a number of UTF-8 bytes, never in the middle of a character. */
import { limits } from '@relay/protocol';

/** The first bytes of a text. */
export { cutText as keepHead } from '@relay/protocol';

/** Maximum bytes per field. A result and a message can be as large as the relay accepts from an app. */
export const fieldBytes = {
  message: limits.messageBytes,
  error: 16 * 1024,
  output: 64 * 1024,
  progress: 1024,
  lastMessage: limits.lastMessageBytes,
} as const;

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** The bytes of an entry of a list in JSON, with the comma. */
export const entryBytes = (entry: object): number => Buffer.byteLength(JSON.stringify(entry), 'utf8') + 1;

/** The last `maxBytes` bytes. */
export function keepTail(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  return tailOf(Buffer.from(text, 'utf8'), maxBytes);
}

/** The last `maxBytes` bytes of a buffer as text. */
export function tailOf(bytes: Buffer, maxBytes: number): string {
  let start = Math.max(0, bytes.length - maxBytes);
  if (start > 0) while (start < bytes.length && isContinuation(bytes[start])) start++;
  return bytes.toString('utf8', start);
}

/** Returns the first line that is not blank, cut at `maxCharacters`; empty if all are blank. */
export function firstLine(text: string, maxCharacters: number): string {
  const line = text.split(/\r?\n/).find((candidate) => candidate.trim() !== '') ?? '';
  return [...line.trim().slice(0, maxCharacters * 2)].slice(0, maxCharacters).join('');
}
