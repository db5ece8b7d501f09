/** Contents that an item names and does not hold: an image, the whole output of a tool. Fetched from the daemon in pieces, and kept there alone. */
import { type Static, count, flag, id, line, maybe, opaque, record, sessionId } from '../schema.ts';
import { transcriptLimits } from '../transcript/index.ts';

export const cut = flag('The output went on behind them, and was not kept');

/** Members of a piece, the same on every plane. */
export const piece = {
  mime: line('Media type; `text/plain` of an output, in UTF-8'),
  size: count('Bytes of the whole content, as far as it is kept'),
  cut: maybe(cut),
  data: opaque('The piece in base64; empty behind the end', Math.ceil(transcriptLimits.pieceBytes / 3) * 4),
};

export const ItemContent = record('ItemContent', 'A piece of what an item names.', {
  sessionId: sessionId('Canonical session id'),
  uuid: id('The item'),
  name: id('The name in its part'),
  offset: count('First byte of the piece'),
  ...piece,
  next: maybe(count('First byte of the next piece; absent: this was the last')),
});

export type ItemContent = Static<typeof ItemContent>;
