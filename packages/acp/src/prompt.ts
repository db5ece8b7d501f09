/** Turns a client's prompt into a message: its text, and its images as data URLs. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { type DeskChoice, deskChoices } from '@relay/protocol';
import { invalid } from './errors.ts';
import { imageTypes } from './images.ts';
import type { Paths } from './paths.ts';

export interface Instruction {
  content: string;
  images?: string[];
  /** Embedded files. */
  blobs?: { name: string; mime: string; bytes: Uint8Array }[];
  /** The choice for a session that another program has open (rules, 24.4). */
  desk?: DeskChoice;
}

/** The member of `_meta` of a prompt with that choice. */
const deskMember = 'relay/desk';

/** @throws RequestError -32602 for a choice that does not exist */
export function deskChoiceOf(meta: Readonly<Record<string, unknown>> | null | undefined): Pick<Instruction, 'desk'> {
  const given = meta?.[deskMember] ?? undefined;
  if (given === undefined) return {};
  const desk = deskChoices.find((choice) => choice === given);
  if (desk === undefined) throw invalid(`"${deskMember}" is one of: ${deskChoices.join(', ')}.`);
  return { desk };
}

const imageAlone = 'See the attached image.';
const fileAlone = 'See the attached file.';

/**
 * `takesFiles`: embedded files and sounds go to the device as files; otherwise files become their paths.
 * @throws RequestError -32602 for audio, and for an image type that agents do not accept
 */
export function instructionOf(prompt: readonly ContentBlock[], paths: Paths, takesFiles = false): Instruction {
  let content = '';
  const images: string[] = [];
  const blobs: NonNullable<Instruction['blobs']> = [];
  let isAfterLink = false;
  for (const block of prompt) {
    if (block.type === 'image') {
      if (!imageTypes.has(block.mimeType)) throw invalid(`An image of type ${block.mimeType} cannot be sent: use PNG.`);
      images.push(`data:${block.mimeType};base64,${block.data}`);
      continue;
    }
    const blob = takesFiles ? blobOf(block) : undefined;
    if (blob) {
      blobs.push(blob);
      continue;
    }
    if (block.type === 'audio') throw invalid('Sound cannot be sent: this agent takes text and images.');
    const isLink = block.type !== 'text';
    const text = block.type === 'text' ? block.text : linkOf(block, paths);
    content += isLink || isAfterLink ? gap(content, text) : content === '' || text === '' ? '' : '\n';
    content += text;
    isAfterLink = isLink;
  }
  if (content.trim() === '' && images.length > 0) content = imageAlone;
  if (content.trim() === '' && blobs.length > 0) content = fileAlone;
  return { content, ...(images.length > 0 ? { images } : {}), ...(blobs.length > 0 ? { blobs } : {}) };
}

/** The file that a block embeds; undefined for other blocks. */
function blobOf(block: ContentBlock) {
  if (block.type === 'audio') {
    const [, ending = 'bin'] = /^audio\/([a-z0-9]{1,10})/.exec(block.mimeType) ?? [];
    return { name: `audio.${ending}`, mime: block.mimeType, bytes: Buffer.from(block.data, 'base64') };
  }
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined;
  const { uri, blob, mimeType } = block.resource;
  const last = uri.split(/[?#]/)[0]!.split('/').at(-1)!;
  return { name: decodedName(last) || 'file', mime: mimeType ?? '', bytes: Buffer.from(blob, 'base64') };
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Editors split a sentence at mentioned files. */
const gap = (before: string, after: string) =>
  before === '' || after === '' || /\s$/.test(before) || /^[\s.,;:!?)\]]/.test(after) ? '' : ' ';

function linkOf(block: ContentBlock & { type: 'resource_link' | 'resource' }, paths: Paths): string {
  if (block.type === 'resource_link') return addressOf(block.uri, paths);
  const { resource } = block;
  const address = addressOf(resource.uri, paths);
  return 'text' in resource ? `${address}\n\`\`\`\n${resource.text}\n\`\`\`\n` : address;
}

/** Returns the path of a file on the device; other addresses stay unchanged. */
function addressOf(uri: string, paths: Paths): string {
  if (!uri.startsWith('file://')) return paths.toRemote(uri);
  try {
    const { pathname, hash } = new URL(uri);
    const path = decodeURIComponent(pathname).replace(/^\/([A-Za-z]:)/, '$1');
    return `${paths.toRemote(path)}${hash}`;
  } catch {
    return uri;
  }
}
