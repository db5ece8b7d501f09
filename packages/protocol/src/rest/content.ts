/** Contents that an item names and does not hold: an image, the whole output of a tool. Fetched from the daemon in pieces, and kept there alone. */
import { count, flag, line, maybe, opaque } from '../schema.ts';
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
