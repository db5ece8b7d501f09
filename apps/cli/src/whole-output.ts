/** Full outputs of tools, which the daemon stores and items only reference. */
import type { Item } from '@relay/protocol';
import { Failure } from '@relay/machine';
import type { Relay } from './relay.ts';
import { countOf, fieldsOf, textOf } from './show/shape.ts';

/** An output of 1 MiB is one piece; the limit stops a daemon that never finishes. */
const mostPieces = 4;

/**
 * Returns items with their full output. An item whose output cannot be fetched stays unchanged; after a failure that affects more than one
 * output, no further output is requested.
 */
export function wholeOutputs(relay: Relay, sessionId: string): (item: Item) => Promise<Item> {
  let isOver = false;
  const read = async (uuid: string, name: string): Promise<string> => {
    const pieces: Buffer[] = [];
    let next: number | undefined = 0;
    while (next !== undefined && pieces.length < mostPieces) {
      const offset: number = next;
      const params = { id: sessionId, uuid, name };
      const piece = await relay.call('readContent', { params, query: { offset } });
      pieces.push(Buffer.from(textOf(piece.data), 'base64'));
      next = piece.next !== undefined && piece.next > offset ? piece.next : undefined;
    }
    return Buffer.concat(pieces).toString('utf8');
  };
  return async (item) => {
    const part = fieldsOf(item.part);
    const name = textOf(part.data);
    if (isOver || part.kind !== 'tool' || name === '' || (countOf(part.left) ?? 0) === 0) return item;
    try {
      const output = await read(item.uuid, name);
      return { ...item, part: { ...item.part, output, left: 0 } };
    } catch (error) {
      isOver = !(error instanceof Failure && error.code === 'CONTENT_NOT_FOUND');
      return item;
    }
  };
}
