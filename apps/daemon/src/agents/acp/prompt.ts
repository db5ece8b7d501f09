/** The message of the user as the content of an ACP prompt: the text, then one block per image and per file. */
import { pathToFileURL } from 'node:url';
import type { GivenFile } from '@relay/daemon-kit';
import { type AgentAbilities, AgentFailure } from './process.ts';

type Block =
  | { type: 'text'; text: string }
  | { type: 'image'; mimeType: string; data: string }
  | { type: 'resource_link'; uri: string; name: string; mimeType?: string; size: number };

/** The message with its attachments. */
interface PromptParts {
  message: string;
  images?: readonly string[] | undefined;
  files?: readonly GivenFile[] | undefined;
}

const head = /^data:(image\/[a-z0-9.+-]+);base64,/i;

/** @throws AgentFailure when the agent accepts no images, or an image is not a data URL */
export function promptOf(
  { message, images = [], files = [] }: PromptParts,
  can: Pick<AgentAbilities, 'images'>,
): Block[] {
  if (images.length > 0 && !can.images) {
    throw new AgentFailure('This agent does not accept images. Send the message without them.');
  }
  const blocks = images.map((image): Block => {
    const [prefix, mimeType] = head.exec(image.slice(0, 100)) ?? [];
    if (prefix === undefined || mimeType === undefined) throw new AgentFailure('An image is not a base64 data URL.');
    return { type: 'image', mimeType, data: image.slice(prefix.length) };
  });
  // ACP asks every agent to take text and links.
  const links = files.map(({ path, name, mime, bytes }): Block => ({
    type: 'resource_link',
    uri: pathToFileURL(path).href,
    name,
    ...(mime === '' ? {} : { mimeType: mime }),
    size: bytes,
  }));
  return [{ type: 'text', text: message }, ...blocks, ...links];
}
