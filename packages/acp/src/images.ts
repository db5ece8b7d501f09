/** Fetches a picture of the agent from its daemon; an item only names it. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { RelayError } from '@relay/client';
import { type Item, transcriptLimits } from '@relay/protocol';
import type { Relay } from './relay.ts';

/** Image types that agents accept and clients show. */
export const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Returns undefined if the picture is not kept, too large, of another type, or cannot be fetched now. */
export async function pictureOf(
  client: Pick<Relay, 'call'>,
  sessionId: string,
  item: Item,
): Promise<ContentBlock | undefined> {
  const { data: name, mime } = item.part;
  if (typeof name !== 'string' || name === '' || typeof mime !== 'string' || !imageTypes.has(mime)) return undefined;
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const params = { id: sessionId, uuid: item.uuid, name };
      const piece: { data: string; next?: number } = await client.call('readContent', { params, query: { offset } });
      pieces.push(Buffer.from(piece.data, 'base64'));
      size += pieces.at(-1)!.length;
      if (size > transcriptLimits.keptImageBytes) return undefined;
      // Stops if the daemon does not advance.
      offset = piece.next !== undefined && piece.next > offset ? piece.next : undefined;
    }
  } catch (error) {
    if (error instanceof RelayError) return undefined;
    throw error;
  }
  return { type: 'image', mimeType: mime, data: Buffer.concat(pieces).toString('base64') };
}
