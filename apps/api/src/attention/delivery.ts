/** A user frame of the backplane, ready for sockets: text is forwarded, the offset is put in without parsing, once for all sockets. */
import type { UserFrame } from '@relay/backplane';
import { type UserFrameKind, decodeUserFrame } from '@relay/protocol';

export interface Delivery {
  kind: UserFrameKind;
  text: string;
  /** The same with the offset, for clients that asked for offsets. */
  textWithOffset(): string;
}

/** Returns a function that prepares frames; the same frame object, heard by several sockets, is prepared once. */
export function createDeliveries(): (frame: UserFrame) => Delivery | undefined {
  const prepared = new WeakMap<UserFrame, Delivery>();
  return (frame) => {
    const known = prepared.get(frame);
    if (known) return known;
    const decoded = decodeUserFrame(frame.body);
    if (!decoded) return undefined;
    const { kind, text } = decoded;
    let tagged: string | undefined;
    const delivery = {
      kind,
      text,
      textWithOffset: () => (tagged ??= `{"offset":${JSON.stringify(frame.offset)},${text.slice(1)}`),
    };
    prepared.set(frame, delivery);
    return delivery;
  };
}
