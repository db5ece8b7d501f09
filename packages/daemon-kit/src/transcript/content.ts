/**
 * Content blocks of ACP as text. Text is kept as it is; a link, a picture, a sound or a file gets a line of its own, as a link or
 * as a placeholder that names its kind. A block of an unknown kind gives no text.
 */

/** Values from the wire are read by shape: agents differ, and one odd field must not cost the others. */
export type Fields = Readonly<Record<string, unknown>>;

export const recordOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const listOf = (value: unknown): Fields[] =>
  Array.isArray(value)
    ? (value as unknown[]).filter((item): item is Fields => typeof item === 'object' && item !== null)
    : [];

/** Empty for anything but a string. */
export const wordsOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Text of a content block, of a list of them, or a plain text. */
export const textOf = (content: unknown): string => pieceOf('', content);

/** The text that a content block, or a list of them, adds to `before`. */
export function pieceOf(before: string, content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    let text = '';
    for (const block of content) text += pieceOf(text === '' ? before : text, block);
    return text;
  }
  const block = recordOf(content);
  const words = block.type === 'resource' ? recordOf(block.resource).text : block.text;
  if (typeof words === 'string') return words;
  const line = lineOf(block);
  if (line === '') return '';
  return `${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`;
}

function lineOf(block: Fields): string {
  switch (block.type) {
    case 'resource_link': {
      const [uri, name] = [wordsOf(block.uri), wordsOf(block.title) || wordsOf(block.name)];
      return name === '' || uri.endsWith(name) ? uri : `${name}: ${uri}`;
    }
    case 'image':
    case 'audio':
      return placeholder(block.type, block, wordsOf(block.data));
    case 'resource': {
      const resource = recordOf(block.resource);
      return placeholder('file', resource, wordsOf(resource.blob));
    }
    default:
      return '';
  }
}

function placeholder(what: string, { uri, mimeType }: Fields, base64: string): string {
  const size = base64 === '' ? '' : sizeOf(Math.floor((base64.length * 3) / 4));
  const details = [wordsOf(uri), wordsOf(mimeType), size].filter((text) => text !== '');
  return details.length === 0 ? `[${what}]` : `[${what}: ${details.join(', ')}]`;
}

const sizeOf = (bytes: number) => (bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KiB`);
