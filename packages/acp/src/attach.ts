/** The attachments of a prompt: its embedded files go to the device before the message. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { sendFile } from '@relay/client';
import type { Item } from '@relay/protocol';
import type { Host } from './host.ts';
import { pictureOf } from './images.ts';
import type { Instruction } from './prompt.ts';
import { newUlid } from './ulid.ts';

/** Returns the fields of the message. @throws RelayError of the client, if the device refuses a file */
export async function attach(
  { client, device, signal }: Pick<Host, 'client' | 'device' | 'signal'>,
  { images, blobs = [] }: Instruction,
): Promise<{ images?: string[]; files?: string[] }> {
  const files: string[] = [];
  for (const { name, mime, bytes } of blobs) {
    const id = newUlid();
    const read = (offset: number, length: number) => Promise.resolve(bytes.subarray(offset, offset + length));
    await sendFile(client, device.deviceId, { id, name, mime, size: bytes.length, read }, { signal });
    files.push(id);
  }
  return { ...(images ? { images } : {}), ...(files.length > 0 ? { files } : {}) };
}

/** A file of the agent as a link to the relay, which asks for a credential; undefined if the device does not keep it. */
function fileLink(url: string, sessionId: string, { uuid, part }: Item): ContentBlock | undefined {
  const { data, name, bytes, mime } = part;
  if (typeof data !== 'string' || data === '' || typeof name !== 'string') return undefined;
  const [session, item, content] = [sessionId, uuid, data].map(encodeURIComponent);
  return {
    type: 'resource_link',
    uri: `${url}/api/sessions/${session}/items/${item}/content/${content}?download=1`,
    name,
    ...(typeof mime === 'string' && mime !== '' ? { mimeType: mime } : {}),
    ...(typeof bytes === 'number' ? { size: bytes } : {}),
  };
}

/** A picture or a file of the agent as a block; an empty object hides it. Undefined: the item is shown as text. */
export async function shownAs(
  { client, isReadOnly }: Pick<Host, 'client' | 'isReadOnly'>,
  sessionId: string,
  item: Item,
): Promise<{ content?: ContentBlock } | undefined> {
  if (item.part.kind === 'image') {
    const content = await pictureOf(client, sessionId, item).catch(() => undefined);
    return content && { content };
  }
  if (item.part.kind !== 'file') return undefined;
  const content = isReadOnly ? undefined : fileLink(client.url, sessionId, item);
  return content ? { content } : {};
}
