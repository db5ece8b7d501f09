/** Names of files that come from elsewhere, made safe for any system (rules, 27.4). */

const maxBytes = 120;
const maxEnding = 20;
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** A name without a folder, controls or marks of direction; never empty, at most 120 bytes, with its ending kept. */
export function safeFileName(given: string): string {
  const plain = given
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/^[. ]+|[. ]+$/g, '');
  const name = plain === '' ? 'file' : reserved.test(plain) ? `_${plain}` : plain;
  const [stem, ending] = partsOf(name);
  const head = headOf(stem, maxBytes - Buffer.byteLength(ending));
  return ending === '' ? head.replace(/[. ]+$/, '') : head + ending;
}

/** The next name to try after `name`: the same with a number before its ending. */
export function numbered(name: string, number: number): string {
  const [stem, ending] = partsOf(name);
  const tail = `-${number}${ending}`;
  return number === 1 ? name : headOf(stem, maxBytes - Buffer.byteLength(tail)) + tail;
}

function partsOf(name: string): [string, string] {
  const dot = name.lastIndexOf('.');
  const isEnding = dot > 0 && Buffer.byteLength(name.slice(dot)) <= maxEnding;
  return isEnding ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
}

/** The first characters that fit into so many bytes. */
function headOf(text: string, bytes: number): string {
  let left = bytes;
  let head = '';
  for (const character of text) {
    left -= Buffer.byteLength(character);
    if (left < 0) break;
    head += character;
  }
  return head;
}
