/** Contents that an item names and does not hold: an image, the whole output of a tool. Fetched from the daemon in pieces, and kept there alone. */
import { type Static, count, flag, id, line, maybe, opaque, record, sessionId } from '../schema.ts';
import { transcriptLimits } from '../transcript/index.ts';

export const cut = flag('The output was longer; the daemon did not keep the rest');

/** Members of a piece, the same on every plane. */
export const piece = {
  mime: line('Media type; `text/plain` in UTF-8 for an output'),
  size: count('Size of the stored content in bytes'),
  cut: maybe(cut),
  data: opaque(
    'The piece in base64; empty if `offset` is beyond the end',
    Math.ceil(transcriptLimits.pieceBytes / 3) * 4,
  ),
};

export const ItemContent = record('ItemContent', "A piece of an item's content.", {
  sessionId: sessionId('Canonical session id'),
  uuid: id('The item'),
  name: id('Name of the content in the part of the item'),
  offset: count('First byte of the piece'),
  ...piece,
  next: maybe(count('First byte of the next piece; absent: this was the last piece')),
});

export type ItemContent = Static<typeof ItemContent>;
