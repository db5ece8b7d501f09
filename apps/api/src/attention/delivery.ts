/** A user frame of the backplane, ready for sockets: text is forwarded, the offset is put in without parsing, once for all sockets. */
import type { UserFrame } from '@relay/backplane';
import { type UserFrameKind, decodeUserFrame } from '@relay/protocol';

export interface Delivery {
  kind: UserFrameKind;
  text: string;
  /** The same with the offset, for clients that asked for offsets. */
  textWithOffset(): string;
}

/**
 * Returns a function that prepares frames. The sockets of a user hear the same frame object one after another: it is prepared once,
 * and remembered until the next frame comes.
 */
export function createDeliveries(): (frame: UserFrame) => Delivery | undefined {
  let newest: UserFrame | undefined;
  let prepared: Delivery | undefined;
  return (frame) => {
    if (frame === newest) return prepared;
    const decoded = decodeUserFrame(frame.body);
    newest = frame;
    prepared = decoded && new PreparedFrame(decoded.kind, decoded.text, frame.offset);
    return prepared;
  };
}

class PreparedFrame implements Delivery {
  readonly kind: UserFrameKind;
  readonly text: string;
  readonly #offset: string | undefined;
  #tagged: string | undefined;

  constructor(kind: UserFrameKind, text: string, offset: string | undefined) {
    this.kind = kind;
    this.text = text;
    this.#offset = offset;
  }

  textWithOffset(): string {
    return (this.#tagged ??= `{"offset":${JSON.stringify(this.#offset)},${this.text.slice(1)}`);
  }
}
