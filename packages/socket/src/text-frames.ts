/** Short text frames as a server writes them (RFC 6455, 5.2): the same text to one socket after another is encoded once. */

/** A longer text costs more to copy than its sockets save by sharing it; `ws` frames it. */
export const sharedCharacters = 2 ** 10;

const finalText = 0x81;
const shortBytes = 125;
const twoByteLength = 126;

/** Returns a function that frames texts of at most `sharedCharacters`. Its newest frame is remembered. */
export function createTextFrames(): (text: string) => Buffer {
  let newest: { text: string; frame: Buffer } | undefined;
  return (text) => {
    if (newest?.text !== text) newest = { text, frame: frameOf(text) };
    return newest.frame;
  };
}

function frameOf(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const isShort = bytes <= shortBytes;
  const headBytes = isShort ? 2 : 4;
  const frame = Buffer.allocUnsafe(headBytes + bytes);
  frame[0] = finalText;
  frame[1] = isShort ? bytes : twoByteLength;
  if (!isShort) frame.writeUInt16BE(bytes, 2);
  frame.write(text, headBytes);
  return frame;
}
